internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit
internal import PeripheralTesting

/// The channels between bluetoothd and an application, except for requests.
///
/// The channels are the application's sockets, and the calls that report subscriptions. The actor runs on the
/// event loop. It follows the rules of BlueZ's gatt-database.c, including the defects.
actor ApplicationChannels {
    /// The centrals that share a socket for notifications, which depend on the version.
    enum Sharing {
        /// All centrals share one socket for notifications.
        case one
        /// Each central has a separate socket. If the program writes a value to one of the sockets,
        /// bluetoothd sends the value to all centrals.
        case eachForAll
        /// Each central has a separate socket.
        case each

        init(_ version: BlueZVersion) {
            if version < BlueZVersion(major: 5, minor: 69) {
                self = .one
            } else if version < BlueZVersion(major: 5, minor: 76) {
                self = .eachForAll
            } else {
                self = .each
            }
        }
    }

    struct Channel {
        let central: Central
        let socket: AcquiredSocket
    }

    /// The channels of one characteristic.
    struct Characteristic {
        /// bluetoothd's count of the subscriptions.
        var count = 0
        var notify: [Channel] = []
        var write: [Channel] = []
        /// The writes that wait for the socket that the first of these writes has requested.
        var pendingWrites: [PendingWrite] = []
        /// Whether bluetoothd waits for a socket that never arrives.
        var isStuck = false
    }

    struct PendingWrite {
        var value: [UInt8]
        var continuation: CheckedContinuation<WriteOutcome, Never>
    }

    /// The outcome of a write.
    enum WriteOutcome: Sendable {
        /// bluetoothd has sent the write through a socket, or has refused the write.
        ///
        /// bluetoothd does not call `WriteValue` for the write.
        case done(Result<Void, ATTError>)
        /// bluetoothd must pass the write to the program through a call to `WriteValue`.
        case call
    }

    let remote: RemoteObjects
    let sharing: Sharing
    let server: VirtualGATTServer
    private(set) var application: ApplicationID?
    var characteristics: [AttributeHandle: Characteristic] = [:]
    /// The pending calls of `AcquireNotify`, each with the central that has subscribed.
    var acquisitions: [Int: DeviceAddress] = [:]
    /// The characteristics without subscribers for which `StopNotify` is not yet called.
    var stopped: [AttributeHandle] = []
    let tasks: LoopTasks
    let crash: @Sendable () -> Void
    private var isWithdrawn = false
    /// The services that were removed from the database.
    private var removed: [ClosedRange<AttributeHandle>] = []
    private var lastNumber = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe remote.connection.loop.asUnownedSerialExecutor()
    }

    init(
        _ remote: RemoteObjects,
        server: VirtualGATTServer,
        tasks: LoopTasks,
        crash: @escaping @Sendable () -> Void
    ) {
        self.crash = crash
        self.remote = remote
        self.server = server
        self.tasks = tasks
        sharing = Sharing(remote.version)
    }

    func makeNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    /// Starts after the services were added to the database.
    func begin(_ application: ApplicationID) {
        self.application = application
    }

    /// Handles the disconnection of a central.
    func disconnected(_ central: DeviceAddress) {
        acquisitions = acquisitions.filter { $0.value != central }
        guard sharing != .one else { return }
        for handle in characteristics.keys {
            characteristics[handle]?.close(\.notify) { $0.central.linkAddress == central }
            characteristics[handle]?.close(\.write) { $0.central.linkAddress == central }
        }
    }

    /// Handles the end of the program, or the withdrawal of its services.
    func withdraw() {
        isWithdrawn = true
        end()
    }

    /// Runs the body when an indication is no longer awaited.
    ///
    /// The body runs after all work that is already queued on the loop. At that time, bluetoothd uses memory
    /// that it freed with the application (`conf_cb` and `sock_io_conf` in gatt-database.c).
    nonisolated func afterIndication(
        of characteristic: AttributeHandle,
        _ body: @escaping @Sendable (isolated ApplicationChannels) -> Void
    ) {
        remote.connection.loop.execute {
            self.assumeIsolated { channels in
                channels.isRemoved(characteristic) ? channels.crash() : body(channels)
            }
        }
    }

    /// Returns whether a characteristic was removed from the database.
    func isRemoved(_ characteristic: AttributeHandle) -> Bool {
        isWithdrawn || removed.contains { $0.contains(characteristic) }
    }

    /// Ends the channels of a service that was removed from the database.
    func removeService(at handles: ClosedRange<AttributeHandle>) {
        removed.append(handles)
        for handle in characteristics.keys where handles.contains(handle) {
            var characteristic = characteristics.removeValue(forKey: handle)
            characteristic?.close(\.notify) { _ in true }
            characteristic?.close(\.write) { _ in true }
        }
        stopped.removeAll { handles.contains($0) }
    }

    /// Ends after the services were removed from the database.
    func end() {
        acquisitions = [:]
        for handle in characteristics.keys {
            characteristics[handle]?.close(\.notify) { _ in true }
            characteristics[handle]?.close(\.write) { _ in true }
        }
    }

    /// Returns the socket in the return of `AcquireNotify` or `AcquireWrite`.
    func socket(in answer: [BusValue]) -> AcquiredSocket? {
        guard answer.signature == "hq", case .fileDescriptor(let descriptor) = answer[0] else { return nil }
        return AcquiredSocket(descriptor, on: remote.connection.loop)
    }
}

extension ApplicationChannels.Characteristic {
    /// Closes and removes all channels that meet a condition.
    mutating func close(
        _ channels: WritableKeyPath<Self, [ApplicationChannels.Channel]>,
        where condition: (ApplicationChannels.Channel) -> Bool
    ) {
        for channel in self[keyPath: channels] where condition(channel) { channel.socket.close() }
        self[keyPath: channels].removeAll(where: condition)
    }

    /// Closes and removes the first channel that meets a condition.
    ///
    /// - Returns: Whether there was such a channel.
    mutating func closeFirstNotify(where condition: (ApplicationChannels.Channel) -> Bool) -> Bool {
        guard let index = notify.firstIndex(where: condition) else { return false }
        notify.remove(at: index).socket.close()
        return true
    }
}
