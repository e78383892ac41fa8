package import PeripheralCore
private import Synchronization

/// The services that a running peripheral has, for tests of the peripheral.
///
/// All copies of a peripheral share this object.
package final class PresentServices: Sendable {
    private struct State {
        var services: [GATTService]
        var starts: [DeclarationIdentity: AttributeHandle] = [:]
    }

    private let state = Mutex<State?>(nil)

    /// The services; `nil` if the peripheral does not run.
    package var services: [GATTService]? { state.withLock { $0?.services } }

    /// Returns the first handle of a service on the air; `nil` if the backend has not reported it.
    package func start(of service: GATTService) -> AttributeHandle? {
        state.withLock { $0?.starts[service.identity] }
    }

    func set(_ services: [GATTService]?) {
        state.withLock { state in
            state = services.map { services in
                let identities = Set(services.map(\.identity))
                return State(
                    services: services,
                    starts: (state?.starts ?? [:]).filter { identities.contains($0.key) }
                )
            }
        }
    }

    func setStart(_ start: AttributeHandle, of service: GATTService) {
        state.withLock { $0?.starts[service.identity] = start }
    }
}
