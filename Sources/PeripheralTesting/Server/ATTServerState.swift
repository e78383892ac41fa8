internal import PeripheralCore
internal import PeripheralKit

/// What the GATT server of bluetoothd decides, request by request, without doing it.
///
/// The rules are those of its `src/shared/gatt-server.c` and `src/gatt-database.c`; where these are more lenient
/// or stricter than the specification, so is this.
struct ATTServerState: Sendable {
    /// What the server knows of a connection.
    struct Connection: Sendable {
        var central: Central
        var security: SecurityLevel
        /// The client characteristic configurations that are not 0, by the handle of the value.
        var configurations: [AttributeHandle: UInt16] = [:]
        var prepared = PreparedWrites()
        var clientFeatures: UInt8 = 0
    }

    /// How a request goes on.
    enum Decision: Sendable {
        case answer(Result<[UInt8], ATTError>)
        /// The application is asked; what it answers is the answer, unless the central does not wait for it.
        case ask(Inquiry)
        /// The configuration is stored; the application is told.
        case subscription(ApplicationID, SubscriptionChange)
    }

    /// A question to an application.
    struct Inquiry: Sendable {
        enum Operation: Sendable {
            case read(ReadRequest)
            case write(WriteRequest, withResponse: Bool)
        }

        var application: ApplicationID
        var operation: Operation
    }

    private(set) var database: ServerDatabase
    private(set) var connections: [ConnectionID: Connection] = [:]

    /// Whether the limit of a value's length holds for the packet without its opcode, handle and offset included:
    /// 510 bytes can be written at once, and 508 in parts.
    private let limitsPackets: Bool

    init(deviceName: String, version: BlueZVersion) {
        database = ServerDatabase(deviceName: deviceName, version: version)
        limitsPackets = version < BlueZVersion(major: 5, minor: 69)
    }

    // MARK: Connections

    mutating func open(_ id: ConnectionID, central: Central, security: SecurityLevel) {
        connections[id] = Connection(central: central, security: security)
    }

    /// Forgets a connection.
    ///
    /// - Returns: The subscriptions that end with it.
    mutating func close(_ id: ConnectionID) -> [(ApplicationID, SubscriptionChange)] {
        guard let connection = connections.removeValue(forKey: id) else { return [] }
        return connection.configurations.sorted { $0.key < $1.key }.compactMap {
            handle,
            configuration in
            guard let (application, local) = database.application(of: handle) else { return nil }
            return (
                application,
                SubscriptionChange(
                    characteristic: local,
                    central: connection.central,
                    from: configuration,
                    to: 0
                )
            )
        }
    }

    // MARK: Services

    /// - Returns: The handles of the added services.
    mutating func add(
        _ table: AttributeTable,
        of application: ApplicationID
    ) throws(AttributeTableError) -> [ClosedRange<AttributeHandle>] {
        try database.add(table, of: application)
    }

    /// - Returns: The handles of the removed services.
    mutating func remove(_ application: ApplicationID) -> [ClosedRange<AttributeHandle>] {
        let removed = database.remove(application)
        connections = connections.mapValues { connection in
            var connection = connection
            connection.configurations = connection.configurations.filter { handle, _ in
                !removed.contains { $0.contains(handle) }
            }
            return connection
        }
        return removed
    }

    // MARK: Requests

    func read(_ handle: AttributeHandle, offset: Int, by id: ConnectionID) -> Decision {
        guard let connection = connections[id], let attribute = database[handle] else {
            return .answer(.failure(.invalidHandle))
        }
        if let refusal = attribute.refusal(of: .read, at: connection.security) {
            return .answer(.failure(refusal))
        }
        switch attribute.content {
        case .application(let application, let local, _):
            let request = ReadRequest(attribute: local, offset: offset, central: connection.central)
            return .ask(Inquiry(application: application, operation: .read(request)))
        case .fixed(let value):
            return .answer(value.part(from: offset))
        case .configuration(let characteristic):
            // The offset is ignored.
            let configuration = connection.configurations[characteristic] ?? 0
            return .answer(.success(configuration.gattBytes))
        case .clientFeatures:
            return .answer([connection.clientFeatures].part(from: offset))
        case .databaseHash:
            return .answer(database.hash.part(from: offset))
        }
    }

    mutating func write(_ handle: AttributeHandle, _ value: [UInt8], by id: ConnectionID) -> Decision {
        guard let connection = connections[id], let attribute = database[handle] else {
            return .answer(.failure(.invalidHandle))
        }
        guard value.count + (limitsPackets ? 2 : 0) <= maximumLength else {
            return .answer(.failure(.invalidAttributeValueLength))
        }
        if let refusal = attribute.refusal(of: .write, at: connection.security) {
            return .answer(.failure(refusal))
        }
        switch attribute.content {
        case .application:
            return inquiry(to: attribute, writing: value, at: 0, by: connection.central)
        case .configuration(let characteristic):
            return configure(characteristic, value, by: id)
        case .clientFeatures:
            return .answer(setClientFeatures(value, by: id))
        case .fixed, .databaseHash:
            return .answer(.failure(.writeNotPermitted))
        }
    }

    mutating func prepareWrite(
        _ handle: AttributeHandle,
        _ value: [UInt8],
        at offset: Int,
        by id: ConnectionID
    ) -> Result<Void, ATTError> {
        guard let connection = connections[id] else { return .failure(.unlikelyError) }
        if connection.prepared.isFull { return .failure(.prepareQueueFull) }
        guard let attribute = database[handle] else { return .failure(.invalidHandle) }
        if offset > maximumLength { return .failure(.invalidOffset) }
        // The 4 bytes of handle and offset count here.
        guard value.count + (limitsPackets ? 4 : 0) + offset <= maximumLength else {
            return .failure(.invalidAttributeValueLength)
        }
        if let refusal = attribute.refusal(of: .write, at: connection.security) { return .failure(refusal) }
        guard case .application = attribute.content else { return .failure(.invalidAttributeValueLength) }
        connections[id]?.prepared.append(value, to: handle, at: offset)
        return .success(())
    }

    /// Takes the prepared writes, to be written one after the other until one is refused.
    mutating func executeWrites(commit: Bool, by id: ConnectionID) -> Result<[Decision], ATTError> {
        guard let connection = connections[id], let entries = connections[id]?.prepared.takeAll(), commit
        else {
            return .success([])
        }
        // More than one entry is a reliable write, which every characteristic in it has to allow.
        if entries.count > 1, !entries.allSatisfy({ database.allowsReliableWrites($0.handle) }) {
            return .failure(.requestNotSupported)
        }
        return .success(
            entries.map { entry in
                guard let attribute = database[entry.handle] else { return .answer(.failure(.unlikelyError)) }
                return inquiry(to: attribute, writing: entry.value, at: entry.offset, by: connection.central)
            }
        )
    }

    private func inquiry(
        to attribute: ServerAttribute,
        writing value: [UInt8],
        at offset: Int,
        by central: Central
    ) -> Decision {
        guard case .application(let application, let local, let acknowledgesWrites) = attribute.content else {
            return .answer(.failure(.unlikelyError))
        }
        let request = WriteRequest(attribute: local, value: value, offset: offset, central: central)
        return .ask(
            Inquiry(
                application: application,
                operation: .write(request, withResponse: !acknowledgesWrites)
            )
        )
    }

    // MARK: The server's own attributes

    private mutating func configure(
        _ characteristic: AttributeHandle,
        _ value: [UInt8],
        by id: ConnectionID
    ) -> Decision {
        guard let connection = connections[id], value.count <= 2 else {
            return .answer(.failure(.invalidAttributeValueLength))
        }
        guard !value.isEmpty else { return .answer(.success([])) }
        let configuration = value.enumerated().reduce(0 as UInt16) {
            $0 | UInt16($1.element) << (8 * $1.offset)
        }
        let previous = connection.configurations[characteristic] ?? 0
        guard configuration != previous else { return .answer(.success([])) }

        guard let (application, local) = database.application(of: characteristic) else {
            // Of Service Changed, bluetoothd takes any value.
            connections[id]?.configurations[characteristic] = configuration == 0 ? nil : configuration
            return .answer(.success([]))
        }
        let properties = database.properties(of: characteristic)
        switch configuration {
        case 0: break
        case UpdateKind.notification.configuration where properties.contains(.notify): break
        case UpdateKind.indication.configuration where properties.contains(.indicate): break
        default: return .answer(.failure(.clientCharacteristicConfigurationImproperlyConfigured))
        }
        connections[id]?.configurations[characteristic] = configuration == 0 ? nil : configuration
        return .subscription(
            application,
            SubscriptionChange(
                characteristic: local,
                central: connection.central,
                from: previous,
                to: configuration
            )
        )
    }

    private mutating func setClientFeatures(_ value: [UInt8], by id: ConnectionID) -> Result<
        [UInt8], ATTError
    > {
        guard let connection = connections[id], value.count == 1 else {
            return .failure(.invalidAttributeValueLength)
        }
        // A client never clears a bit that it has set.
        guard connection.clientFeatures & 0b111 & ~value[0] == 0 else { return .failure(.valueNotAllowed) }
        connections[id]?.clientFeatures |= value[0]
        return .success([])
    }

    // MARK: Updates

    /// An update on its way to one central.
    struct Delivery: Sendable {
        var connection: ConnectionID
        var central: Central
        var handle: AttributeHandle
        var update: ReceivedUpdate
    }

    /// What reaches whom of a new value of an application's characteristic.
    func deliveries(of value: [UInt8], of characteristic: AttributeHandle, in application: ApplicationID)
        -> [Delivery]
    {
        guard let handle = database.handle(of: characteristic, in: application) else { return [] }
        return deliveries(of: value, at: handle)
    }

    /// The indications of Service Changed for services that came or went.
    func serviceChanges(of handles: ClosedRange<AttributeHandle>) -> [Delivery] {
        let value = handles.lowerBound.rawValue.gattBytes + handles.upperBound.rawValue.gattBytes
        return deliveries(of: value, at: database.serviceChanged)
    }

    private func deliveries(of value: [UInt8], at handle: AttributeHandle) -> [Delivery] {
        connections.sorted { $0.key < $1.key }.compactMap { id, connection in
            guard let configuration = connection.configurations[handle], configuration & 0b11 != 0 else {
                return nil
            }
            let length = min(maximumLength, connection.central.mtu - 3)
            return Delivery(
                connection: id,
                central: connection.central,
                handle: handle,
                update: ReceivedUpdate(
                    kind: configuration & 0b10 == 0 ? .notification : .indication,
                    value: Array(value.prefix(length))
                )
            )
        }
    }
}

/// The most bytes that an attribute's value can have (Core Specification, Vol 3, Part F, 3.2.9).
let maximumLength = 512

extension [UInt8] {
    fileprivate func part(from offset: Int) -> Result<[UInt8], ATTError> {
        offset <= count ? .success(Array(dropFirst(offset))) : .failure(.invalidOffset)
    }
}
