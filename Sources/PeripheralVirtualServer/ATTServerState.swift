internal import PeripheralBlueZModel
internal import PeripheralCore
internal import PeripheralKit

/// The decisions of bluetoothd's GATT server for each request, without side effects.
///
/// The rules are those of its `src/shared/gatt-server.c` and `src/gatt-database.c`, including all deviations
/// from the specification.
struct ATTServerState: Sendable {
    /// The state of a connection.
    struct Connection: Sendable {
        var central: Central
        var security: SecurityLevel
        var prepared = PreparedWrites()
        /// The strength of the central's signal in dBm.
        var signalStrength = -50
        /// Whether the central accepts other parameters of its link.
        var isFlexible = true
    }

    /// The state of a central, which outlives the connection when the central is bonded.
    struct Device: Sendable {
        /// The client characteristic configurations that are not 0, by the handle of the value.
        var configurations: [AttributeHandle: UInt16] = [:]
        /// The configurations that last until the central disconnects and cause no updates.
        var lostConfigurations: [AttributeHandle: UInt16] = [:]
        /// The configurations that end with the connection, although the central is bonded.
        var movedConfigurations: Set<AttributeHandle> = []
        var clientFeatures: UInt8 = 0
        /// The changed services to indicate when the central reconnects.
        var missedChange: ClosedRange<AttributeHandle>?
    }

    /// The next step of a request.
    enum Decision: Sendable {
        case answer(Result<[UInt8], ATTError>)
        /// The application handles the request, and answers it if the central waits for a response.
        case ask(Inquiry)
        /// The server stores the configuration, and reports the change to the application.
        case subscription(ApplicationID, SubscriptionChange)
    }

    /// A question to an application.
    struct Inquiry: Sendable {
        enum Operation: Sendable {
            case read(BackendReadRequest)
            case write(BackendWriteRequest, withResponse: Bool)
            /// The application accepts or refuses a prepared write from the central.
            case authorization(BackendWriteRequest, withResponse: Bool)
        }

        var application: ApplicationID
        var operation: Operation
    }

    var database: ServerDatabase
    var connections: [ConnectionID: Connection] = [:]
    var devices: [DeviceAddress: Device] = [:]
    /// The centrals whose prepared writes need no authorization.
    var trusted: Set<DeviceAddress> = []
    /// The attributes whose prepared writes are authorized, by any central, until they are executed.
    var authorized: Set<AttributeHandle> = []

    /// Whether the length limit of a value applies to the packet without its opcode, including handle and
    /// offset.
    ///
    /// If so, at most 510 bytes can be written at once, and 508 in parts.
    private let limitsPackets: Bool

    init(deviceName: String, version: BlueZVersion) {
        database = ServerDatabase(deviceName: deviceName, version: version)
        limitsPackets = version < BlueZVersion(major: 5, minor: 69)
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
            let request = BackendReadRequest(attribute: local, offset: offset, central: connection.central)
            return .ask(Inquiry(application: application, operation: .read(request)))
        case .fixed(let value):
            return .answer(value.part(from: offset))
        case .configuration(let characteristic):
            // The offset is ignored.
            let configuration = devices[connection.central.linkAddress]?.configurations[characteristic] ?? 0
            return .answer(.success(configuration.gattBytes))
        case .clientFeatures:
            return .answer([devices[connection.central.linkAddress]?.clientFeatures ?? 0].part(from: offset))
        case .databaseHash:
            return .answer(database.hash.part(from: offset))
        }
    }

    /// The maximum length of a written value.
    ///
    /// Before 5.69, bluetoothd counts the handle and the offset in the packet as part of the value.
    func maximumWrittenLength(isPrepared: Bool) -> Int {
        maximumLength - (limitsPackets ? (isPrepared ? 4 : 2) : 0)
    }

    mutating func write(_ handle: AttributeHandle, _ value: [UInt8], by id: ConnectionID) -> Decision {
        guard let connection = connections[id], let attribute = database[handle] else {
            return .answer(.failure(.invalidHandle))
        }
        guard value.count <= maximumWrittenLength(isPrepared: false) else {
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

    /// Checks whether ``keep(_:_:at:by:)`` may queue a part of a value.
    func prepareWrite(
        _ handle: AttributeHandle,
        _ value: [UInt8],
        at offset: Int,
        by id: ConnectionID
    ) -> Decision {
        guard let connection = connections[id] else { return .answer(.failure(.unlikelyError)) }
        if connection.prepared.isFull { return .answer(.failure(.prepareQueueFull)) }
        guard let attribute = database[handle] else { return .answer(.failure(.invalidHandle)) }
        if offset > maximumLength { return .answer(.failure(.invalidOffset)) }
        guard offset + value.count <= maximumWrittenLength(isPrepared: true) else {
            return .answer(.failure(.invalidAttributeValueLength))
        }
        if let refusal = attribute.refusal(of: .write, at: connection.security) {
            return .answer(.failure(refusal))
        }
        guard case .application(let application, let local, let acknowledgesWrites) = attribute.content else {
            return .answer(.failure(.invalidAttributeValueLength))
        }
        guard attribute.authorizesWrites, !authorized.contains(handle),
            !trusted.contains(connection.central.linkAddress)
        else { return .answer(.success([])) }
        let request = BackendWriteRequest(
            attribute: local,
            value: [],
            offset: offset,
            central: connection.central
        )
        return .ask(
            Inquiry(
                application: application,
                operation: .authorization(request, withResponse: !acknowledgesWrites)
            )
        )
    }

    /// Queues a part of a value that ``prepareWrite(_:_:at:by:)`` has accepted.
    mutating func keep(_ value: [UInt8], of handle: AttributeHandle, at offset: Int, by id: ConnectionID) {
        guard let central = connections[id]?.central else { return }
        connections[id]?.prepared.append(value, to: handle, at: offset)
        if case .application(_, _, acknowledgesWrites: false) = database[handle]?.content,
            database[handle]?.authorizesWrites == true, !trusted.contains(central.linkAddress)
        {
            authorized.insert(handle)
        }
    }

    /// Removes and returns the prepared writes, which are then written in order until one is refused.
    mutating func executeWrites(commit: Bool, by id: ConnectionID) -> Result<[Decision], ATTError> {
        guard let connection = connections[id], let entries = connections[id]?.prepared.takeAll(), commit
        else {
            return .success([])
        }
        // More than one entry is a reliable write, which each of its characteristics has to allow.
        if entries.count > 1, !entries.allSatisfy({ database.allowsReliableWrites($0.handle) }) {
            return .failure(.requestNotSupported)
        }
        return .success(
            entries.map { entry in
                guard let attribute = database[entry.handle] else { return .answer(.failure(.unlikelyError)) }
                authorized.remove(entry.handle)
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
        let request = BackendWriteRequest(attribute: local, value: value, offset: offset, central: central)
        return .ask(
            Inquiry(
                application: application,
                operation: .write(request, withResponse: !acknowledgesWrites)
            )
        )
    }
}

/// The largest size of an attribute value in bytes (Core Specification, Vol 3, Part F, 3.2.9).
let maximumLength = 512

extension [UInt8] {
    fileprivate func part(from offset: Int) -> Result<[UInt8], ATTError> {
        offset <= count ? .success(Array(dropFirst(offset))) : .failure(.invalidOffset)
    }
}
