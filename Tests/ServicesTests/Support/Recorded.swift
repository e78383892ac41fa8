import Synchronization

/// What a handler was given, in order.
final class Recorded<Value: Sendable>: Sendable {
    private let state = Mutex<[Value]>([])

    var values: [Value] { state.withLock(\.self) }

    func append(_ value: Value) {
        state.withLock { $0.append(value) }
    }
}
