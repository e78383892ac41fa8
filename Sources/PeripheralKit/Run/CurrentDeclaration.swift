internal import PeripheralCore
private import Synchronization

/// The declaration of a running peripheral, which changes when the program adds or removes services.
///
/// Each attribute keeps its handle in the table as long as its service is present.
final class CurrentDeclaration: Sendable {
    private let state: Mutex<DeclaredState>
    private let present: PresentServices

    init(_ declared: DeclaredState) {
        state = Mutex(declared)
        present = declared.peripheral.present
        present.set(declared.peripheral.services)
    }

    var declared: DeclaredState {
        get { state.withLock(\.self) }
        set {
            state.withLock { $0 = newValue }
            present.set(newValue.peripheral.services)
        }
    }

    /// Records the handle of an attribute on the air.
    func assigned(_ onAir: AttributeHandle, to handle: AttributeHandle) {
        let service = state.withLock { state -> GATTService? in
            guard case .serviceDeclaration(let index) = state.table[handle]?.kind else { return nil }
            return state.peripheral.services[index]
        }
        if let service { present.setStart(onAir, of: service) }
    }

    /// Ends the run.
    func end() {
        present.set(nil)
    }

    /// Returns the handle of a characteristic's value in the table.
    ///
    /// - Throws: ``PeripheralError`` with the code `notDeclared`.
    func valueHandle(of characteristic: CharacteristicDeclaration) throws(PeripheralError) -> AttributeHandle
    {
        try state.withLock { (state) throws(PeripheralError) in try state.valueHandle(of: characteristic) }
    }

    /// Returns the type and the properties of a characteristic that centrals can subscribe to.
    func subscribable(
        _ handle: AttributeHandle
    ) -> (uuid: BluetoothUUID, properties: CharacteristicProperties)? {
        state.withLock { $0.subscribable[handle].map { ($0.uuid, $0.properties) } }
    }

    /// Returns the name of an attribute for the log.
    func name(of handle: AttributeHandle) -> String {
        state.withLock { state in
            switch state.table[handle]?.kind {
            case .characteristicValue(let service, let characteristic):
                return state.peripheral.services[service].characteristics[characteristic].name
            case .descriptor(let service, let characteristic, let descriptor):
                let parent = state.peripheral.services[service].characteristics[characteristic]
                return "descriptor \(parent.descriptors[descriptor].uuid) of \(parent.name)"
            default:
                return "attribute \(handle)"
            }
        }
    }

    /// Returns the name of a subscribed characteristic for the log, even if its service was removed.
    func name(of subscription: Subscription) -> String {
        let known = state.withLock { state -> CharacteristicDeclaration? in
            guard
                case .characteristicValue(let service, let characteristic) =
                    state.table[subscription.handle]?.kind
            else { return nil }
            return state.peripheral.services[service].characteristics[characteristic]
        }
        guard let known, known.uuid == subscription.characteristic else {
            return ElementName.characteristic(subscription.characteristic, nil)
        }
        return known.name
    }

    /// Returns the number of updates that are retained for each subscriber of a durable characteristic.
    func durableLimit(_ handle: AttributeHandle) -> Int? {
        state.withLock { $0.durableLimits[handle] }
    }
}
