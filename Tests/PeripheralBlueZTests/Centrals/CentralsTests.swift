import BusTestSupport
import Glibc
import Logging
import PeripheralCore
import PeripheralDBus
import PeripheralEmulator
import PeripheralKit
import Synchronization
import TestSupport
import Testing

@testable import PeripheralBlueZ

@Suite(.timeLimit(.minutes(1)))
struct CentralsTests {
    private struct NoLinks: KernelLinks {
        func links(of adapter: ObjectPath) -> [LinkState]? { nil }
    }

    private static let adapter: ObjectPath = "/org/bluez/hci0"
    private static let value: AttributeHandle = 3

    /// The path of a device whose address ends with a digit.
    private static func device(_ number: Int) throws -> ObjectPath {
        try adapter.appending("dev_C0_FF_EE_00_00_0\(number)")
    }

    /// Centrals that may subscribe to one characteristic.
    private static func centrals(
        on bus: TestBus,
        isIndicated: Bool,
        _ report: @escaping @Sendable (BackendEvent) -> Void
    ) async -> Centrals {
        let characteristic = Centrals.Characteristic(
            uuid: 0x2A19,
            path: "/v",
            isIndicated: isIndicated,
            security: .open
        )
        let centrals = Centrals(
            on: bus.client,
            kernelLinks: NoLinks(),
            fallbackRate: .unlimited,
            log: RunLog(.silent),
            report: report
        )
        await centrals.add([value: characteristic])
        return centrals
    }

    private static func connect(_ number: Int, to centrals: Centrals) async throws -> Central {
        let path = try device(number)
        await centrals.deviceChanged(path, .properties(["Connected": .bool(true)]))
        return try #require(await centrals.central(at: path))
    }

    /// What shows that bluetoothd reaches a central.
    enum Sign: CaseIterable {
        case request, servicesResolved, time
    }

    /// bluetoothd reports a connection before it has a channel to the central.
    ///
    /// Until then, it drops all values for this central.
    @Test(arguments: Sign.allCases)
    func subscriptionsResumeWhenBluetoothdReachesTheCentral(sign: Sign) async throws {
        try await TestBus.run { bus in
            try await bus.server.exportObjectManager(at: "/")
            try await bus.server.requestName("org.bluez")
            let (subscriptions, subscription) = AsyncStream.makeStream(of: Void.self)
            let count = Mutex(0)
            let centrals = await Self.centrals(on: bus, isIndicated: false) { event in
                guard case .subscribed = event else { return }
                count.withLock { $0 += 1 }
                subscription.yield()
            }
            try await DeviceWatcher(connection: bus.client, adapter: Self.adapter, centrals: centrals).watch()
            let path = try Self.device(1)
            func change(_ properties: KeyValuePairs<String, BusValue>) async {
                await centrals.deviceChanged(path, .properties(properties.map { ($0.key, $0.value) }))
            }
            await change(["Connected": .bool(true), "Bonded": .bool(true), "ServicesResolved": .bool(true)])
            let central = try #require(await centrals.central(at: path))
            _ = await centrals.subscribed(central, to: Self.value)
            await change(["ServicesResolved": .bool(false), "Connected": .bool(false)])
            #expect(count.withLock(\.self) == 1)
            await change(["Connected": .bool(true)])
            #expect(count.withLock(\.self) == 1)
            switch sign {
            case .request: _ = await centrals.central(central.address, mtu: 185)
            case .servicesResolved: await change(["ServicesResolved": .bool(true)])
            case .time: for await _ in subscriptions.prefix(2) {}
            }
            #expect(count.withLock(\.self) == 2)
            // One sign is enough.
            await change(["ServicesResolved": .bool(true)])
            #expect(count.withLock(\.self) == 2)
            await centrals.close()
        }
    }

    /// An indication by the bus would reach it, and its confirmation count as that of another.
    @Test func anIndicationWaitsForACentralThatReturns() async throws {
        try await TestBus.run { bus in
            try await bus.server.exportObjectManager(at: "/")
            try await bus.server.requestName("org.bluez")
            let centrals = await Self.centrals(on: bus, isIndicated: true) { _ in }
            let staying = try await Self.connect(1, to: centrals)
            let path = try Self.device(2)
            await centrals.deviceChanged(
                path,
                .properties(["Connected": .bool(true), "Bonded": .bool(true)])
            )
            let returning = try #require(await centrals.central(at: path))
            for central in [staying, returning] { _ = await centrals.subscribed(central, to: Self.value) }
            await centrals.deviceChanged(path, .properties(["Connected": .bool(false)]))
            await centrals.deviceChanged(path, .properties(["Connected": .bool(true)]))
            let indication = BackendUpdate(
                id: BackendUpdate.ID(1),
                characteristic: Self.value,
                value: [1],
                recipients: .subscribers,
                awaitsConfirmation: true
            )
            centrals.submit([indication])
            // It is taken in a turn of the loop before this.
            #expect(await centrals.held.map(\.id) == [indication.id])
            _ = await centrals.central(returning.address, mtu: 185)
            #expect(await centrals.held.isEmpty)
            await centrals.close()
        }
    }

    /// bluetoothd may report a connection after the central has asked to replace its bond.
    @Test func aCentralIsKnownToBeBondedBeforeItIsConnected() async throws {
        try await TestBus.run { bus in
            let centrals = await Self.centrals(on: bus, isIndicated: false) { _ in }
            let path = try Self.device(1)
            await centrals.deviceChanged(
                path,
                .properties(["Connected": .bool(false), "Bonded": .bool(true)])
            )
            #expect(await centrals.central(at: path)?.isBonded == true)
            await centrals.close()
        }
    }

    /// The list of devices is older than the signals that follow it.
    ///
    /// This holds however late the program receives either.
    @Test func theNewsOfALeavingIsNewerThanTheDevicesThatThereWere() async throws {
        try await TestBus.run { bus in
            let daemonLoop = EventLoop(name: "daemon")
            let daemon = try await BusConnection.connect(to: .address(bus.bus.address), on: daemonLoop)
            let devices = try (0..<20).map { try Self.adapter.appending("dev_C0_FF_EE_00_00_\(10 + $0)") }
            let gate = LoopGate()
            let isAsked = Mutex(false)
            let connected = ExportedProperty("Connected", "b") { () throws(MethodError) in
                guard
                    isAsked.withLock({ wasAsked in
                        defer { wasAsked = true }
                        return !wasAsked
                    })
                else { return .bool(true) }
                bus.loop.execute { gate.wait() }
                // The answer has been sent then.
                daemonLoop.execute {
                    daemon.assumeIsolated { daemon in
                        for device in devices {
                            try? daemon.emitPropertiesChanged(
                                device,
                                "org.bluez.Device1",
                                [("Connected", .bool(false))]
                            )
                        }
                    }
                    Task {
                        // What was sent before has reached its subscriber.
                        let path: ObjectPath = "/org/freedesktop/DBus"
                        for _ in 0..<2 {
                            _ = try? await daemon.call("org.freedesktop.DBus", path, .peer, "Ping")
                        }
                        gate.open()
                    }
                }
                return .bool(true)
            }
            for device in devices {
                try await daemon.export(
                    ExportedObject(
                        device,
                        [ExportedInterface("org.bluez.Device1", properties: [connected])]
                    )
                )
            }
            try await daemon.exportObjectManager(at: "/")
            try await daemon.requestName("org.bluez")

            let centrals = Centrals(
                on: bus.client,
                kernelLinks: NoLinks(),
                fallbackRate: .unlimited,
                log: RunLog(.silent)
            ) { _ in }
            try await DeviceWatcher(connection: bus.client, adapter: Self.adapter, centrals: centrals).watch()
            _ = try await daemon.call(await bus.client.uniqueName, "/", .peer, "Ping")
            #expect(await centrals.connectedCount == 0)
            #expect(isAsked.withLock { $0 })
            await centrals.close()
            await daemon.close()
            await daemonLoop.stop()
        }
    }

    /// An update may have been submitted while its central was subscribing again.
    ///
    /// An update for all is still for a central that has not subscribed again.
    @Test(arguments: [BlueZVersion.v5_66, .v5_82])
    func anUpdateForAnEarlierSubscriptionIsNotSent(version: BlueZVersion) async throws {
        try await TestBus.run { bus in
            let ended = Mutex<[BackendUpdate.ID: PeripheralError.Code?]>([:])
            let numbers = Mutex<[UInt64]>([])
            let centrals = await Self.centrals(on: bus, isIndicated: false) { event in
                switch event {
                case .subscribed(let subscription): numbers.withLock { $0.append(subscription.number) }
                case .updatesEnded(let ends):
                    for (id, outcome) in ends {
                        let error: PeripheralError? =
                            if case .failed(let error) = outcome { error } else { nil }
                        ended.withLock { $0[id] = .some(error?.code) }
                    }
                default: break
                }
            }
            await centrals.setAbilities(Centrals.Abilities(of: version))
            let (first, second) = (
                try await Self.connect(1, to: centrals), try await Self.connect(2, to: centrals)
            )
            let sockets = [
                await centrals.subscribed(first, to: Self.value),
                await centrals.subscribed(second, to: Self.value),
                await centrals.subscribed(first, to: Self.value),
            ]
            #expect(numbers.withLock(\.self) == [1, 2, 3])

            /// Submits an update, and returns whether it was sent.
            func isSent(to recipients: BackendUpdate.Recipients, upTo number: UInt64) async throws -> Bool {
                let id = BackendUpdate.ID(ended.withLock { UInt64($0.count) })
                centrals.submit([
                    BackendUpdate(
                        id: id,
                        characteristic: Self.value,
                        value: [1],
                        recipients: recipients,
                        lastSubscription: number
                    )
                ])
                try await until { ended.withLock { $0[id] != nil } }
                return ended.withLock { $0[id] ?? nil } == nil
            }
            if version == .v5_82 {
                #expect(try await !isSent(to: .central(first.id), upTo: 2))
                #expect(try await isSent(to: .central(first.id), upTo: 3))
            }
            #expect(try await !isSent(to: .subscribers, upTo: 1))
            #expect(try await isSent(to: .subscribers, upTo: 2))
            withExtendedLifetime(sockets) {}
            await centrals.close()
        }
    }

    /// When a subscriber leaves, bluetoothd closes the socket of another: a bus that is slow does not make
    /// that look as if the other had unsubscribed.
    @Test func theNewsOfALeavingMayComeLate() async throws {
        try await TestBus.run { bus in
            let leaving = try Self.device(2)
            let (asked, ask) = AsyncStream.makeStream(of: Void.self)
            // bluetoothd reports the disconnection before it answers, so the report arrives before the
            // answer.
            let introspect = ExportedMethod("Introspect", "", "s") { [server = bus.server] _, reply in
                server.assumeIsolated { server in
                    try? server.emitPropertiesChanged(
                        leaving,
                        "org.bluez.Device1",
                        [("Connected", .bool(false))]
                    )
                }
                reply.send { $0.append("<node></node>") }
                ask.yield()
            }
            try await bus.server.exportObjectManager(at: "/")
            try await bus.server.export(
                ExportedObject(
                    "/",
                    [ExportedInterface("org.freedesktop.DBus.Introspectable", methods: [introspect])]
                )
            )
            try await bus.server.requestName("org.bluez")

            let ended = Mutex<[BackendEvent]>([])
            let centrals = await Self.centrals(on: bus, isIndicated: false) { event in
                if case .unsubscribed = event { ended.withLock { $0.append(event) } }
            }
            await centrals.setAbilities(Centrals.Abilities(of: .v5_82))
            try await DeviceWatcher(connection: bus.client, adapter: Self.adapter, centrals: centrals).watch()
            var sockets: [OwnedFileDescriptor] = []
            for number in 1...2 {
                let central = try await Self.connect(number, to: centrals)
                sockets.append(try #require(await centrals.subscribed(central, to: Self.value)))
            }

            close(sockets[0].take())
            for await _ in asked { break }
            // What follows from the answer does so without waiting.
            _ = try await bus.server.call(await bus.client.uniqueName, "/", .peer, "Ping")
            await withCheckedContinuation { continuation in
                bus.loop.execute {
                    _ = bus.loop.schedule(after: .milliseconds(1)) { continuation.resume() }
                }
            }
            let subscribers = await centrals.subscribers(of: Self.value)
            #expect(subscribers.map(\.central.id) == [Central.ID(devicePath: try Self.device(1))])
            #expect(subscribers.map(\.route) == [.bus])
            #expect(ended.withLock(\.count) == 0)
            await centrals.close()
        }
    }

    /// A document that it is part of begins again then, and has not failed.
    @Test func aSubscriptionIsToldBeforeTheIndicationThatItEnds() async throws {
        try await TestBus.run { bus in
            try await bus.server.exportObjectManager(at: "/")
            try await bus.server.requestName("org.bluez")
            let told = Mutex<[String]>([])
            let centrals = await Self.centrals(on: bus, isIndicated: true) { event in
                switch event {
                case .subscribed: told.withLock { $0.append("subscribed") }
                case .updateEnded, .updatesEnded: told.withLock { $0.append("ended") }
                default: break
                }
            }
            await centrals.setAbilities(Centrals.Abilities(of: .v5_82))
            try await DeviceWatcher(connection: bus.client, adapter: Self.adapter, centrals: centrals).watch()
            let central = try await Self.connect(1, to: centrals)
            let first = try #require(await centrals.subscribed(central, to: Self.value))
            // The only one would be reached by the bus.
            let other = try await Self.connect(2, to: centrals)
            let otherSocket = try #require(await centrals.subscribed(other, to: Self.value))
            let indication = BackendUpdate(
                id: BackendUpdate.ID(1),
                characteristic: Self.value,
                value: [1],
                recipients: .central(central.id),
                awaitsConfirmation: true
            )
            centrals.submit([indication])
            // It is sent in a turn of the loop before this.
            _ = await centrals.subscribers(of: Self.value)
            let second = try #require(await centrals.subscribed(central, to: Self.value))
            #expect(told.withLock(\.self) == ["subscribed", "subscribed", "subscribed", "ended"])
            for socket in [first, otherSocket, second] { close(socket.take()) }
            await centrals.close()
        }
    }

    /// bluetoothd looks at the bus only when its sockets are empty: else it could answer no central any more.
    @Test func socketsAreLeftEmptyForADaemonThatDoesNotLookAtTheBus() async throws {
        try await TestBus.run { bus in
            let daemonLoop = EventLoop(name: "daemon")
            let daemon = try await BusConnection.connect(to: .address(bus.bus.address), on: daemonLoop)
            try await daemon.exportObjectManager(at: "/")
            try await daemon.requestName("org.bluez")
            let ended = Mutex(0)
            let centrals = await Self.centrals(on: bus, isIndicated: false) { event in
                guard case .updatesEnded(let ends) = event else { return }
                ended.withLock { $0 += ends.count }
            }
            await centrals.setAbilities(Centrals.Abilities(of: .v5_82))
            try await DeviceWatcher(connection: bus.client, adapter: Self.adapter, centrals: centrals).watch()
            let central = try await Self.connect(1, to: centrals)
            let socket = try #require(await centrals.subscribed(central, to: Self.value))

            let gate = LoopGate()
            daemonLoop.execute { gate.wait() }
            var packet: [UInt8] = [0]
            for number in 0...UInt64(2 * BusFairness.packets) {
                centrals.submit([
                    BackendUpdate(id: BackendUpdate.ID(number), characteristic: Self.value, value: [1])
                ])
                // It is sent in a turn of the loop before this.
                _ = await centrals.subscribers(of: Self.value)
                _ = recv(socket.descriptor, &packet, 1, 0)
            }
            #expect(ended.withLock(\.self) == 2 * BusFairness.packets)
            gate.open()
            try await until { ended.withLock { $0 == 2 * BusFairness.packets + 1 } }
            close(socket.take())
            await centrals.close()
            await daemon.close()
            await daemonLoop.stop()
        }
    }
}

/// Holds up a thread until it is opened.
private struct LoopGate: Sendable {
    private let reading: CInt
    private let writing: CInt

    init() {
        var ends: [CInt] = [-1, -1]
        pipe(&ends)
        (reading, writing) = (ends[0], ends[1])
    }

    func wait() {
        var byte: UInt8 = 0
        _ = read(reading, &byte, 1)
        close(reading)
    }

    func open() {
        close(writing)
    }
}
