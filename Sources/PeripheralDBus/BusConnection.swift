internal import CPeripheralDBus

/// A private connection to a message bus.
///
/// The connection is an actor of its event loop. Handlers of methods and signals run on the loop, in message
/// order and without a change of thread. It lives until ``close()`` is called or the connection to the bus is
/// lost.
@safe
package actor BusConnection {
    enum Phase {
        case opening
        case open
        case closed
        case lost
    }

    package nonisolated let loop: EventLoop
    let transport: Transport
    private(set) var phase = Phase.opening
    /// The name that the bus assigned to this connection.
    package internal(set) var uniqueName: BusName = ":0"

    var pendingCalls: [UInt32: PendingCall] = [:]
    var subscriptions: [SignalSubscription: Subscription] = [:]
    var watchedNames: [BusName: WatchedName] = [:]
    var drainWaiters: [DrainWaiter] = [] {
        didSet { transport.isDrainAwaited = !drainWaiters.isEmpty }
    }
    private var lossHandlers: [@Sendable () -> Void] = []
    private var lastIdentifier: UInt64 = 0
    let tree = ObjectTree()

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe loop.asUnownedSerialExecutor()
    }

    private init(transport: Transport) {
        loop = transport.loop
        self.transport = transport
    }

    /// Connects to a bus and registers with it.
    ///
    /// - Parameters:
    ///   - address: The address of the bus.
    ///   - loop: The loop that the connection runs on. It must run as long as the connection exists.
    ///   - timeout: The maximum time to wait for the bus to reply.
    /// - Returns: The connection, which has its unique name.
    /// - Throws: ``BusError/connectionFailed(address:reason:)`` when no bus replies or the bus refuses the
    ///   connection, or ``BusError/cancelled``.
    package static func connect(
        to address: BusAddress,
        on loop: EventLoop,
        timeout: Duration = .seconds(5)
    ) async throws(BusError) -> BusConnection {
        let text = address.text
        let opened = await withTaskExecutorPreference(loop) {
            Result { () throws(BusError) in BusConnection(transport: try Transport(address: text, on: loop)) }
        }
        let connection = try opened.get()
        do throws(BusError) {
            try await connection.greet(timeout: timeout)
        } catch {
            await connection.abandon()
            throw error == .cancelled
                ? .cancelled : .connectionFailed(address: text, reason: error.description)
        }
        return connection
    }

    private func greet(timeout: Duration) async throws(BusError) {
        transport.start(for: self)
        let answer = try await call(.bus, Self.busPath, Self.busInterface, "Hello", timeout: timeout)
        guard let name = answer.first?.string else {
            throw .signatureMismatch(expected: "s", found: answer.signature.text)
        }
        // The bus may be lost in the same turn in which its reply arrived.
        guard phase == .opening else { throw .disconnected }
        uniqueName = try BusName(name)
        phase = .open
    }

    func nextIdentifier() -> UInt64 {
        lastIdentifier += 1
        return lastIdentifier
    }

    static let busPath: ObjectPath = "/org/freedesktop/DBus"
    static let busInterface: InterfaceName = "org.freedesktop.DBus"
}

// MARK: - End

extension BusConnection {
    /// Runs `handler` on the loop once when the bus is lost.
    ///
    /// The handler runs exactly once, immediately if the bus is already lost. It never runs after
    /// ``close()``.
    package func onLoss(_ handler: @escaping @Sendable () -> Void) {
        switch phase {
        case .opening, .open: lossHandlers.append(handler)
        case .lost: handler()
        case .closed: break
        }
    }

    /// Whether the connection is established and has been neither lost nor closed.
    package var isOpen: Bool { phase == .open }

    /// The identifier of this run of the bus, or `nil` if the connection is lost or closed.
    package var serverID: String? { transport.serverID }

    /// Sends the queued messages and closes.
    ///
    /// The method waits at most one second for the bus to read them. Calls that wait for a reply fail with
    /// ``BusError/disconnected``.
    package func close() async {
        if phase == .open { try? await waitUntilOutgoing(isAtMost: 0, timeout: .seconds(1)) }
        end(as: .closed)
    }

    /// Closes immediately and drops the queued messages.
    package func abandon() {
        end(as: .closed)
    }

    func end(as end: Phase) {
        guard phase == .opening || phase == .open else { return }
        phase = end
        transport.close()
        let calls = pendingCalls.values
        pendingCalls = [:]
        subscriptions = [:]
        watchedNames = [:]
        tree.removeAll()
        for call in calls { call.finish(.failure(.disconnected)) }
        failDrainWaiters()
        let handlers = lossHandlers
        lossHandlers = []
        if end == .lost {
            for handler in handlers { handler() }
        }
    }
}

// MARK: - Messages

extension BusConnection {
    func receive(_ message: OpaquePointer) {
        switch unsafe dbus_message_get_type(message) {
        case DBUS_MESSAGE_TYPE_METHOD_CALL:
            unsafe tree.answer(message, on: transport)
        case DBUS_MESSAGE_TYPE_METHOD_RETURN, DBUS_MESSAGE_TYPE_ERROR:
            unsafe receiveAnswer(message)
        case DBUS_MESSAGE_TYPE_SIGNAL:
            // libdbus queues this signal itself when the socket is closed.
            if unsafe dbus_message_is_signal(message, DBUS_INTERFACE_LOCAL, "Disconnected") != 0,
                !transport.isConnected
            {
                return end(as: .lost)
            }
            unsafe receiveSignal(IncomingMessage(message))
        default:
            break
        }
    }
}

// MARK: - Exported objects

extension BusConnection {
    /// Exports an object on the bus.
    ///
    /// An object manager above it announces it with `InterfacesAdded`.
    ///
    /// - Throws: ``BusError/invalidValue(_:)`` when the path is already exported or a declaration is invalid.
    package func export(_ object: ExportedObject) throws(BusError) {
        guard phase == .open else { throw .disconnected }
        try tree.add(object)
        if let manager = tree.manager(of: object.path) {
            try emit(manager, .objectManager, "InterfacesAdded") { writer in
                writer.append(object.path)
                ObjectTree.appendInterfaces(of: object, to: &writer)
            }
        }
    }

    /// Removes an object from the bus.
    ///
    /// An object manager above it announces the removal with `InterfacesRemoved`.
    ///
    /// - Returns: `false` when there is no such object.
    @discardableResult
    package func withdraw(_ path: ObjectPath) -> Bool {
        guard let object = tree.remove(path) else { return false }
        if let manager = tree.manager(of: path) {
            // If the connection has ended, there is no receiver.
            try? emit(manager, .objectManager, "InterfacesRemoved") { writer in
                writer.append(path)
                writer.append(.strings(object.interfaces.map(\.name.text)))
            }
        }
        return true
    }

    /// Removes interfaces from an object, and the object with its last interface.
    ///
    /// An object manager above it announces the removal with `InterfacesRemoved`.
    package func withdraw(_ path: ObjectPath, _ interfaces: [InterfaceName]) {
        guard tree.remove(interfaces, from: path) else { return }
        if let manager = tree.manager(of: path) {
            // If the connection has ended, there is no receiver.
            try? emit(manager, .objectManager, "InterfacesRemoved") { writer in
                writer.append(path)
                writer.append(.strings(interfaces.map(\.text)))
            }
        }
    }

    /// Replaces the error messages for calls that match no object.
    package func wordRefusals(_ wording: @escaping CallMismatch.Wording) {
        tree.wording = wording
    }

    /// Adds `org.freedesktop.DBus.ObjectManager` to the object at `root`, which does not have to be exported.
    ///
    /// The object manager lists all objects below it, in the order of their export.
    ///
    /// - Parameters:
    ///   - root: The path of the object manager.
    ///   - objects: Objects to export before. The object manager does not announce them with
    ///     `InterfacesAdded`.
    /// - Throws: The errors of ``export(_:)``.
    package func exportObjectManager(at root: ObjectPath, of objects: [ExportedObject] = []) throws(BusError)
    {
        guard phase == .open else { throw .disconnected }
        for object in objects { try export(object) }
        tree.addManager(root)
    }

    /// Removes an object manager.
    ///
    /// The objects below it stay.
    package func withdrawObjectManager(at root: ObjectPath) {
        tree.removeManager(root)
    }
}
