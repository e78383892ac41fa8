internal import PeripheralCore

/// The parts of a declaration that are preserved.
struct DeclaredState: Sendable {
    /// A persistent value and its permitted length.
    struct Value: Sendable {
        let declaration: PersistentValueDeclaration
        let length: ValueLength
        /// Whether the declaration was made from preserved state, so that it has the type of the last value.
        let isAsPreserved: Bool

        /// Returns whether preserved bytes can be the value.
        func accepts(_ bytes: [UInt8]) -> Bool {
            length.allows(bytes.count) && declaration.canDecode(bytes)
        }
    }

    /// The peripheral, with the attributes of each service in their order on the air.
    let peripheral: Peripheral
    let name: String
    let table: AttributeTable
    let advertisements: [Advertisement]
    private(set) var valueHandles: [CharacteristicIdentity: AttributeHandle] = [:]
    private(set) var persistentValues: [AttributeHandle: Value] = [:]
    /// The options of the characteristics that have options.
    private(set) var options: [AttributeHandle: PreservedOptions] = [:]
    private var staticValues: [AttributeHandle: [UInt8]] = [:]
    /// The presentation formats that each aggregate format names.
    private(set) var formats: [AttributeHandle: [AttributeHandle]] = [:]
    /// The number of updates that are retained for each subscriber of a durable characteristic.
    ///
    /// Characteristics without durable updates are not included.
    private(set) var durableLimits: [AttributeHandle: Int] = [:]
    /// The characteristics that centrals can subscribe to.
    private(set) var subscribable: [AttributeHandle: CharacteristicDeclaration] = [:]

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
                if characteristic.properties.allowsSubscription {
                    subscribable[attribute.handle] = characteristic
                }
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

    /// Returns the handle of a characteristic's value in the table.
    ///
    /// - Throws: ``PeripheralError`` with the code `notDeclared`.
    func valueHandle(of characteristic: CharacteristicDeclaration) throws(PeripheralError) -> AttributeHandle
    {
        guard let handle = valueHandles[characteristic.identity] else {
            throw PeripheralError(
                code: .notDeclared,
                message: "Characteristic \(characteristic.uuid) is not part of this peripheral. "
                    + CharacteristicDeclaration.remedyForOtherConstant
            )
        }
        return handle
    }

    /// The same declaration with the earlier attributes in their positions and the new attributes behind
    /// them.
    func arranged(after old: AttributeTable?) -> DeclaredState {
        guard let old else { return self }
        let order = AttributeOrder(of: table, after: old)
        var peripheral = peripheral
        peripheral.services = order.arrange(peripheral.services)
        // The order of the attributes does not change the room that they need.
        guard let table = try? AttributeTable(services: order.arrange(table.services)) else { return self }
        return DeclaredState(peripheral, table: table)
    }

    func isDurable(_ handle: AttributeHandle) -> Bool { durableLimits[handle] != nil }

    /// The number of values that may wait for each subscriber, and what happens to further values.
    var updatePolicies: [AttributeHandle: UpdatePolicy] { subscribable.mapValues(\.updates) }

    /// Returns the index of a service; `nil` if it is not part of the peripheral.
    func index(of service: GATTService) -> Int? {
        peripheral.services.firstIndex { $0.identity == service.identity }
    }

    /// Returns a service with its constant values, for a comparison with services that had a place.
    func placed(_ service: Int) -> FormerPlaces.Service {
        FormerPlaces.Service(
            identity: peripheral.services[service].identity,
            table.services[service],
            constants: table.attributes(ofService: service).map { staticValues[$0.handle] }
        )
    }

    /// Creates the database with these handles on the air.
    func database(at starts: [Int: AttributeHandle]) -> PreservedDatabase {
        PreservedDatabase(table: table, staticValues: staticValues, startsOnAir: starts)
    }
}

extension AttributeAccess {
    /// The constant value; `nil` if there is no constant value.
    fileprivate var staticValue: [UInt8]? {
        for case .value(let value) in readSources { return value }
        return nil
    }
}
