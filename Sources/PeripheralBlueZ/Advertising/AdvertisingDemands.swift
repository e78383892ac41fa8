internal import PeripheralKit
private import Synchronization

/// The changes of the advertisements that the program requests during a run, one at a time.
final class AdvertisingDemands: Sendable {
    let change = PendingChange()
    /// The capabilities of the adapter, if they are known.
    private let capabilities = Mutex<AdvertisingCapabilities?>(nil)

    func setCapabilities(_ capabilities: AdvertisingCapabilities) {
        self.capabilities.withLock { $0 = capabilities }
    }

    /// Requests a change, and waits for its outcome.
    ///
    /// - Parameters:
    ///   - advertisements: The new advertisements.
    ///   - send: Passes on the request.
    /// - Throws: `DeclarationError` if an advertisement is not possible on the adapter. In that case, the
    ///   request is not passed on. Otherwise the error of the change.
    func make(_ advertisements: [Advertisement], _ send: () -> Void) async throws {
        if let capabilities = capabilities.withLock(\.self) {
            let issues = advertisements.plans(for: capabilities).flatMap(\.issues)
            let errors = issues.filter { $0.severity == .error }
            guard errors.isEmpty else { throw DeclarationError(issues: errors) }
        }
        try await change.make(send)
    }
}
