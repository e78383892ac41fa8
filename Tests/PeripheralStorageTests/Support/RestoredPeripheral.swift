import PeripheralCore

@testable import PeripheralKit

/// A peripheral that is declared from what is preserved.
struct RestoredPeripheral {
    private let preserved: PreservedPeripheral

    init(_ preserved: PreservedPeripheral) {
        self.preserved = preserved
    }

    /// What about it is not as it was; `nil` when all is, or is an error of its validation.
    var fault: String? {
        do {
            return try fault(handling: false) ?? fault(handling: true)
        } catch {
            return "a characteristic that is there is not found: \(error)"
        }
    }

    private func fault(handling isHandling: Bool) throws -> String? {
        let given = isHandling ? preserved.services.flatMap { $0.characteristics.map(\.uuid) } : []
        var counts: [BluetoothUUID: Int] = [:]
        let characteristics = try given.map { uuid in
            defer { counts[uuid, default: 0] += 1 }
            return try preserved.characteristic(uuid, occurrence: counts[uuid] ?? 0, as: [UInt8].self) {
                Read { [] }
                Authorization { true }
            }
        }
        let again = Peripheral(restoring: preserved, pairing: .justWorks) { characteristics }
        let hasErrors = again.validate().contains { $0.severity == .error }
        for (service, former) in zip(again.serviceDescriptions, preserved.services) {
            for (characteristic, former) in zip(service.characteristics, former.characteristics) {
                if characteristic.security != former.security
                    || characteristic.properties != former.properties
                {
                    return "\(former) becomes \(characteristic)"
                }
                if former.requiresAuthorization, !characteristic.requiresAuthorization {
                    return "\(former) authorizes no central any more"
                }
                for (descriptor, former) in zip(characteristic.descriptors, former.descriptors)
                where !hasErrors && descriptor != former { return "\(former) becomes \(descriptor)" }
            }
        }
        let isSame = hasErrors || isHandling || again.serviceDescriptions == preserved.services
        return isSame ? nil : "\(preserved.services) become \(again.serviceDescriptions)"
    }
}

extension RestorationStart {
    /// What about the beginning of a run cannot be; `nil` when all can.
    func fault() -> String? {
        var handles = handlesOnAir
        for attribute in declared.table.attributes {
            handles[attribute.handle] = state.database.handleOnAir(of: attribute.handle)
        }
        guard Set(handles.values).count == handles.count else {
            return "attributes share handles: \(handles)"
        }
        guard Set(values.keys) == Set(declared.persistentValues.keys),
            values.allSatisfy({ declared.persistentValues[$0.key]?.accepts($0.value) == true })
        else { return "the values are \(values)" }
        var first = state
        first.subscribers = history.preserved
        first.updates = outbox.preserved
        do {
            guard try PreservedState(decoding: first.restorationState) == first else {
                return "what is saved first is read otherwise"
            }
        } catch {
            return "what is saved first cannot be read: \(error)"
        }
        guard let restored else { return "nothing is told" }
        guard restored.subscribers.allSatisfy({ $0.status != .subscribed }) else {
            return "somebody is told to have subscribed"
        }
        guard loaded != nil || restored.changes.invalidatesCaches else { return "caches are taken for valid" }
        return nil
    }
}
