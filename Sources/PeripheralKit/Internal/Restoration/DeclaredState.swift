internal import PeripheralCore

/// What of a declaration is preserved.
struct DeclaredState: Sendable {
    /// A persistent value, and how long it may be.
    struct Value: Sendable {
        let declaration: PersistentValueDeclaration
        let length: ValueLength

        /// Whether bytes that were preserved can be the value.
        func accepts(_ bytes: [UInt8]) -> Bool {
            length.allows(bytes.count) && declaration.canDecode(bytes)
        }
    }

    let name: String
    let table: AttributeTable
    let advertisements: [Advertisement]
    private(set) var valueHandles: [CharacteristicIdentity: AttributeHandle] = [:]
    private(set) var persistentValues: [AttributeHandle: Value] = [:]
    /// Of the characteristics of which something is declared.
    private(set) var options: [AttributeHandle: PreservedOptions] = [:]
    private var staticValues: [AttributeHandle: [UInt8]] = [:]
    /// How many updates of a characteristic are kept for each of its subscribers; none are of others.
    private(set) var durableLimits: [AttributeHandle: Int] = [:]

    init(_ peripheral: Peripheral, table: AttributeTable) {
        name = peripheral.name
        self.table = table
        advertisements = peripheral.declaredAdvertisements
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
                    Value(declaration: $0, length: characteristic.length)
                }
            case .descriptor(let service, let characteristic, let index):
                let descriptors = peripheral.services[service].characteristics[characteristic].descriptors
                staticValues[attribute.handle] = descriptors[index].access.staticValue
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
