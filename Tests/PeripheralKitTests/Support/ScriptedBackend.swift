import Logging
import PeripheralKit
import Synchronization

/// A backend that does what a test says.
struct ScriptedBackend: PeripheralBackend {
    private let script: @Sendable (BackendPublication, any PeripheralHost) async throws -> Void

    init(_ script: @escaping @Sendable (BackendPublication, any PeripheralHost) async throws -> Void) {
        self.script = script
    }

    func serve(_ publication: BackendPublication, for host: any PeripheralHost) async throws {
        try await script(publication, host)
    }
}

/// A link that records what is submitted.
final class RecordingLink: BackendLink {
    private let updates = Mutex<[BackendUpdate]>([])
    /// What was demanded to be advertised.
    struct Demand: Equatable {
        var advertisements: [Advertisement]
        var restarted: Set<Int>
    }

    let demands = Mutex<[Demand]>([])
    /// Why the stack takes no demand.
    let refusal = Mutex<PeripheralError?>(nil)
    private let host = Mutex<(any PeripheralHost)?>(nil)
    private let (submitted, submit) = AsyncStream.makeStream(of: BackendUpdate.self)
    private let (givenUp, giveUps) = AsyncStream.makeStream(of: BackendUpdate.ID.self)
    private let stopped: AsyncStream<Never>
    private let stopping: AsyncStream<Never>.Continuation

    init() {
        (stopped, stopping) = AsyncStream.makeStream()
    }

    var sent: [BackendUpdate] { updates.withLock(\.self) }

    func submit(_ update: BackendUpdate) {
        updates.withLock { $0.append(update) }
        submit.yield(update)
        guard !update.awaitsConfirmation else { return }
        host.withLock(\.self)?.handle(.updateEnded(update.id, .completed))
    }

    /// Reports each update to the host as delivered, unless it awaits confirmation.
    func deliver(for host: any PeripheralHost) {
        self.host.withLock { $0 = host }
    }

    /// The next update that is submitted; for one reader.
    func next() async -> BackendUpdate? {
        for await update in submitted { return update }
        return nil
    }

    func giveUp(_ update: BackendUpdate.ID) {
        giveUps.yield(update)
    }

    /// The next update that is given up; for one reader.
    func nextGivenUp() async -> BackendUpdate.ID? {
        for await update in givenUp { return update }
        return nil
    }

    /// The number of calls that wait until updates are forwarded; `nil` if such calls return at once.
    let waitsForForwarding = Mutex<Int?>(nil)

    func untilUpdatesAreForwarded(for central: Central.ID) async {
        let count = waitsForForwarding.withLock { count in
            count = count.map { $0 + 1 }
            return count
        }
        if count != nil { await untilStopped() }
    }

    func disconnect(_ central: Central.ID) async throws {}

    /// Who is bonded.
    let bonds = Mutex<[Central]>([])

    func bondedCentrals() async throws -> [Central] { bonds.withLock(\.self) }

    func forget(_ central: Central.ID) async throws {}

    func advertise(_ advertisements: [Advertisement], restarting restarted: Set<Int>) async throws {
        if let refusal = refusal.withLock(\.self) { throw refusal }
        demands.withLock { $0.append(Demand(advertisements: advertisements, restarted: restarted)) }
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
