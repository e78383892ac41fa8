public import PeripheralCore
public import PeripheralKit
internal import Synchronization

/// A central without a radio, for a peripheral in the same process.
///
/// ```swift
/// @Test func lampSwitches() async throws {
///     try await lamp.test { central in
///         try await central.write(power, true)
///         #expect(try await central.read(power) == true)
///     }
/// }
/// ```
///
/// The GATT server of the peripheral behaves like the GATT server of BlueZ. The services of the Bluetooth
/// stack precede the services of the program. The server truncates values to fit the MTU. Like BlueZ, the
/// server refuses some requests without calling the program.
///
/// The central has a random static address until a test calls ``changeAddress()``. The central pairs only
/// when a test calls ``pair(_:)``. If an attribute requires pairing, the central does not pair automatically.
///
/// The method ``writeWithoutResponse(_:_:)`` returns when the handler of the peripheral has returned. On a
/// real Bluetooth link, a write without response cannot wait for the handler of the peripheral. A write to a
/// `WriteStream` returns immediately.
public final class VirtualCentral: TestCentral {
    /// The peripheral under test.
    public let peripheral: Peripheral

    /// The Bluetooth address that the central uses for its connections.
    ///
    /// The peripheral identifies the central by ``address`` until the two sides bond. During bonding, the
    /// central sends its identity address to the peripheral. `PairingUser.identityAddress` sets the identity
    /// address. If `PairingUser.identityAddress` is `nil`, the identity address is the first address of the
    /// central.
    ///
    /// ``changeAddress()`` does not change the address of a bonded central, because the peripheral recognizes
    /// a bonded central regardless of its address.
    public var address: DeviceAddress { state.withLock(\.address) }

    /// The longest time that ``nextUpdate(of:)`` waits for an update.
    public let patience: Duration

    struct State {
        var address: DeviceAddress
        var connection: ConnectionID?
        var mtu = VirtualGATTServer.mtus.lowerBound
        /// Outlives the connection, so that the test can still read the received updates.
        var inbox = UpdateInbox()
        var confirmsIndications = true
        var bond: BondKey?
        var forgottenBond: BondKey?
    }

    let server: VirtualGATTServer
    /// The identity address, which the central reveals when it bonds.
    let identity: DeviceAddress
    private let clock: any Clock<Duration>
    let requests = RequestQueue()
    let state: Mutex<State>

    package init(
        of peripheral: Peripheral,
        on server: VirtualGATTServer,
        patience: Duration,
        clock: any Clock<Duration>
    ) {
        self.peripheral = peripheral
        self.server = server
        self.patience = patience
        self.clock = clock
        identity = server.makeCentralAddress()
        state = Mutex(State(address: identity))
    }

    /// Creates another central for the same peripheral.
    ///
    /// The new central is not connected yet.
    ///
    /// ```swift
    /// try await lamp.test { phone in
    ///     let tablet = phone.makeAnother()
    ///     try await tablet.connect(mtu: 23)
    ///     …
    /// }
    /// ```
    public func makeAnother() -> VirtualCentral {
        VirtualCentral(of: peripheral, on: server, patience: patience, clock: clock)
    }

    /// The MTU of the connection in bytes, or 23 if there is no connection.
    public var mtu: Int {
        state.withLock { $0.mtu }
    }

    /// Immediately returns all advertisements that are on the air.
    ///
    /// In memory, a peripheral still advertises after a central has connected. On the emulated Bluetooth 5
    /// adapter, a connection stops the advertisements. The result is then empty until they are registered
    /// again, or the connection ends.
    public func scan() -> [ScanResult] {
        server.advertisements.map { advertisement in
            ScanResult(
                address: server.address,
                advertisingData: advertisement.advertisingData,
                scanResponse: advertisement.scanResponse,
                isConnectable: advertisement.isConnectable,
                interval: advertisement.interval
            )
        }
    }

    /// Connects to the peripheral and negotiates the MTU.
    ///
    /// On some Bluetooth stacks, advertising pauses when a central connects. For example, BlueZ can pause
    /// advertising on a Bluetooth 5 adapter. If another central has caused a pause, the method waits until
    /// advertising resumes. The method waits no longer than ``patience``.
    ///
    /// - Parameters:
    ///   - mtu: The largest MTU that the central accepts, from 23 to 517 bytes.
    ///   - encrypting: Whether a bonded central encrypts the connection immediately after it connects.
    /// - Throws: `TestCentralError` with the code `invalidArgument` for another MTU, `notFound` when no
    ///   connectable advertisement is on the air, or `alreadyConnected` when the central is already
    ///   connected.
    public func connect(mtu: Int, encrypting: Bool) async throws {
        try VirtualGATTServer.check(mtu: mtu)
        do {
            try open(mtu: mtu, encrypting: encrypting)
        } catch let error as TestCentralError
            where error.code == .notFound && server.connectionsInterruptAdvertising
        {
            try await connectWhenAdvertised(mtu: mtu, encrypting: encrypting, otherwise: error)
        }
    }

    private func open(mtu: Int, encrypting: Bool) throws {
        try state.withLock { state in
            // The peripheral may have ended the last connection.
            guard state.connection == nil || !state.inbox.isOpen else {
                throw TestCentralError(code: .alreadyConnected, message: "The central is already connected.")
            }
            let inbox = UpdateInbox()
            inbox.confirmsIndications = state.confirmsIndications
            state.connection = try server.connect(
                Central(
                    address: state.address,
                    mtu: mtu,
                    connectionParameters: VirtualGATTServer.firstParameters
                ),
                key: encrypting ? state.bond : nil,
                over: inbox
            )
            state.inbox = inbox
            state.mtu = mtu
        }
    }

    private func connectWhenAdvertised(
        mtu: Int,
        encrypting: Bool,
        otherwise failure: TestCentralError
    ) async throws {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask { [self] in
                while true {
                    try await server.waitUntilConnectable()
                    do {
                        try open(mtu: mtu, encrypting: encrypting)
                        return true
                    } catch let error as TestCentralError where error.code == .notFound {
                        // Another central connected first.
                    }
                }
            }
            group.addTask { [clock, patience] in
                try await clock.sleep(for: patience)
                return false
            }
            defer { group.cancelAll() }
            guard try await group.next() == true else { throw failure }
        }
    }

    /// Changes the central's own address for later connections.
    ///
    /// The method does not change the address of a bonded central. A bonded peripheral recognizes the central
    /// by a key, not by an address.
    public func changeAddress() throws {
        try state.withLock { state in
            guard state.connection == nil || !state.inbox.isOpen else {
                throw TestCentralError(
                    code: .alreadyConnected,
                    message: "The address of a connected central cannot change. Disconnect the central first."
                )
            }
            let isKnown = server.bondedCentrals.contains { $0.linkAddress == state.address }
            if !isKnown { state.address = server.makeCentralAddress() }
        }
    }

    /// Ends the connection.
    ///
    /// The method has no effect without a connection.
    public func disconnect() {
        end(because: DisconnectionReason(code: 0x13))
    }

    /// Ends the connection for a reason that the peripheral receives.
    ///
    /// The method has no effect without a connection.
    ///
    /// - Parameter code: One of 0x05, 0x13, 0x14, 0x15, 0x1A, 0x29 and 0x3B (Core Specification, Vol 4,
    ///   Part E, 7.1.6).
    /// - Throws: `TestCentralError` with the code `failed` for all other reasons.
    public func disconnect(because code: UInt8) throws {
        guard [0x05, 0x13, 0x14, 0x15, 0x1A, 0x29, 0x3B].contains(code) else {
            throw TestCentralError(
                code: .failed,
                message: "A central cannot disconnect for the reason 0x\(String(code, radix: 16))."
            )
        }
        end(because: DisconnectionReason(code: code))
    }

    /// Changes the timing of the connection, as a central can at any time.
    ///
    /// A connection begins with an interval of 30 ms, a latency of 0, and a supervision timeout of 5 s.
    ///
    /// - Throws: `TestCentralError` with the code `notConnected`.
    public func changeConnectionParameters(to parameters: ConnectionParameters) throws {
        try server.change(connection(), to: parameters)
    }

    /// Sets whether the central accepts a timing that the peripheral prefers.
    ///
    /// At the beginning of a connection, the central accepts each timing, and chooses the longest interval.
    ///
    /// - Throws: `TestCentralError` with the code `notConnected`.
    public func setAcceptsConnectionParameters(_ accepts: Bool) throws {
        try server.setFlexible(accepts, on: connection())
    }

    /// Sets the strength of the central's signal in dBm, which is -50 at the beginning of a connection.
    ///
    /// - Throws: `TestCentralError` with the code `notConnected`.
    public func setSignalStrength(_ strength: Int) throws {
        try server.setSignalStrength(strength, on: connection())
    }

    /// Ends the connection like a central that is suddenly out of range.
    ///
    /// The peripheral notices the loss immediately. On a real Bluetooth link, the peripheral notices the loss
    /// after the supervision timeout of the link.
    public func loseConnection() {
        end(because: DisconnectionReason(code: 0x08))
    }

    private func end(because reason: DisconnectionReason) {
        let connection = state.withLock { state in
            defer {
                state.connection = nil
                state.mtu = VirtualGATTServer.mtus.lowerBound
            }
            return state.connection
        }
        if let connection { server.disconnect(connection, because: reason) }
    }

    /// Discovers the services, characteristics and descriptors of the peripheral.
    public func discover() async throws -> DiscoveredDatabase {
        try await requests.run { try await knownDatabase() }
    }

    /// Returns the current database of the peripheral.
    ///
    /// A virtual central obtains the database without sending ATT requests.
    public func knownDatabase() async throws -> DiscoveredDatabase {
        try server.discover(on: connection())
    }

    /// Reads a value starting at an offset, with exactly one request.
    public func read(_ handle: AttributeHandle, offset: Int) async throws -> [UInt8] {
        let connection = try connection()
        return try await requests.run {
            try await server.read(handle, offset: offset, on: connection).get()
        }
    }

    /// Writes a value with exactly one Write Request and waits for the response.
    public func write(_ handle: AttributeHandle, _ value: [UInt8]) async throws {
        let connection = try connection()
        try checkLength(of: value, header: 3)
        try await requests.run {
            try await server.write(handle, value, on: connection).get()
        }
    }

    /// Writes a value with a Write Command.
    ///
    /// The method returns when the handler of the peripheral has returned. After the call, a test can check
    /// the effects of the handler. A write to a `WriteStream` returns immediately, even if the stream delays
    /// or drops the value.
    public func writeWithoutResponse(_ handle: AttributeHandle, _ value: [UInt8]) async throws {
        let connection = try connection()
        try checkLength(of: value, header: 3)
        // A command has no response, so the result is ignored.
        _ = try await server.write(handle, value, on: connection)
    }

    /// Sends a part of a value to the peripheral.
    ///
    /// The peripheral queues the part until ``executePreparedWrites(commit:)`` is called.
    public func prepareWrite(_ handle: AttributeHandle, _ value: [UInt8], offset: Int) async throws {
        let connection = try connection()
        try checkLength(of: value, header: 5)
        try await requests.run {
            try await server.prepareWrite(handle, value, offset: offset, on: connection).get()
        }
    }

    /// Asks the peripheral to write or to discard all prepared parts.
    public func executePreparedWrites(commit: Bool) async throws {
        let connection = try connection()
        try await requests.run {
            try await server.executeWrites(commit: commit, on: connection).get()
        }
    }

    /// Subscribes to the characteristic with the given value handle.
    public func subscribe(_ handle: AttributeHandle, to kind: UpdateKind) async throws {
        try await configure(handle, kind.configuration)
    }

    /// Ends the subscription to the characteristic with the given value handle.
    public func unsubscribe(_ handle: AttributeHandle) async throws {
        try await configure(handle, 0)
    }

    private func configure(_ handle: AttributeHandle, _ configuration: UInt16) async throws {
        guard let characteristic = try await knownDatabase().characteristic(at: handle) else {
            throw TestCentralError(
                code: .notFound,
                message: "The database has no characteristic with the value handle \(handle)."
            )
        }
        try await write(
            characteristic.handle(of: .clientCharacteristicConfiguration),
            configuration.gattBytes
        )
    }

    /// Waits up to ``patience`` for the next update of a characteristic.
    ///
    /// The value handle identifies the characteristic. If no update has arrived, and the central has not
    /// subscribed to the characteristic, the method throws an error immediately.
    public func nextUpdate(of handle: AttributeHandle) async throws -> ReceivedUpdate {
        try await nextArrival(of: handle).update
    }

    /// Waits up to ``patience`` for the next update of any characteristic.
    ///
    /// If no update has arrived, and the central has no subscription, the method throws an error immediately.
    public func nextUpdate() async throws -> (characteristic: AttributeHandle, update: ReceivedUpdate) {
        try await nextArrival(of: nil)
    }

    private func nextArrival(of handle: AttributeHandle?) async throws -> UpdateInbox.Arrival {
        let inbox = state.withLock { $0.inbox }
        if let update = inbox.take(of: handle) { return update }
        let connection = try connection()
        if let subscribed = server.subscribedHandles(on: connection),
            handle.map({ !subscribed.contains($0) }) ?? subscribed.isEmpty
        {
            // An update may have arrived just before the subscription ended.
            if let update = inbox.take(of: handle) { return update }
            throw TestCentralError.notSubscribed(to: handle, in: try server.discover(on: connection))
        }
        return try await withPatience("No update of \(name(of: handle)) arrived") {
            try await inbox.next(of: handle)
        }
    }

    /// Waits for the work, up to ``patience``.
    ///
    /// - Throws: The error of the work, or `TestCentralError` with the code `timedOut`.
    func withPatience<Output: Sendable>(
        _ failure: @autoclosure () -> String,
        _ work: @escaping @Sendable () async throws -> Output
    ) async throws -> Output {
        try await withThrowingTaskGroup(of: Output?.self) { group in
            group.addTask { try await work() }
            group.addTask { [clock, patience] in
                try await clock.sleep(for: patience)
                return nil
            }
            defer { group.cancelAll() }
            guard let output = try await group.next() ?? nil else {
                throw TestCentralError(code: .timedOut, message: "\(failure()) within \(patience).")
            }
            return output
        }
    }

    private func name(of handle: AttributeHandle?) -> String {
        guard let handle else { return "any characteristic" }
        let database = try? server.discover(on: connection())
        return database?.name(ofCharacteristicAt: handle) ?? "the characteristic at handle \(handle)"
    }

    func connection() throws(TestCentralError) -> ConnectionID {
        guard let connection = state.withLock({ $0.connection }) else {
            throw TestCentralError(code: .notConnected, message: "The central is not connected.")
        }
        return connection
    }

    private func checkLength(of value: [UInt8], header: Int) throws(TestCentralError) {
        guard value.count <= mtu - header else {
            throw TestCentralError(
                code: .invalidArgument,
                message: "The MTU of \(mtu) bytes is too small for a value of \(value.count) bytes."
            )
        }
    }
}
