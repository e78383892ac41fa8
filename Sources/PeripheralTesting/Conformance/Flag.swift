private import Synchronization

/// Something that holds or does not, for whoever asks.
final class Flag: Sendable {
    private let state: Mutex<Bool>

    init(_ isSet: Bool = false) {
        state = Mutex(isSet)
    }

    var isSet: Bool { state.withLock { $0 } }

    func set(_ isSet: Bool) {
        state.withLock { $0 = isSet }
    }
}
