import Synchronization

/// What stands for the lamp.
final class Lamp: Sendable {
    /// Whether it is on, each time that this has changed.
    let changes: AsyncStream<Bool>

    private let state = Mutex(false)
    private let changed: AsyncStream<Bool>.Continuation

    init() {
        (changes, changed) = AsyncStream.makeStream()
    }

    var isOn: Bool { state.withLock(\.self) }

    func set(_ isOn: Bool) {
        state.withLock { $0 = isOn }
        changed.yield(isOn)
    }
}
