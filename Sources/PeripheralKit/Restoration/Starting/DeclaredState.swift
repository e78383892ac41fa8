internal import PeripheralCore

/// What of a declaration is preserved.
struct DeclaredState: Sendable {
    /// A persistent value, and how long it may be.
    struct Value: Sendable {
        let declaration: PersistentValueDeclaration
        let length: ValueLength
        /// Whether the declaration is made of what is preserved, and so of what the value last was.
        let isAsPreserved: Bool

        /// Whether bytes that were preserved can be the value.
        func accepts(_ bytes: [UInt8]) -> Bool {
            length.allows(bytes.count) && declaration.canDecode(bytes)
        }
    }

    /// With the attributes of each service in the order in which they stand on the air.
    let peripheral: Peripheral
    let name: String
    let table: AttributeTable
    let advertisements: [Advertisement]
    private(set) var valueHandles: [CharacteristicIdentity: AttributeHandle] = [:]
    private(set) var persistentValues: [AttributeHandle: Value] = [:]
    /// Of the characteristics of which something is declared.
    private(set) var options: [AttributeHandle: PreservedOptions] = [:]
    private var staticValues: [AttributeHandle: [UInt8]] = [:]
    /// What the aggregate formats name.
    private(set) var formats: [AttributeHandle: [AttributeHandle]] = [:]
    /// How many updates of a characteristic are kept for each of its subscribers; none are of others.
    private(set) var durableLimits: [AttributeHandle: Int] = [:]

    init(_ peripheral: Peripheral, table: AttributeTable) {
        self.peripheral = peripheral
        name = peripheral.name
        self.table = table
        advertisements = peripheral.initialAdvertisements
        let index = PresentationFormatIndex(of: peripheral.services)
        for attribute in table.attributes {
            switch attribute.kind {
            case .characteristicValue(let service, let index):
                let characteristic = peripheral.services[service].characteristics[index]
                valueHandles[characteristic.identity] = attribute.handle
                staticValues[attribute.handle] = characteristic.access.staticValue
                let options = PreservedOptions(of: characteristic)
                if options != PreservedOptions() { self.options[attribute.handle] = options }
                durableLimits[attribute.handle] = characteristic.updates.durableLimit
                persistentValues[attribute.handle] = characteristic.persistentValue.map {
                    Value(
                        declaration: $0,
                        length: characteristic.length,
                        isAsPreserved: characteristic.place != nil
                    )
                }
            case .descriptor(let service, let characteristic, let position):
                let descriptors = peripheral.services[service].characteristics[characteristic].descriptors
                let access = descriptors[position].access
                staticValues[attribute.handle] = access.staticValue
                guard case .handles(let parts) = access.readSources.first else { continue }
                let places = try? index.places(of: parts, service: service, characteristic: characteristic)
                formats[attribute.handle] = places?.map(table.handle)
            default:
                break
            }
        }
    }

    /// Where the value of a characteristic stands.
    ///
    /// - Throws: ``PeripheralError`` with the code `notDeclared`.
    func valueHandle(of characteristic: CharacteristicDeclaration) throws(PeripheralError) -> AttributeHandle
    {
        guard let handle = valueHandles[characteristic.identity] else {
            throw PeripheralError(
                code: .notDeclared,
                message: "Characteristic \(characteristic.uuid) is not part of this peripheral; "
                    + "use the constant that stands in its declaration."
            )
        }
        return handle
    }

    /// The same, with what was published before at its place, and what is new behind it.
    func arranged(after old: AttributeTable?) -> DeclaredState {
        guard let old else { return self }
        let order = AttributeOrder(of: table, after: old)
        var peripheral = peripheral
        peripheral.services = order.arrange(peripheral.services)
        // What has room in one order has room in any.
        guard let table = try? AttributeTable(services: order.arrange(table.services)) else { return self }
        return DeclaredState(peripheral, table: table)
    }

    func isDurable(_ handle: AttributeHandle) -> Bool { durableLimits[handle] != nil }

    /// The database, at these handles on the air.
    func database(at starts: [Int: AttributeHandle]) -> PreservedDatabase {
        PreservedDatabase(table: table, staticValues: staticValues, startsOnAir: starts)
    }
}

extension AttributeAccess {
    /// The value that is given once and for all; `nil` where there is none.
    fileprivate var staticValue: [UInt8]? {
        for case .value(let value) in readSources { return value }
        return nil
    }
}
