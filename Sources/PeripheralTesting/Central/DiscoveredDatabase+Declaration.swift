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
                message:
                    "This characteristic \(characteristic.uuid) is not part of the peripheral under test. "
                    + CharacteristicDeclaration.remedyForOtherConstant
            )
        }
        let services = place.candidates(among: applicationServices)
        guard services.indices.contains(place.serviceIndex) else {
            throw TestCentralError(
                code: .notFound,
                message: "The central found only \(services.count) services with the UUID \(place.service). "
                    + "A later service declares characteristic \(characteristic.uuid)."
            )
        }
        let service = place.known(among: services) ?? services[place.serviceIndex]
        let candidates = service.characteristics.filter {
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
/// A service is found by its handle, if the handle is known. The other services are counted without the
/// pinned services.
private struct Place {
    var service: BluetoothUUID
    var serviceIndex: Int
    var characteristicIndex: Int
    private var handle: AttributeHandle?
    /// The handle on the air that the backend has reported.
    private var reportedHandle: AttributeHandle?
    private var pinnedHandles: [AttributeHandle]

    func candidates(among services: [DiscoveredService]) -> [DiscoveredService] {
        services.filter { candidate in
            let start = candidate.handles.lowerBound
            return candidate.uuid == service
                && (handle.map { $0 == start } ?? !pinnedHandles.contains(start))
        }
    }

    /// Returns the service at the reported handle.
    func known(among candidates: [DiscoveredService]) -> DiscoveredService? {
        candidates.first { $0.handles.lowerBound == reportedHandle }
    }

    init?(of identity: CharacteristicIdentity, in peripheral: Peripheral) {
        // A running peripheral may have other services than it declares.
        let services = peripheral.present.services ?? peripheral.services
        for (index, service) in services.enumerated() {
            guard let position = service.characteristics.firstIndex(where: { $0.identity == identity }) else {
                continue
            }
            let uuid = service.characteristics[position].uuid
            self.service = service.uuid
            handle = service.handle
            reportedHandle = peripheral.present.start(of: service)
            pinnedHandles = services.compactMap(\.handle)
            serviceIndex =
                handle != nil
                ? 0 : services[..<index].count { $0.uuid == service.uuid && $0.handle == nil }
            characteristicIndex = service.characteristics[..<position].count { $0.uuid == uuid }
            return
        }
        return nil
    }
}
