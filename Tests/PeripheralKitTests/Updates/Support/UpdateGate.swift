import PeripheralKit
import Synchronization

/// Where updates wait while it is closed, as they do on their way to a Bluetooth stack, or inside one while a
/// link carries nothing.
final class UpdateGate: Sendable {
    private struct State {
        var isClosed = false
        var updates: [(update: BackendUpdate, link: any BackendLink)] = []
    }

    private let state = Mutex(State())

    func close() {
        state.withLock { $0.isClosed = true }
    }

    func open() {
        state.withLock { state in
            state.isClosed = false
            for (update, link) in state.updates { link.submit(update) }
            state.updates = []
        }
    }

    func submit(_ update: BackendUpdate, to link: any BackendLink) {
        state.withLock { state in
            if state.isClosed { state.updates.append((update, link)) } else { link.submit(update) }
        }
    }
}
