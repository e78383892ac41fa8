private import Synchronization

/// Stores a backend's text for its next run in this process.
///
/// Peripherals without a restoration identifier use this memory.
final class BackendMemory: Sendable {
    private let text = Mutex("")

    /// Returns the text and clears it, so that a concurrent run starts without a text.
    func take() -> String {
        text.withLock { text in
            defer { text = "" }
            return text
        }
    }

    /// Stores the last text that the backend has reported in a run.
    func keep(_ new: String) {
        text.withLock { $0 = new }
    }
}
