import Logging
import PeripheralKit
import Synchronization

/// A backend that does what a test says.
struct ScriptedBackend: PeripheralBackend {
    private let script: @Sendable (Publication, any PeripheralHost) async throws -> Void

    init(_ script: @escaping @Sendable (Publication, any PeripheralHost) async throws -> Void) {
        self.script = script
    }

    func serve(_ publication: Publication, for host: any PeripheralHost) async throws {
        try await script(publication, host)
    }
}

/// A link that records what is sent.
final class RecordingLink: BackendLink {
    private let updates = Mutex<[Update]>([])
    private let stopped: AsyncStream<Never>
    private let stopping: AsyncStream<Never>.Continuation

    init() {
        (stopped, stopping) = AsyncStream.makeStream()
    }

    var sent: [Update] { updates.withLock(\.self) }

    func send(_ update: Update) async throws {
        updates.withLock { $0.append(update) }
    }

    func stop() {
        stopping.finish()
    }

    /// Returns when the link was stopped, or the task is cancelled.
    func untilStopped() async {
        for await _ in stopped {}
    }
}

extension Logger {
    /// A logger that logs nothing.
    static var silent: Logger {
        Logger(label: "silent") { _ in SwiftLogNoOpLogHandler() }
    }
}
