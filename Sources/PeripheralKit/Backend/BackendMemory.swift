private import Synchronization

/// What a backend keeps of a peripheral without a restoration identifier, for its next run in this process.
final class BackendMemory: Sendable {
    private let text = Mutex("")

    /// Hands over what is kept, to one run at a time: another one that runs at once begins with nothing.
    func take() -> String {
        text.withLock { text in
            defer { text = "" }
            return text
        }
    }

    /// Keeps the last text that the backend has reported in a run that has ended.
    func keep(_ new: String) {
        text.withLock { $0 = new }
    }
}
