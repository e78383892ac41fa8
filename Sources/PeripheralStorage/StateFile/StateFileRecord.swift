internal import PeripheralKit
internal import Synchronization

/// The record of a state file.
///
/// Its operations run in turn on a separate thread.
final class StateFileRecord: RestorationRecord {
    private let identifier: String
    /// `nil` after the record is closed.
    private let file: Mutex<StateFile?>
    private let thread: FileThread

    init(identifier: String, file: StateFile, thread: FileThread) {
        self.identifier = identifier
        self.file = Mutex(file)
        self.thread = thread
    }

    func load() async throws(RestorationError) -> RestorationState? {
        let file = try openFile()
        return try await thread.run { () throws(RestorationError) in try file.load() }
    }

    func save(_ restorationState: RestorationState) async throws(RestorationError) {
        let file = try openFile()
        try await thread.run { () throws(RestorationError) in try file.save(restorationState) }
    }

    func setAside() async throws(RestorationError) -> String? {
        let file = try openFile()
        return try await thread.run { () throws(RestorationError) in try file.setAside() }
    }

    func setAside(forVersion version: Int) async throws(RestorationError) -> String? {
        let file = try openFile()
        return try await thread.run { () throws(RestorationError) in try file.setAside(forVersion: version) }
    }

    func erase() async throws(RestorationError) {
        let file = try openFile()
        try await thread.run { () throws(RestorationError) in try file.erase() }
    }

    func close() async {
        let file = file.withLock { $0.take() }
        await thread.run { file?.unlock() }
    }

    private func openFile() throws(RestorationError) -> StateFile {
        guard let file = file.withLock({ $0 }) else { throw RestorationRules.closed(identifier) }
        return file
    }
}
