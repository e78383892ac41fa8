internal import PeripheralCore

/// Matches elements of the same type in two databases.
///
/// If several elements have the same type, the first element matches the first element in the other database,
/// the second element matches the second element, and so on. Elements of other types, and the order of types,
/// do not matter.
struct DatabaseMatch {
    /// The earlier handles, by the present handles.
    private(set) var former: [AttributeHandle: AttributeHandle] = [:]
    /// The present handles, by the earlier handles.
    private(set) var present: [AttributeHandle: AttributeHandle] = [:]

    /// Creates a match without common elements.
    init() {}

    init(of table: AttributeTable, with old: AttributeTable) {
        let pairs = Self.pairs(table.services.map(\.uuid), old.services.map(\.uuid))
        for (new, former) in pairs {
            note(table.serviceRange(new).lowerBound, old.serviceRange(former).lowerBound)
            matchCharacteristics(ofService: new, of: table, withService: former, of: old)
        }
    }

    private mutating func matchCharacteristics(
        ofService service: Int,
        of table: AttributeTable,
        withService formerService: Int,
        of old: AttributeTable
    ) {
        let characteristics = table.services[service].characteristics
        let formerCharacteristics = old.services[formerService].characteristics
        for (new, former) in Self.pairs(characteristics.map(\.uuid), formerCharacteristics.map(\.uuid)) {
            note(
                table.valueHandle(service: service, characteristic: new),
                old.valueHandle(service: formerService, characteristic: former)
            )
            let descriptors = Self.pairs(
                characteristics[new].descriptors.map(\.uuid),
                formerCharacteristics[former].descriptors.map(\.uuid)
            )
            for (descriptor, formerDescriptor) in descriptors {
                note(
                    table.descriptorHandle(service: service, characteristic: new, descriptor: descriptor),
                    old.descriptorHandle(
                        service: formerService,
                        characteristic: former,
                        descriptor: formerDescriptor
                    )
                )
            }
        }
    }

    private mutating func note(_ handle: AttributeHandle, _ formerHandle: AttributeHandle) {
        former[handle] = formerHandle
        present[formerHandle] = handle
    }

    /// Pairs the positions of equal types, the first with the first.
    private static func pairs(_ new: [BluetoothUUID], _ old: [BluetoothUUID]) -> [(Int, Int)] {
        var waiting: [BluetoothUUID: ArraySlice<Int>] = [:]
        for (place, uuid) in old.enumerated() { waiting[uuid, default: []].append(place) }
        return new.enumerated().compactMap { place, uuid in
            waiting[uuid]?.popFirst().map { (place, $0) }
        }
    }
}
