internal import PeripheralCore
internal import PeripheralKit

extension DiscoveredDatabase {
    /// Finds a declared characteristic in the database by its position in the declaration.
    ///
    /// The n-th characteristic of a type in the n-th service of a type has the same position in the
    /// declaration and in the database.
    func locate<Value>(
        _ characteristic: Characteristic<Value>,
        of peripheral: Peripheral
    ) throws(TestCentralError) -> DiscoveredCharacteristic {
        guard let place = Place(of: characteristic.declaration.identity, in: peripheral) else {
            throw TestCentralError(
                code: .notFound,
                message: "Characteristic \(characteristic.uuid) is not part of the peripheral under test. "
                    + "Use the constant that the declaration of the peripheral contains."
            )
        }
        let services = applicationServices.filter {
            $0.uuid == place.service && place.mayStand(at: $0.handles.lowerBound)
        }
        guard services.indices.contains(place.serviceIndex) else {
            throw TestCentralError(
                code: .notFound,
                message: "The central found only \(services.count) services with the UUID \(place.service). "
                    + "A later service declares characteristic \(characteristic.uuid)."
            )
        }
        let candidates = services[place.serviceIndex].characteristics.filter {
            $0.uuid == characteristic.uuid
        }
        guard candidates.indices.contains(place.characteristicIndex) else {
            throw TestCentralError(
                code: .notFound,
                message: "Service \(place.service) on the peripheral has only \(candidates.count) "
                    + "characteristics with the UUID \(characteristic.uuid). The declaration contains more."
            )
        }
        return candidates[place.characteristicIndex]
    }
}

/// The position of a characteristic in a declaration, counted among those of the same type.
///
/// A pinned service is found by its handle. The other services are counted without the pinned services.
private struct Place {
    var service: BluetoothUUID
    var serviceIndex: Int
    var characteristicIndex: Int
    private var handle: AttributeHandle?
    private var pinnedHandles: [AttributeHandle]

    func mayStand(at start: AttributeHandle) -> Bool {
        handle.map { $0 == start } ?? !pinnedHandles.contains(start)
    }

    init?(of identity: CharacteristicIdentity, in peripheral: Peripheral) {
        for (index, service) in peripheral.services.enumerated() {
            guard let position = service.characteristics.firstIndex(where: { $0.identity == identity }) else {
                continue
            }
            let uuid = service.characteristics[position].uuid
            self.service = service.uuid
            handle = service.handle
            pinnedHandles = peripheral.services.compactMap(\.handle)
            let isPinned = service.handle != nil
            serviceIndex =
                isPinned
                ? 0 : peripheral.services[..<index].count { $0.uuid == service.uuid && $0.handle == nil }
            characteristicIndex = service.characteristics[..<position].count { $0.uuid == uuid }
            return
        }
        return nil
    }
}
