private import Synchronization

/// A Boolean value that several tasks share.
package final class Flag: Sendable {
    private let state: Mutex<Bool>

    package init(_ isSet: Bool = false) {
        state = Mutex(isSet)
    }

    package var isSet: Bool { state.withLock { $0 } }

    package func set(_ isSet: Bool) {
        state.withLock { $0 = isSet }
    }
}
