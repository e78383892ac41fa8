import PeripheralKit
import Synchronization

/// Updates that a stack keeps until a central leaves, and then fails.
///
/// BlueZ does so with what waits for room on the link.
///
/// The end of subscriptions is not reported. BlueZ does not always report it when a central disconnects.
final class WithheldUpdates: Sendable {
    /// Whether an update is kept.
    private let withholds: @Sendable (BackendUpdate) -> Bool
    private let withheld = Mutex<[BackendUpdate.ID]>([])

    init(where withholds: @escaping @Sendable (BackendUpdate) -> Bool) {
        self.withholds = withholds
    }

    func submit(_ update: BackendUpdate, to link: any BackendLink) {
        // It is kept first: a test learns of it from `withholds`, and may then have the central leave.
        withheld.withLock { $0.append(update.id) }
        guard !withholds(update) else { return }
        withheld.withLock { $0.removeAll { $0 == update.id } }
        link.submit(update)
    }

    func handle(_ event: BackendEvent, for host: any PeripheralHost) {
        switch event {
        case .unsubscribed: break
        case .disconnected:
            host.handle(event)
            let error = PeripheralError(code: .disconnected, message: "The central is gone.")
            for update in withheld.withLock(\.self) { host.handle(.updateEnded(update, .failed(error))) }
        default: host.handle(event)
        }
    }
}
