import ExampleSupport
import Glibc
import PeripheralKit
import PeripheralTesting
import Synchronization

@testable import file_drop

/// A file drop with a temporary directory, for a test.
struct DropFixture: Sendable {
    let directory: TemporaryDirectory
    let folder: DropFolder
    let drop: FileDropPeripheral
    let events: AsyncStream<UploadEvent>

    /// - Parameters:
    ///   - directory: The directory of another file drop that this one continues.
    ///   - isOpen: Whether centrals can upload without pairing.
    ///   - disk: The space for the files.
    init(in directory: TemporaryDirectory, isOpen: Bool = true, disk: TestDisk = TestDisk()) {
        self.directory = directory
        folder = DropFolder(directory.path) { disk.write($0, $1) }
        let (events, continuation) = AsyncStream.makeStream(of: UploadEvent.self)
        self.events = events
        drop = FileDropPeripheral(name: "Drop", folder: folder, maximumLength: 10_000_000, isOpen: isOpen) {
            continuation.yield($0)
        }
    }

    /// Runs a test with an open file drop, and removes its directory.
    static func run(
        disk: TestDisk = TestDisk(),
        _ body: @escaping @Sendable (DropFixture, VirtualCentral, PeripheralSession) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory(prefix: "file-drop-tests")
        defer { directory.remove() }
        let fixture = DropFixture(in: directory, disk: disk)
        try await fixture.drop.peripheral.test { central, session in
            try await body(fixture, central, session)
        }
    }

    func openChannel(of central: VirtualCentral) async throws -> any TestChannel {
        try await central.openChannel(psm: central.read(drop.listener.psm))
    }

    /// The content of a file; `nil` if it does not exist.
    func content(of name: String) throws -> [UInt8]? {
        guard let file = try PartialFile("\(directory.path)/\(name)", O_RDONLY, write: { _, _ in 0 }) else {
            return nil
        }
        var content: [UInt8] = []
        while case let bytes = try file.read(), !bytes.isEmpty { content += bytes }
        return content
    }

    /// Creates a file.
    func create(_ name: String, _ content: [UInt8]) throws {
        let path = "\(directory.path)/\(name)"
        try PartialFile(path, O_WRONLY | O_CREAT | O_TRUNC, write: { write($0, $1.baseAddress, $1.count) })?
            .append(content)
    }

    var names: [String] { SystemFiles.names(in: directory.path) }

    /// Waits until a file has a length.
    func untilReceived(_ length: Int) async {
        for await event in events {
            if case .progress(_, UInt64(length)) = event { return }
        }
    }

    /// Waits until an upload has ended early.
    func untilInterrupted() async {
        for await event in events { if case .interrupted = event { return } }
    }

    func firstFailure() async -> FileFailure? {
        for await event in events { if case .failed(let failure) = event { return failure } }
        return nil
    }
}

/// A disk with limited space.
final class TestDisk: Sendable {
    private let space: Mutex<Int>

    init(space: Int = .max) {
        self.space = Mutex(space)
    }

    func free(_ space: Int) { self.space.withLock { $0 = space } }

    func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        let count = space.withLock { space in
            let count = min(space, bytes.count)
            space -= count
            return count
        }
        guard count > 0 else {
            errno = ENOSPC
            return -1
        }
        return Glibc.write(descriptor, bytes.baseAddress, count)
    }
}

extension Uploader {
    /// A file with bytes that differ from place to place.
    init(_ name: String, length: Int, seed: Int = 0) {
        self.init(name: name, bytes: (0..<length).map { UInt8(truncatingIfNeeded: ($0 + seed) &* 31 >> 3) })
    }
}
