internal import CPeripheralDBus

/// A private libdbus connection, driven by an event loop.
///
/// `@unchecked Sendable`: the handle and all state are used on the loop's thread only. Calls come from the
/// actor ``BusConnection`` (whose executor is the loop), from the loop's own callbacks, and from
/// ``PendingReply``, which checks.
///
/// From `start` to `close`, libdbus holds a reference to the transport, and the transport holds one to its
/// owner.
@safe
final class Transport: @unchecked Sendable {
    /// The number of messages handled before the loop checks its other sources again.
    private static let messagesPerTurn = 128

    let loop: EventLoop
    private var handle: OpaquePointer?
    private var owner: BusConnection?
    private var watches: [UInt: LoopSource] = [:]
    /// Whether a caller waits for the outgoing queue to shrink.
    var isDrainAwaited = false
    private var isInsideLibrary = false
    private var isTurnQueued = false
    private var isClosing = false

    /// Opens the socket.
    ///
    /// Call it on the loop.
    init(address: String, on loop: EventLoop) throws(BusError) {
        precondition(loop.inLoop, "open a bus connection on its event loop")
        self.loop = loop
        var error = unsafe DBusError()
        unsafe dbus_error_init(&error)
        unsafe handle = dbus_connection_open_private(address, &error)
        guard unsafe handle != nil else {
            let reason = unsafe error.message.map { unsafe String(cString: $0) } ?? "unknown reason"
            unsafe dbus_error_free(&error)
            throw .connectionFailed(address: address, reason: reason)
        }
    }

    deinit {
        precondition(unsafe handle == nil, "close a bus connection before its last reference is released")
    }

    /// Whether messages can still be sent.
    var isConnected: Bool {
        guard let handle = unsafe handle else { return false }
        return unsafe dbus_connection_get_is_connected(handle) != 0
    }

    /// Whether the bus can transfer file descriptors.
    var passesFileDescriptors: Bool {
        guard let handle = unsafe handle else { return false }
        return unsafe dbus_connection_can_send_type(handle, TypeCode.fileDescriptor) != 0
    }

    /// The identifier of this run of the bus, or `nil` after the connection has ended.
    var serverID: String? {
        guard let handle = unsafe handle, let text = unsafe dbus_connection_get_server_id(handle) else {
            return nil
        }
        defer { unsafe dbus_free(text) }
        return unsafe String(cString: text)
    }

    /// The number of bytes that the bus has not read yet.
    var outgoingSize: Int {
        guard let handle = unsafe handle else { return 0 }
        return unsafe dbus_connection_get_outgoing_size(handle)
    }

    /// Sends a message, or drops it if the connection has ended.
    ///
    /// - Returns: The serial number that a reply refers to, or `nil` if the message was dropped.
    @discardableResult
    func send(_ message: OpaquePointer) -> UInt32? {
        guard let handle = unsafe handle else { return nil }
        var serial: dbus_uint32_t = 0
        guard unsafe dbus_connection_send(handle, message, &serial) != 0 else { return nil }
        // Sending may also write earlier messages, and no event reports that.
        if isDrainAwaited { owner?.assumeIsolated { $0.wakeFirstDrainWaiter() } }
        return serial
    }
}

// MARK: - Start and end

extension Transport {
    /// Starts to serve the socket and delivers messages to `owner`.
    func start(for owner: BusConnection) {
        guard let handle = unsafe handle else { return }
        self.owner = owner
        let data = unsafe Unmanaged.passRetained(self).toOpaque()
        unsafe dbus_connection_set_exit_on_disconnect(handle, 0)
        unsafe dbus_connection_set_dispatch_status_function(
            handle,
            { _, status, data in
                guard status == DBUS_DISPATCH_DATA_REMAINS, let data = unsafe data else { return }
                unsafe Transport.from(data).queueTurn()
            },
            data,
            nil
        )
        unsafe dbus_connection_set_watch_functions(
            handle,
            { watch, data in
                if let watch = unsafe watch, let data = unsafe data {
                    unsafe Transport.from(data).update(watch)
                }
                return 1
            },
            { watch, data in
                if let watch = unsafe watch, let data = unsafe data {
                    unsafe Transport.from(data).remove(watch)
                }
            },
            { watch, data in
                if let watch = unsafe watch, let data = unsafe data {
                    unsafe Transport.from(data).update(watch)
                }
            },
            data,
            nil
        )
    }

    /// Closes the socket immediately, or after the handler if a message handler calls it.
    func close() {
        guard let handle = unsafe handle else { return }
        guard !isInsideLibrary else {
            isClosing = true
            return
        }
        unsafe self.handle = nil
        let isStarted = owner != nil
        owner = nil
        unsafe dbus_connection_set_watch_functions(handle, nil, nil, nil, nil, nil)
        unsafe dbus_connection_set_dispatch_status_function(handle, nil, nil, nil)
        unsafe dbus_connection_close(handle)
        unsafe dbus_connection_unref(handle)
        if isStarted { unsafe Unmanaged.passUnretained(self).release() }
    }

    private static func from(_ data: UnsafeMutableRawPointer) -> Transport {
        unsafe Unmanaged<Transport>.fromOpaque(data).takeUnretainedValue()
    }
}

// MARK: - Watches

extension Transport {
    /// Watches a file descriptor for the events that libdbus requests.
    private func update(_ watch: OpaquePointer) {
        unsafe remove(watch)
        guard unsafe dbus_watch_get_enabled(watch) != 0 else { return }
        var events: FileDescriptorEvents = []
        let flags = unsafe dbus_watch_get_flags(watch)
        if flags & DBUS_WATCH_READABLE.rawValue != 0 { events.insert(.readable) }
        if flags & DBUS_WATCH_WRITABLE.rawValue != 0 { events.insert(.writable) }
        watches[UInt(bitPattern: watch)] = unsafe loop.watch(
            fileDescriptor: dbus_watch_get_unix_fd(watch),
            events: events
        ) { [self] events in
            unsafe handle(watch, events)
        }
    }

    private func remove(_ watch: OpaquePointer) {
        watches.removeValue(forKey: UInt(bitPattern: watch))?.cancel()
    }

    private func handle(_ watch: OpaquePointer, _ events: FileDescriptorEvents) {
        var flags: UInt32 = 0
        if events.contains(.readable) { flags |= DBUS_WATCH_READABLE.rawValue }
        if events.contains(.writable) { flags |= DBUS_WATCH_WRITABLE.rawValue }
        if events.contains(.error) { flags |= DBUS_WATCH_ERROR.rawValue }
        if events.contains(.hangUp) { flags |= DBUS_WATCH_HANGUP.rawValue }
        isInsideLibrary = true
        unsafe dbus_watch_handle(watch, flags)
        isInsideLibrary = false
        // Work that was queued before a message was sent runs before it, even if this thread has slept
        // meanwhile.
        if loop.hasPendingWork { queueTurn() } else { takeTurn() }
        if events.contains(.writable) { owner?.assumeIsolated { $0.wakeFirstDrainWaiter() } }
    }
}

// MARK: - Messages

extension Transport {
    /// Handles all received messages, up to a limit.
    ///
    /// Several are handled at once because a wake-up costs more than a message.
    ///
    /// The messages are taken from the queue directly. Dispatch by libdbus would also search its filters,
    /// pending calls and object tree, all of which exist in this module instead.
    private func takeTurn() {
        guard !isInsideLibrary, let owner, let handle = unsafe handle else { return }
        isInsideLibrary = true
        // The pointer does not leave this thread: the owner's executor is the loop that calls here.
        nonisolated(unsafe) let connection = unsafe handle
        owner.assumeIsolated { owner in
            var remaining = Self.messagesPerTurn
            while remaining > 0, !isClosing, let message = unsafe dbus_connection_pop_message(connection) {
                unsafe owner.receive(message)
                unsafe dbus_message_unref(message)
                remaining -= 1
            }
        }
        isInsideLibrary = false
        if isClosing { return close() }
        if unsafe dbus_connection_get_dispatch_status(handle) != DBUS_DISPATCH_COMPLETE { queueTurn() }
    }

    private func queueTurn() {
        guard !isInsideLibrary, !isTurnQueued else { return }
        isTurnQueued = true
        loop.execute { [self] in
            isTurnQueued = false
            takeTurn()
        }
    }
}
