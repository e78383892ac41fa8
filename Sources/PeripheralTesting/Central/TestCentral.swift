public import PeripheralCore
public import PeripheralKit

/// A central that a test drives: the same, whatever connects it to the peripheral.
///
/// ``VirtualCentral`` is the one without a radio. The operations of this protocol are those of the Attribute
/// Protocol, on handles. The ones to use in a test stand on top of them, take a `Characteristic` of the
/// declaration and speak in its values: ``read(_:)``, ``write(_:_:)``, ``nextUpdate(of:)``.
///
/// Operations that the peripheral refuses throw its `ATTError`; those that cannot be completed otherwise throw
/// a ``TestCentralError``. A central has one request under way at a time: further ones wait their turn.
public protocol TestCentral: Sendable {
    /// The peripheral that is under test, which tells where a `Characteristic` stands in the database.
    var peripheral: Peripheral { get }

    /// Makes another central near the same peripheral, with an address of its own, not yet connected.
    func makeAnother() async throws -> Self

    /// The size of the largest packet of the connection in bytes; 23 while there is none.
    var mtu: Int { get async throws }

    /// Listens for advertisements.
    ///
    /// - Returns: What is on the air, one result for each advertisement.
    func scan() async throws -> [ScanResult]

    /// Connects to the peripheral, and agrees on the MTU.
    ///
    /// - Parameters:
    ///   - mtu: The largest packet that the central takes, 23 to 517 bytes.
    ///   - encrypting: Whether a central that is bonded encrypts the connection at once, as all do that mean well.
    /// - Throws: ``TestCentralError`` with the code `notFound` when nothing connectable is on the air, or with
    ///   `alreadyConnected`.
    func connect(mtu: Int, encrypting: Bool) async throws

    /// Encrypts the connection with the keys that the central has kept from a bond.
    ///
    /// - Throws: ``TestCentralError`` with the code `pairingFailed` when one of the two has no such keys, or with
    ///   `notConnected` or `disconnected`.
    func encrypt() async throws

    /// Ends the connection, and with it the central's subscriptions and prepared writes.
    ///
    /// It does not wait for a request that is under way, which throws a ``TestCentralError`` with the code
    /// `disconnected`.
    func disconnect() async throws

    /// Takes another resolvable private address for the connections to come, as phones do every quarter of an hour.
    ///
    /// A peripheral that is bonded with the central knows it by any of them, by the key that it got with the bond. To
    /// every other peripheral, it is a central that was never there.
    ///
    /// - Throws: ``TestCentralError`` with the code `alreadyConnected`: a connection keeps its addresses.
    func changeAddress() async throws

    /// Pairs with the peripheral, in the connection that there is, and encrypts it.
    ///
    /// When both sides bond, later connections of this central are encrypted without pairing again, as soon as
    /// they are made. Where the peripheral has dropped its keys, they stay unencrypted until the two pair anew.
    ///
    /// - Parameter user: Who stands before the central, and answers its questions.
    /// - Throws: ``TestCentralError`` with the code `pairingFailed` when either side declines, or with
    ///   `notConnected` or `disconnected`.
    func pair(_ user: PairingUser) async throws

    /// Drops the keys that the central has kept; the peripheral keeps its own.
    ///
    /// It does not change a connection that is encrypted already.
    func forgetBond() async throws

    /// Has again the keys that ``forgetBond()`` dropped last, in place of those that it has.
    ///
    /// Between the two, the central is an impostor: another device with the same address.
    func recallBond() async throws

    /// Discovers the services, characteristics and descriptors.
    func discover() async throws -> DiscoveredDatabase

    /// What was discovered in this connection; discovers when nothing was yet.
    func knownDatabase() async throws -> DiscoveredDatabase

    /// Reads a value, or its part from an offset on, by exactly one request.
    ///
    /// - Parameters:
    ///   - handle: The attribute.
    ///   - offset: Where to begin: 0 makes a Read Request, anything else a Read Blob Request.
    /// - Returns: At most as many bytes as fit into the packet, the MTU less 1.
    /// - Throws: `ATTError` when the peripheral refuses; ``TestCentralError`` otherwise.
    func read(_ handle: AttributeHandle, offset: Int) async throws -> [UInt8]

    /// Writes a value by exactly one Write Request, and waits for the response.
    ///
    /// - Parameters:
    ///   - handle: The attribute.
    ///   - value: At most as many bytes as fit into the packet, the MTU less 3.
    /// - Throws: `ATTError` when the peripheral refuses; ``TestCentralError`` otherwise.
    func write(_ handle: AttributeHandle, _ value: [UInt8]) async throws

    /// Writes a value by a Write Command, to which there is no response.
    func writeWithoutResponse(_ handle: AttributeHandle, _ value: [UInt8]) async throws

    /// Has the peripheral keep a part of a value, until ``executePreparedWrites(commit:)``.
    ///
    /// - Parameters:
    ///   - handle: The attribute.
    ///   - value: At most as many bytes as fit into the packet, the MTU less 5.
    ///   - offset: Where the part begins.
    /// - Throws: `ATTError` when the peripheral refuses; ``TestCentralError`` otherwise.
    func prepareWrite(_ handle: AttributeHandle, _ value: [UInt8], offset: Int) async throws

    /// Has the peripheral write all prepared parts, or forget them.
    func executePreparedWrites(commit: Bool) async throws

    /// Subscribes to a characteristic, by writing its client characteristic configuration.
    ///
    /// - Parameters:
    ///   - handle: The value handle of the characteristic.
    ///   - kind: What to ask for.
    /// - Throws: ``TestCentralError`` with the code `notFound` when the characteristic has no such descriptor.
    func subscribe(_ handle: AttributeHandle, to kind: UpdateKind) async throws

    /// Ends the subscription to the characteristic with this value handle.
    func unsubscribe(_ handle: AttributeHandle) async throws

    /// Waits for the next notification or indication of the characteristic with this value handle.
    ///
    /// Updates are kept in their order until they are asked for. Indications are confirmed as they arrive, unless
    /// ``setConfirmsIndications(_:)`` says otherwise.
    ///
    /// - Throws: ``TestCentralError`` with the code `timedOut` when nothing comes within the time that the
    ///   central allows, or `disconnected`.
    func nextUpdate(of handle: AttributeHandle) async throws -> ReceivedUpdate

    /// Waits for the next notification or indication of whatever characteristic: in the order in which they have come,
    /// without those that ``nextUpdate(of:)-(AttributeHandle)`` has given.
    ///
    /// - Returns: The value handle of the characteristic, and what has come.
    /// - Throws: As ``nextUpdate(of:)-(AttributeHandle)``.
    func nextUpdate() async throws -> (characteristic: AttributeHandle, update: ReceivedUpdate)

    /// Has the central confirm indications as they arrive, as it does at first, or not.
    ///
    /// A central that does not leaves the peripheral waiting, for 30 seconds at most, and gets one indication at a
    /// time. When it is to confirm again, it confirms what waits. Say it in each connection, where it matters.
    ///
    /// - Throws: ``TestCentralError`` with the code `notConnected`.
    func setConfirmsIndications(_ confirms: Bool) async throws

    /// Confirms the indication that has arrived; without effect when it is confirmed.
    ///
    /// - Throws: ``TestCentralError`` with the code `notConnected`.
    func confirmIndication() async throws
}

extension TestCentral {
    /// Connects to the peripheral with the largest MTU, 517.
    ///
    /// - Throws: As ``connect(mtu:encrypting:)`` does.
    public func connect() async throws {
        try await connect(mtu: 517)
    }

    /// Connects to the peripheral, and encrypts the connection when the two are bonded.
    ///
    /// - Parameter mtu: The largest packet that the central takes, 23 to 517 bytes.
    /// - Throws: As ``connect(mtu:encrypting:)`` does.
    public func connect(mtu: Int) async throws {
        try await connect(mtu: mtu, encrypting: true)
    }

    /// Discovers anew each time; for centrals that do not remember.
    public func knownDatabase() async throws -> DiscoveredDatabase {
        try await discover()
    }
}
