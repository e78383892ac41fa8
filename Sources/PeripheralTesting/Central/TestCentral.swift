public import PeripheralCore
public import PeripheralKit

/// A central that a test controls, with the same operations on every backend.
///
/// ``VirtualCentral`` is the implementation without a radio. The requirements of this protocol are the
/// operations of the Attribute Protocol, on handles. Tests use the methods built on them, which take a
/// `Characteristic` of the declaration and its values: ``read(_:)``, ``write(_:_:)``, ``nextUpdate(of:)``.
///
/// An operation that the peripheral refuses throws its `ATTError`. An operation that fails for another reason
/// throws a ``TestCentralError``. A central has one pending request at a time; further requests wait.
public protocol TestCentral: Sendable {
    /// The peripheral under test; its declaration determines where a `Characteristic` is in the database.
    var peripheral: Peripheral { get }

    /// Creates another central for the same peripheral, not yet connected, with its own address.
    func makeAnother() async throws -> Self

    /// The MTU of the connection in bytes; 23 while there is no connection.
    var mtu: Int { get async throws }

    /// Listens for advertisements.
    ///
    /// - Returns: One result for each advertisement on the air.
    func scan() async throws -> [ScanResult]

    /// Connects to the peripheral and negotiates the MTU.
    ///
    /// - Parameters:
    ///   - mtu: The largest MTU that the central accepts, 23 to 517 bytes.
    ///   - encrypting: Whether a bonded central encrypts the connection as soon as it connects.
    /// - Throws: ``TestCentralError`` with the code `notFound` when no connectable advertisement is on the
    ///   air, or with `alreadyConnected`.
    func connect(mtu: Int, encrypting: Bool) async throws

    /// Encrypts the connection with the keys of the central's bond.
    ///
    /// - Throws: ``TestCentralError`` with the code `pairingFailed` when either side has no keys, or with
    ///   `notConnected` or `disconnected`.
    func encrypt() async throws

    /// Ends the connection and with it the central's subscriptions and prepared writes.
    ///
    /// It does not wait for a pending request, which throws a ``TestCentralError`` with the code
    /// `disconnected`.
    func disconnect() async throws

    /// Changes the resolvable private address that the central uses for later connections.
    ///
    /// An iPhone, for example, does this every 15 minutes.
    ///
    /// A bonded peripheral recognizes the central by any of its addresses, with the key that it got with the
    /// bond. To any other peripheral, it is an unknown central.
    ///
    /// - Throws: ``TestCentralError`` with the code `alreadyConnected`, because a connection keeps its
    ///   addresses.
    func changeAddress() async throws

    /// Pairs with the connected peripheral and encrypts the connection.
    ///
    /// When both sides bond, later connections of this central are encrypted as soon as it connects, without
    /// pairing again. If the peripheral has deleted its keys, they stay unencrypted until the two sides pair
    /// again.
    ///
    /// - Parameter user: The user of the central, who answers its questions.
    /// - Throws: ``TestCentralError`` with the code `pairingFailed` when either side refuses, or with
    ///   `notConnected` or `disconnected`.
    func pair(_ user: PairingUser) async throws

    /// Deletes the central's keys of the bond; the peripheral keeps its own.
    ///
    /// An encrypted connection stays encrypted.
    func forgetBond() async throws

    /// Replaces the central's keys with those that ``forgetBond()`` deleted last.
    ///
    /// Between the two calls, the central acts as an impostor: another device with the same address.
    func recallBond() async throws

    /// Discovers the services, characteristics and descriptors.
    func discover() async throws -> DiscoveredDatabase

    /// Returns the database that was discovered in this connection, and discovers it first if necessary.
    func knownDatabase() async throws -> DiscoveredDatabase

    /// Reads a value, or its part from an offset on, with exactly one request.
    ///
    /// - Parameters:
    ///   - handle: The handle of the attribute.
    ///   - offset: The first byte to read: 0 sends a Read Request, any other offset a Read Blob Request.
    /// - Returns: At most MTU - 1 bytes, the capacity of the packet.
    /// - Throws: `ATTError` when the peripheral refuses; ``TestCentralError`` otherwise.
    func read(_ handle: AttributeHandle, offset: Int) async throws -> [UInt8]

    /// Writes a value with exactly one Write Request and waits for the response.
    ///
    /// - Parameters:
    ///   - handle: The handle of the attribute.
    ///   - value: At most MTU - 3 bytes, the capacity of the packet.
    /// - Throws: `ATTError` when the peripheral refuses; ``TestCentralError`` otherwise.
    func write(_ handle: AttributeHandle, _ value: [UInt8]) async throws

    /// Writes a value with a Write Command, which has no response.
    func writeWithoutResponse(_ handle: AttributeHandle, _ value: [UInt8]) async throws

    /// Sends a part of a value that the peripheral queues until ``executePreparedWrites(commit:)``.
    ///
    /// - Parameters:
    ///   - handle: The handle of the attribute.
    ///   - value: At most MTU - 5 bytes, the capacity of the packet.
    ///   - offset: The offset of the part in the value.
    /// - Throws: `ATTError` when the peripheral refuses; ``TestCentralError`` otherwise.
    func prepareWrite(_ handle: AttributeHandle, _ value: [UInt8], offset: Int) async throws

    /// Asks the peripheral to write all prepared parts, or to discard them.
    func executePreparedWrites(commit: Bool) async throws

    /// Subscribes to a characteristic by writing its client characteristic configuration.
    ///
    /// - Parameters:
    ///   - handle: The value handle of the characteristic.
    ///   - kind: The kind of updates to subscribe to.
    /// - Throws: ``TestCentralError`` with the code `notFound` when the characteristic lacks this descriptor.
    func subscribe(_ handle: AttributeHandle, to kind: UpdateKind) async throws

    /// Ends the subscription to the characteristic with this value handle.
    func unsubscribe(_ handle: AttributeHandle) async throws

    /// Waits for the next notification or indication of the characteristic with this value handle.
    ///
    /// Received updates wait in order until the test takes them. Indications are confirmed as they arrive,
    /// unless ``setConfirmsIndications(_:)`` was called with `false`.
    ///
    /// - Throws: ``TestCentralError`` with the code `timedOut` when no update arrives within the central's
    ///   time limit, or with `disconnected`.
    func nextUpdate(of handle: AttributeHandle) async throws -> ReceivedUpdate

    /// Waits for the next notification or indication of any characteristic.
    ///
    /// Updates are returned in the order in which they arrived, without those that
    /// ``nextUpdate(of:)-(AttributeHandle)`` has returned.
    ///
    /// - Returns: The value handle of the characteristic, and the update.
    /// - Throws: The errors of ``nextUpdate(of:)-(AttributeHandle)``.
    func nextUpdate() async throws -> (characteristic: AttributeHandle, update: ReceivedUpdate)

    /// Sets whether the central confirms indications as they arrive, which is the default.
    ///
    /// While the central does not confirm, the peripheral waits for up to 30 seconds and sends one indication
    /// at a time. Passing `true` also confirms the indication that waits. A new connection may not keep the
    /// setting: set it in each connection that depends on it.
    ///
    /// - Throws: ``TestCentralError`` with the code `notConnected`.
    func setConfirmsIndications(_ confirms: Bool) async throws

    /// Confirms the indication that has arrived; has no effect when it is already confirmed.
    ///
    /// - Throws: ``TestCentralError`` with the code `notConnected`.
    func confirmIndication() async throws
}

extension TestCentral {
    /// Connects to the peripheral with the largest MTU, 517 bytes.
    ///
    /// - Throws: The errors of ``connect(mtu:encrypting:)``.
    public func connect() async throws {
        try await connect(mtu: 517)
    }

    /// Connects to the peripheral and encrypts the connection when the two sides are bonded.
    ///
    /// - Parameter mtu: The largest MTU that the central accepts, 23 to 517 bytes.
    /// - Throws: The errors of ``connect(mtu:encrypting:)``.
    public func connect(mtu: Int) async throws {
        try await connect(mtu: mtu, encrypting: true)
    }

    /// Discovers the database each time, for centrals that do not store it.
    public func knownDatabase() async throws -> DiscoveredDatabase {
        try await discover()
    }
}
