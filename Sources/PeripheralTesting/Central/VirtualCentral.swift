public import PeripheralCore
public import PeripheralKit
internal import Synchronization

/// A central without a radio, which talks to a peripheral in the same process.
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
/// It meets a GATT server that behaves as that of BlueZ: the stack's own services come first, values are cut
/// to the MTU, and what BlueZ refuses without asking the program is refused here. Its address is a random
/// static one until it changes it. It pairs when ``pair(_:)`` is called, and not by itself when an attribute asks for it.
///
/// ``writeWithoutResponse(_:_:)`` returns when the peripheral's handler has: on the air, nobody could tell. A write to
/// a `WriteStream` returns at once.
public final class VirtualCentral: TestCentral {
    /// The peripheral that is under test.
    public let peripheral: Peripheral

    /// The address under which the central comes, and under which the peripheral knows it until it bonds.
    ///
    /// Then it shows its lasting address: the first that it had, or ``PairingUser/identityAddress``.
    ///
    /// ``changeAddress()`` does not change that of a central with which the peripheral is bonded: it is known as before.
    public var address: DeviceAddress { state.withLock(\.address) }

    /// How long ``nextUpdate(of:)`` waits for an update.
    public let patience: Duration

    struct State {
        var address: DeviceAddress
        var connection: ConnectionID?
        var mtu = VirtualGATTServer.mtus.lowerBound
        /// Outlives the connection, for what has arrived in it.
        var inbox = UpdateInbox()
        var confirmsIndications = true
        var bond: BondKey?
        var forgottenBond: BondKey?
    }

    let server: VirtualGATTServer
    /// Its lasting address, which it shows when it bonds.
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

    /// Makes another central near the same peripheral, not yet connected.
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

    /// The size of the largest packet of the connection in bytes; 23 while there is none.
    public var mtu: Int {
        state.withLock { $0.mtu }
    }

    /// Listens for advertisements; returns at once with all that are on the air.
    public func scan() -> [ScanResult] {
        server.advertisements.map { advertisement in
            ScanResult(
                address: server.address,
                advertisingData: advertisement.advertisingData,
                scanResponse: advertisement.scanResponse,
                isConnectable: advertisement.isConnectable
            )
        }
    }

    /// Connects to the peripheral, and agrees on the MTU.
    ///
    /// Where a connection interrupts the advertising of a stack, as it does with Bluetooth 5 adapters, another
    /// central waits for it to come back, for as long as ``patience`` says.
    ///
    /// - Parameters:
    ///   - mtu: The largest packet that the central takes, 23 to 517 bytes; what is beyond is taken as the limit.
    ///   - encrypting: Whether a central that is bonded encrypts the connection at once.
    /// - Throws: ``TestCentralError`` with the code `notFound` when nothing connectable is on the air, or with
    ///   `alreadyConnected`.
    public func connect(mtu: Int, encrypting: Bool) async throws {
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
            // The other side may have ended the last connection.
            guard state.connection == nil || !state.inbox.isOpen else {
                throw TestCentralError(code: .alreadyConnected, message: "The central is connected already.")
            }
            let inbox = UpdateInbox()
            inbox.confirmsIndications = state.confirmsIndications
            let agreed = min(max(mtu, VirtualGATTServer.mtus.lowerBound), VirtualGATTServer.mtus.upperBound)
            state.connection = try server.connect(
                Central(address: state.address, mtu: agreed),
                key: encrypting ? state.bond : nil,
                over: inbox
            )
            state.inbox = inbox
            state.mtu = agreed
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
                        // Another central was quicker.
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

    /// Takes another address for the connections to come, unless the peripheral has a key by which it knows the central
    /// nevertheless.
    public func changeAddress() throws {
        try state.withLock { state in
            guard state.connection == nil || !state.inbox.isOpen else {
                throw TestCentralError(code: .alreadyConnected, message: "The central is connected.")
            }
            let isKnown = server.bondedCentrals.contains { $0.linkAddress == state.address }
            if !isKnown { state.address = server.makeCentralAddress() }
        }
    }

    /// Ends the connection; without effect when there is none.
    public func disconnect() {
        let connection = state.withLock { state in
            defer {
                state.connection = nil
                state.mtu = VirtualGATTServer.mtus.lowerBound
            }
            return state.connection
        }
        if let connection { server.disconnect(connection) }
    }

    /// Discovers the services, characteristics and descriptors.
    public func discover() async throws -> DiscoveredDatabase {
        try await requests.run { try await knownDatabase() }
    }

    /// The database as it is: a virtual central need not ask.
    public func knownDatabase() async throws -> DiscoveredDatabase {
        try server.discover(on: connection())
    }

    /// Reads a value, or its part from an offset on, by exactly one request.
    public func read(_ handle: AttributeHandle, offset: Int) async throws -> [UInt8] {
        let connection = try connection()
        return try await requests.run {
            try await server.read(handle, offset: offset, on: connection).get()
        }
    }

    /// Writes a value by exactly one Write Request, and waits for the response.
    public func write(_ handle: AttributeHandle, _ value: [UInt8]) async throws {
        let connection = try connection()
        try checkLength(of: value, header: 3)
        try await requests.run {
            try await server.write(handle, value, on: connection).get()
        }
    }

    /// Writes a value by a Write Command.
    ///
    /// Returns when the handler of the peripheral has returned, so that a test finds its effects. With a `WriteStream`
    /// it returns at once, also when the write has to wait for room, or finds none.
    public func writeWithoutResponse(_ handle: AttributeHandle, _ value: [UInt8]) async throws {
        let connection = try connection()
        try checkLength(of: value, header: 3)
        // Whatever comes of it, the central is not told.
        _ = try await server.write(handle, value, on: connection)
    }

    /// Has the peripheral keep a part of a value, until ``executePreparedWrites(commit:)``.
    public func prepareWrite(_ handle: AttributeHandle, _ value: [UInt8], offset: Int) async throws {
        let connection = try connection()
        try checkLength(of: value, header: 5)
        try await requests.run {
            try await server.prepareWrite(handle, value, offset: offset, on: connection).get()
        }
    }

    /// Has the peripheral write all prepared parts, or forget them.
    public func executePreparedWrites(commit: Bool) async throws {
        let connection = try connection()
        try await requests.run {
            try await server.executeWrites(commit: commit, on: connection).get()
        }
    }

    /// Subscribes to the characteristic with this value handle.
    public func subscribe(_ handle: AttributeHandle, to kind: UpdateKind) async throws {
        try await configure(handle, kind.configuration)
    }

    /// Ends the subscription to the characteristic with this value handle.
    public func unsubscribe(_ handle: AttributeHandle) async throws {
        try await configure(handle, 0)
    }

    private func configure(_ handle: AttributeHandle, _ configuration: UInt16) async throws {
        guard let characteristic = try await knownDatabase().characteristic(at: handle) else {
            throw TestCentralError(
                code: .notFound,
                message: "There is no characteristic at handle \(handle)."
            )
        }
        try await write(
            characteristic.handle(of: .clientCharacteristicConfiguration),
            configuration.gattBytes
        )
    }

    /// Waits for the next notification or indication of the characteristic with this value handle, for as long
    /// as ``patience`` says.
    public func nextUpdate(of handle: AttributeHandle) async throws -> ReceivedUpdate {
        try await nextArrival(of: handle).update
    }

    /// Waits for the next notification or indication of whatever characteristic, for as long as ``patience`` says.
    public func nextUpdate() async throws -> (characteristic: AttributeHandle, update: ReceivedUpdate) {
        try await nextArrival(of: nil)
    }

    private func nextArrival(of handle: AttributeHandle?) async throws -> UpdateInbox.Arrival {
        let inbox = state.withLock { $0.inbox }
        if let update = inbox.take(of: handle) { return update }
        _ = try connection()
        return try await withThrowingTaskGroup(of: UpdateInbox.Arrival?.self) { group in
            group.addTask { try await inbox.next(of: handle) }
            group.addTask { [clock, patience] in
                try await clock.sleep(for: patience)
                return nil
            }
            defer { group.cancelAll() }
            guard let update = try await group.next() ?? nil else {
                throw TestCentralError(
                    code: .timedOut,
                    message:
                        "No update of \(handle.map { "the characteristic at handle \($0)" } ?? "any characteristic") "
                        + "came within \(patience)."
                )
            }
            return update
        }
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
                message: "\(value.count) bytes do not fit into one packet, with an MTU of \(mtu)."
            )
        }
    }
}
