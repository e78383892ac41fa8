internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit
internal import PeripheralTesting

/// The ways between bluetoothd and an application but for its requests: the sockets that it has handed over, and the
/// calls that tell of subscriptions.
///
/// An actor of the event loop. The rules are those of BlueZ's gatt-database.c, with its faults.
actor ApplicationChannels {
    /// Whom a socket for notifications serves, which has changed with the versions.
    enum Sharing {
        /// One socket for all centrals.
        case one
        /// One for each central; what comes through it goes to all.
        case eachForAll
        /// One for each central.
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

    /// What there is for one characteristic.
    struct Characteristic {
        /// The subscriptions as bluetoothd counts them.
        var count = 0
        var notify: [Channel] = []
        var write: [Channel] = []
        /// Writes that wait for the socket that the first of them has asked for.
        var pendingWrites: [PendingWrite] = []
        /// Whether bluetoothd waits for a socket that never comes.
        var isStuck = false
    }

    struct PendingWrite {
        var value: [UInt8]
        var continuation: CheckedContinuation<WriteOutcome, Never>
    }

    /// What has become of a write.
    enum WriteOutcome: Sendable {
        /// It went through a socket, or was refused without one.
        case done(Result<Void, ATTError>)
        /// It goes by `WriteValue`.
        case call
    }

    let remote: RemoteObjects
    let sharing: Sharing
    let server: VirtualGATTServer
    var application: ApplicationID?
    var characteristics: [AttributeHandle: Characteristic] = [:]
    /// The calls of `AcquireNotify` that are not answered, with the central that has subscribed.
    var acquisitions: [Int: DeviceAddress] = [:]
    /// What nobody has subscribed to any more, without having been told yet.
    var stopped: [AttributeHandle] = []
    let tasks: LoopTasks
    let crash: @Sendable () -> Void
    private var isWithdrawn = false
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

    /// The services are in the database.
    func begin(_ application: ApplicationID) {
        self.application = application
    }

    /// A central is gone.
    func disconnected(_ central: DeviceAddress) {
        acquisitions = acquisitions.filter { $0.value != central }
        guard sharing != .one else { return }
        for handle in characteristics.keys {
            characteristics[handle]?.close(\.notify) { $0.central.linkAddress == central }
            characteristics[handle]?.close(\.write) { $0.central.linkAddress == central }
        }
    }

    /// The program has withdrawn the services, or is gone.
    func withdraw() {
        isWithdrawn = true
        end()
    }

    /// Runs the body after all that is on its way to the loop, since an indication is no longer awaited.
    ///
    /// bluetoothd then uses what it has freed with the application (`conf_cb` and `sock_io_conf` in gatt-database.c).
    nonisolated func afterIndication(_ body: @escaping @Sendable (isolated ApplicationChannels) -> Void) {
        remote.connection.loop.execute {
            self.assumeIsolated { channels in
                channels.isWithdrawn ? channels.crash() : body(channels)
            }
        }
    }

    /// The services are no longer in the database.
    func end() {
        acquisitions = [:]
        for handle in characteristics.keys {
            characteristics[handle]?.close(\.notify) { _ in true }
            characteristics[handle]?.close(\.write) { _ in true }
        }
    }

    /// Takes the socket out of the answer to `AcquireNotify` or `AcquireWrite`.
    func socket(in answer: [BusValue]) -> AcquiredSocket? {
        guard answer.signature == "hq", case .fileDescriptor(let descriptor) = answer[0] else { return nil }
        return AcquiredSocket(descriptor, on: remote.connection.loop)
    }
}

extension ApplicationChannels.Characteristic {
    /// Closes and removes all channels that a condition holds for.
    mutating func close(
        _ channels: WritableKeyPath<Self, [ApplicationChannels.Channel]>,
        where condition: (ApplicationChannels.Channel) -> Bool
    ) {
        for channel in self[keyPath: channels] where condition(channel) { channel.socket.close() }
        self[keyPath: channels].removeAll(where: condition)
    }

    /// Closes and removes the first channel that a condition holds for.
    ///
    /// - Returns: Whether there was one.
    mutating func closeFirstNotify(where condition: (ApplicationChannels.Channel) -> Bool) -> Bool {
        guard let index = notify.firstIndex(where: condition) else { return false }
        notify.remove(at: index).socket.close()
        return true
    }
}
