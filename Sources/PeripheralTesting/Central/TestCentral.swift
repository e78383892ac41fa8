public import PeripheralCore
public import PeripheralKit

/// A central that a test controls.
///
/// The operations of a `TestCentral` are the same on every backend.
///
/// ``VirtualCentral`` is an implementation without a radio.
///
/// An implementation of `TestCentral` provides the operations of the Attribute Protocol (ATT). The ATT
/// operations identify an attribute by its handle. Most tests use methods that accept a declared
/// `Characteristic`, such as ``read(_:)``, ``write(_:_:)`` and ``nextUpdate(of:)``.
///
/// If the peripheral refuses an operation, the operation throws an `ATTError`. If an operation fails for
/// another reason, the operation throws a `TestCentralError`.
///
/// A central sends one request at a time. The next request waits until the central has received the response
/// to the previous request.
public protocol TestCentral: Sendable {
    /// The peripheral under test.
    ///
    /// The declaration of the peripheral determines the position of each `Characteristic` in the database.
    var peripheral: Peripheral { get }

    /// Creates another central for the same peripheral.
    ///
    /// The new central has a different address and is not connected yet.
    func makeAnother() async throws -> Self

    /// The MTU of the connection in bytes, or 23 without a connection.
    var mtu: Int { get async throws }

    /// Listens for advertisements.
    ///
    /// - Returns: One result for each advertisement on the air.
    func scan() async throws -> [ScanResult]

    /// Connects to the peripheral and negotiates the MTU.
    ///
    /// - Parameters:
    ///   - mtu: The largest MTU that the central accepts, from 23 to 517 bytes.
    ///   - encrypting: Whether a bonded central encrypts the connection immediately after it connects.
    /// - Throws: `TestCentralError` with the code `notFound` when no connectable advertisement is on the air,
    ///   or with the code `alreadyConnected` when the central is already connected.
    func connect(mtu: Int, encrypting: Bool) async throws

    /// Encrypts the connection with the keys of the central's bond.
    ///
    /// - Throws: `TestCentralError` with the code `pairingFailed` when either side has no keys, with
    ///   `notConnected` when there is no connection, or with `disconnected` when the connection ends.
    func encrypt() async throws

    /// Ends the connection.
    ///
    /// The end of the connection also ends the subscriptions and prepared writes of the central.
    ///
    /// The method does not wait for a pending request. A pending request throws a `TestCentralError` with
    /// the code `disconnected`.
    func disconnect() async throws

    /// Ends the connection for a reason that the peripheral receives.
    ///
    /// ``disconnect()`` has the reason 0x13: the user of the central has ended the connection.
    ///
    /// - Parameter code: One of 0x05, 0x13, 0x14, 0x15, 0x1A, 0x29 and 0x3B (Core Specification, Vol 4,
    ///   Part E, 7.1.6).
    /// - Throws: `TestCentralError` with the code `failed` if the central cannot have this reason.
    func disconnect(because code: UInt8) async throws

    /// Ends the connection like a central that is suddenly out of range.
    ///
    /// The method returns when the central no longer has the connection. The peripheral may notice the loss
    /// later.
    ///
    /// - Throws: The default implementation throws a `TestCentralError` with the code `failed`.
    func loseConnection() async throws

    /// Changes the resolvable private address that the central uses for later connections.
    ///
    /// For example, an iPhone changes its address every 15 minutes.
    ///
    /// A bonded peripheral received a key of the central during bonding. With the key of the central, the
    /// peripheral recognizes every later address of the central. A peripheral without a bond does not
    /// recognize the central under a new address.
    ///
    /// - Throws: `TestCentralError` with the code `alreadyConnected` if the central is connected. The
    ///   addresses of a connection cannot change.
    func changeAddress() async throws

    /// Pairs with the connected peripheral and encrypts the connection.
    ///
    /// If both sides bond, the central encrypts later connections immediately, without another pairing. If
    /// the peripheral has deleted its keys, later connections stay unencrypted until the two sides pair
    /// again.
    ///
    /// - Parameter user: The user of the central, who answers the pairing questions. Only a
    ///   ``VirtualCentral`` supports `PairingUser.enteringDisplayedPasskey`.
    /// - Throws: `TestCentralError` with the code `pairingFailed` when either side refuses, with
    ///   `notConnected` when there is no connection, or with `disconnected` when the connection ends. A
    ///   central that cannot read the display of the peripheral throws `failed` for a user whose
    ///   `entersDisplayedPasskey` is `true`.
    func pair(_ user: PairingUser) async throws

    /// Deletes the central's bond keys.
    ///
    /// The peripheral keeps its bond keys. An encrypted connection stays encrypted.
    func forgetBond() async throws

    /// Replaces the central's keys with the keys that the last call to ``forgetBond()`` deleted.
    ///
    /// Between ``forgetBond()`` and ``recallBond()``, the central behaves like an impostor. An impostor is
    /// another device with the same address.
    func recallBond() async throws

    /// Discovers the services, characteristics and descriptors of the peripheral.
    func discover() async throws -> DiscoveredDatabase

    /// Returns the discovered database of the peripheral.
    ///
    /// If the central has not yet discovered the database in the current connection, the method discovers the
    /// database.
    func knownDatabase() async throws -> DiscoveredDatabase

    /// Reads a value starting at an offset, with exactly one request.
    ///
    /// - Parameters:
    ///   - handle: The handle of the attribute.
    ///   - offset: The offset of the first byte to read. For the offset 0, the central sends a Read Request.
    ///     For any other offset, the central sends a Read Blob Request.
    /// - Returns: At most MTU - 1 bytes, the capacity of the packet.
    /// - Throws: `ATTError` when the peripheral refuses the request, or `TestCentralError` for any other
    ///   failure.
    func read(_ handle: AttributeHandle, offset: Int) async throws -> [UInt8]

    /// Writes a value with exactly one Write Request and waits for the response.
    ///
    /// - Parameters:
    ///   - handle: The handle of the attribute.
    ///   - value: At most MTU - 3 bytes, the capacity of the packet.
    /// - Throws: `ATTError` when the peripheral refuses the request, or `TestCentralError` for any other
    ///   failure.
    func write(_ handle: AttributeHandle, _ value: [UInt8]) async throws

    /// Writes a value with a Write Command, which has no response.
    func writeWithoutResponse(_ handle: AttributeHandle, _ value: [UInt8]) async throws

    /// Sends a part of a value to the peripheral.
    ///
    /// The peripheral queues the part until ``executePreparedWrites(commit:)`` is called.
    ///
    /// - Parameters:
    ///   - handle: The handle of the attribute.
    ///   - value: At most MTU - 5 bytes, the capacity of the packet.
    ///   - offset: The offset of the part in the value.
    /// - Throws: `ATTError` when the peripheral refuses the request, or `TestCentralError` for any other
    ///   failure.
    func prepareWrite(_ handle: AttributeHandle, _ value: [UInt8], offset: Int) async throws

    /// Asks the peripheral to write or to discard all prepared parts.
    func executePreparedWrites(commit: Bool) async throws

    /// Subscribes to a characteristic by writing its client characteristic configuration.
    ///
    /// - Parameters:
    ///   - handle: The value handle of the characteristic.
    ///   - kind: The kind of updates to subscribe to.
    /// - Throws: `TestCentralError` with the code `notFound` when the characteristic has no client
    ///   characteristic configuration.
    func subscribe(_ handle: AttributeHandle, to kind: UpdateKind) async throws

    /// Ends the subscription to the characteristic with the given value handle.
    func unsubscribe(_ handle: AttributeHandle) async throws

    /// Waits for the next notification or indication of the characteristic with the given value handle.
    ///
    /// Received updates wait in the order of arrival until the test reads them. The central confirms each
    /// indication when it arrives, unless ``setConfirmsIndications(_:)`` was called with `false`.
    ///
    /// An update that has arrived is returned even after the subscription or the connection has ended.
    ///
    /// - Throws: `TestCentralError` with one of these codes:
    ///   - `notSubscribed`, immediately, when no update has arrived and the central has not subscribed
    ///   - `timedOut` when no update arrives within the central's time limit
    ///   - `disconnected` when the connection ends
    func nextUpdate(of handle: AttributeHandle) async throws -> ReceivedUpdate

    /// Waits for the next notification or indication of any characteristic.
    ///
    /// The method returns updates in the order of arrival. The method skips updates that
    /// ``nextUpdate(of:)-(AttributeHandle)`` has already returned.
    ///
    /// - Returns: The value handle of the characteristic, and the update.
    /// - Throws: Any error that ``nextUpdate(of:)-(AttributeHandle)`` throws.
    func nextUpdate() async throws -> (characteristic: AttributeHandle, update: ReceivedUpdate)

    /// Sets whether the central confirms each indication when it arrives.
    ///
    /// The default is `true`. If the setting is `false`, the peripheral sends one indication and waits up to
    /// 30 seconds for the confirmation. A call with `true` also confirms a pending indication. A new
    /// connection might not keep the setting. Therefore, call this method in each connection that depends on
    /// the setting.
    ///
    /// - Throws: `TestCentralError` with the code `notConnected`.
    func setConfirmsIndications(_ confirms: Bool) async throws

    /// Confirms the received indication.
    ///
    /// The method has no effect if the central has already confirmed the indication.
    ///
    /// - Throws: `TestCentralError` with the code `notConnected`.
    func confirmIndication() async throws

    /// Opens an L2CAP channel to the peripheral.
    ///
    /// A central can open several channels with one PSM. If a limit of the listener is reached, the channel
    /// opens, and ends at once.
    ///
    /// - Parameters:
    ///   - psm: The number of the listener, which a peripheral usually publishes in a characteristic.
    ///   - mtu: The longest packet that the central receives, from 23 to 65,535 bytes.
    /// - Returns: The central's end of the channel.
    /// - Throws: `ChannelRefusal` when the peripheral refuses the channel. `TestCentralError` with the code
    ///   `notConnected` when there is no connection, `invalidArgument` for another MTU, or `disconnected`
    ///   when the connection ends. The default implementation throws `failed`.
    func openChannel(psm: UInt16, mtu: Int) async throws -> any TestChannel
}

extension TestCentral {
    /// Connects to the peripheral with the largest MTU, 517 bytes.
    ///
    /// - Throws: Any error that ``connect(mtu:encrypting:)`` throws.
    public func connect() async throws {
        try await connect(mtu: 517)
    }

    /// Connects to the peripheral, and encrypts the connection if both sides have bond keys.
    ///
    /// - Parameter mtu: The largest MTU that the central accepts, from 23 to 517 bytes.
    /// - Throws: Any error that ``connect(mtu:encrypting:)`` throws.
    public func connect(mtu: Int) async throws {
        try await connect(mtu: mtu, encrypting: true)
    }

    /// Throws a `TestCentralError`, because this central cannot choose the reason.
    public func disconnect(because code: UInt8) async throws {
        throw TestCentralError(code: .failed, message: "This central cannot choose why it disconnects.")
    }

    /// Throws a `TestCentralError`, because this central cannot disappear.
    public func loseConnection() async throws {
        throw TestCentralError(code: .failed, message: "This central cannot lose its connection.")
    }

    /// Opens an L2CAP channel with an MTU of 2,048 bytes for the packets of the peripheral.
    ///
    /// - Throws: Any error that ``openChannel(psm:mtu:)`` throws.
    public func openChannel(psm: UInt16) async throws -> any TestChannel {
        try await openChannel(psm: psm, mtu: 2048)
    }

    /// Throws a `TestCentralError`, because this central cannot open channels.
    public func openChannel(psm: UInt16, mtu: Int) async throws -> any TestChannel {
        throw TestCentralError(code: .failed, message: "This central cannot open L2CAP channels.")
    }

    /// Discovers the database on each call.
    ///
    /// This default implementation is for centrals that do not store the database.
    public func knownDatabase() async throws -> DiscoveredDatabase {
        try await discover()
    }
}
