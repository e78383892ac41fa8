import PeripheralDBus
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import Testing

/// Sockets for notifications, which work in another way since 5.69 and 5.76; as recorded of 5.66, 5.82 and
/// 5.87.
@Suite(.timeLimit(.minutes(1)))
struct NotifySocketTests {
    private static let path = "/app/s/n"

    /// The value handle of the characteristic.
    private static func handle(_ version: BlueZVersion) -> AttributeHandle {
        version == .v5_66 ? 0x0017 : 0x0015
    }

    private static func run(
        _ version: BlueZVersion,
        acquires: Bool = true,
        clock: any Clock<Duration> = ContinuousClock(),
        _ body: (Stage, VirtualCentral) async throws -> Void
    ) async throws {
        let objects: [RawObject] = [
            .service(),
            .characteristic(
                "/app/s/n",
                ["read", "notify", "indicate"],
                more: acquires ? [("NotifyAcquired", .bool(false))] : []
            ),
        ]
        let configuration = EmulatedBlueZ.Configuration(
            version: version,
            adapters: [EmulatedAdapter(kind: .legacy)],
            clock: clock
        )
        try await Stage.run(configuration, objects: objects) { stage, central in
            stage.application.handOverSockets(by: "AcquireNotify")
            try await body(stage, central)
        }
    }

    private static func acquisition(by central: VirtualCentral, mtu: Int = 517) -> String {
        "AcquireNotify \(path)({'device': o \(central.path), 'link': s 'LE', 'mtu': q \(mtu)})"
    }

    private static func call(_ method: String) -> String { "\(method) \(path)() NO_REPLY_EXPECTED" }

    /// What bluetoothd does because of what was done has been done afterwards.
    private static func calls(_ stage: Stage, after central: VirtualCentral, _ version: BlueZVersion)
        async throws -> [String]
    {
        _ = try await central.read(handle(version), offset: 0)
        return stage.application.calls.take().filter { !$0.hasPrefix("ReadValue") }
    }

    private static func next(_ central: VirtualCentral, _ version: BlueZVersion) async throws -> [UInt8] {
        try await central.nextUpdate(of: handle(version)).value
    }

    @Test func oneSocketIsForAll() async throws {
        let version = BlueZVersion.v5_66
        let value = Self.handle(version)
        try await Self.run(version) { stage, first async throws in
            let second = stage.makeCentral()
            try await second.connect(mtu: 23)
            try await first.subscribe(value, to: .notification)
            #expect(await stage.application.calls.take(1) == [Self.acquisition(by: first)])
            try await stage.application.settle()
            try await second.subscribe(value, to: .notification)
            stage.application.send([UInt8](repeating: 7, count: 30), through: 0)
            #expect(try await Self.next(first, version).count == 30)
            #expect(try await Self.next(second, version).count == 20)
            try await first.unsubscribe(value)
            stage.application.send([8], through: 0)
            #expect(try await Self.next(second, version) == [8])
            second.disconnect()
            #expect(await stage.application.calls.take(1) == ["socket 0: closed"])
        }
    }

    @Test func oneSocketOutlivesTheConnectionOfABondedCentral() async throws {
        let version = BlueZVersion.v5_66
        try await Self.run(version) { stage, central async throws in
            #expect(try await stage.application.registerAgent() == "ok")
            try await central.pair(.justWorks)
            try await central.subscribe(Self.handle(version), to: .notification)
            _ = await stage.application.calls.take(2)
            try await stage.application.settle()
            central.disconnect()
            try await central.connect()
            stage.application.send([7], through: 0)
            #expect(try await Self.next(central, version) == [7])
            #expect(stage.application.calls.take() == [])
        }
    }

    @Test(arguments: [BlueZVersion(major: 5, minor: 70), .v5_82, .v5_87])
    func eachCentralHasASocket(version: BlueZVersion) async throws {
        // The central address resolution was still there.
        let value: AttributeHandle = version < .v5_82 ? 0x0017 : Self.handle(version)
        try await Self.run(version) { stage, first async throws in
            let second = stage.makeCentral()
            try await second.connect(mtu: 100)
            for (central, mtu) in [(first, 517), (second, 100)] {
                try await central.subscribe(value, to: .notification)
                #expect(await stage.application.calls.take(1) == [Self.acquisition(by: central, mtu: mtu)])
                try await stage.application.settle()
            }
            stage.application.send([1], through: 0)
            stage.application.send([2], through: 1)
            // Before 5.76, each got what was meant for others.
            let isMixed = version < BlueZVersion(major: 5, minor: 76)
            #expect(try await first.nextUpdate(of: value).value == [1])
            #expect(try await second.nextUpdate(of: value).value == (isMixed ? [1] : [2]))
            try await first.unsubscribe(value)
            #expect(await stage.application.calls.take(1) == ["socket 0: closed"])
        }
    }

    /// bluetoothd does everything on one thread.
    @Test(arguments: [BlueZVersion.v5_66, .v5_87])
    func theSocketIsAskedForBeforeWhatTheCentralDoesNext(version: BlueZVersion) async throws {
        let value = Self.handle(version)
        try await Self.run(version) { stage, central async throws in
            for _ in 0..<10 {
                try await central.subscribe(value, to: .notification)
                _ = try await central.read(value, offset: 0)
                #expect(await stage.application.calls.take(2).first == Self.acquisition(by: central))
                try await stage.application.settle()
                central.disconnect()
                _ = await stage.application.calls.take(1)
                try await central.connect()
            }
        }
    }

    @Test(arguments: [BlueZVersion.v5_66, .v5_87])
    func theSocketIsAskedForBeforeTheCentralIsGone(version: BlueZVersion) async throws {
        try await Self.run(version) { stage, central async throws in
            _ = stage.application.signals.take()
            try await central.subscribe(Self.handle(version), to: .notification)
            central.disconnect()
            let end = "'Connected': b false"
            while await !stage.application.signals.take(1).contains(where: { $0.contains(end) }) {}
            #expect(stage.application.calls.take().first == Self.acquisition(by: central))
        }
    }

    @Test func anUnbondedCentralTakesTheFirstSocketWithIt() async throws {
        let version = BlueZVersion.v5_87
        let value = Self.handle(version)
        try await Self.run(version) { stage, first async throws in
            let second = stage.makeCentral()
            try await second.connect()
            for central in [first, second] {
                try await central.subscribe(value, to: .notification)
                _ = await stage.application.calls.take(1)
                try await stage.application.settle()
            }
            second.disconnect()
            #expect(
                await stage.application.calls.take(2).sorted() == ["socket 0: closed", "socket 1: closed"]
            )
            // The first is subscribed still, but there is no socket for it.
            try await first.subscribe(value, to: .notification)
            #expect(try await Self.calls(stage, after: first, version) == [])
            try await stage.application.connection.emitPropertiesChanged(
                "/app/s/n",
                "org.bluez.GattCharacteristic1",
                [("Value", .bytes([9]))]
            )
            #expect(try await Self.next(first, version) == [9])
            try await first.unsubscribe(value)
            try await first.subscribe(value, to: .notification)
            #expect(
                await stage.application.calls.take(2) == [
                    Self.call("StopNotify"), Self.acquisition(by: first),
                ]
            )
        }
    }

    @Test func aBondedCentralComesBackWithoutASocket() async throws {
        let version = BlueZVersion.v5_87
        let value = Self.handle(version)
        try await Self.run(version) { stage, central async throws in
            #expect(try await stage.application.registerAgent() == "ok")
            try await central.pair(.justWorks)
            try await central.subscribe(value, to: .notification)
            _ = await stage.application.calls.take(2)
            try await stage.application.settle()
            central.disconnect()
            #expect(await stage.application.calls.take(1) == ["socket 0: closed"])
            try await central.connect()
            try await central.subscribe(value, to: .notification)
            #expect(try await Self.calls(stage, after: central, version) == [])
            try await central.unsubscribe(value)
            #expect(await stage.application.calls.take(1) == [Self.call("StopNotify")])
        }
    }

    @Test(arguments: [BlueZVersion.v5_66, .v5_87], [true, false])
    func aRefusedSocket(version: BlueZVersion, isFailure: Bool) async throws {
        let value = Self.handle(version)
        try await Self.run(version) { stage, central async throws in
            let name: ErrorName = isFailure ? "org.bluez.Error.Failed" : "org.bluez.Error.NotSupported"
            stage.application.answer("AcquireNotify", .error(name, ""))
            try await central.subscribe(value, to: .notification)
            let acquisition = Self.acquisition(by: central)
            let told = isFailure ? [] : [Self.call("StartNotify")]
            #expect(await stage.application.calls.take(1 + told.count) == [acquisition] + told)
            try await stage.application.settle()
            try await central.unsubscribe(value)
            #expect(
                try await Self.calls(stage, after: central, version)
                    == (isFailure ? [] : [Self.call("StopNotify")])
            )
        }
    }

    @Test(arguments: [BlueZVersion.v5_66, .v5_87])
    func aSocketThatTheApplicationClosesIsNotReplaced(version: BlueZVersion) async throws {
        let value = Self.handle(version)
        try await Self.run(version) { stage, central async throws in
            try await central.subscribe(value, to: .notification)
            _ = await stage.application.calls.take(1)
            try await stage.application.settle()
            stage.application.close(0)
            _ = await stage.application.calls.take(1)
            try await stage.application.settle()
            try await central.unsubscribe(value)
            #expect(await stage.application.calls.take(1) == [Self.call("StopNotify")])
        }
    }

    @Test func anEmptyMessageIsTheLast() async throws {
        let version = BlueZVersion.v5_87
        let value = Self.handle(version)
        try await Self.run(version) { stage, central async throws in
            try await central.subscribe(value, to: .notification)
            _ = await stage.application.calls.take(1)
            try await stage.application.settle()
            stage.application.send([1], through: 0)
            #expect(try await Self.next(central, version) == [1])
            stage.application.send([], through: 0)
            stage.application.send([2], through: 0)
            try await stage.application.settle()
            try await stage.application.connection.emitPropertiesChanged(
                "/app/s/n",
                "org.bluez.GattCharacteristic1",
                [("Value", .bytes([3]))]
            )
            #expect(try await Self.next(central, version) == [3])
        }
    }

    // MARK: Confirmations

    @Test(arguments: [BlueZVersion.v5_66, .v5_87])
    func confirmationsComeBack(version: BlueZVersion) async throws {
        let value = Self.handle(version)
        try await Self.run(version) { stage, central async throws in
            try await central.subscribe(value, to: .indication)
            _ = await stage.application.calls.take(1)
            try await stage.application.settle()
            central.confirmsIndications = false
            for number: UInt8 in 1...2 { stage.application.send([number], through: 0) }
            #expect(try await Self.next(central, version) == [1])
            central.confirmIndication()
            #expect(try await Self.next(central, version) == [2])
            let confirmation = version == .v5_66 ? Self.call("Confirm") : "socket 0: 01"
            #expect(await stage.application.calls.take(1) == [confirmation])
            central.disconnect()
            // 5.66 takes the end of the wait for a confirmation.
            let end = version == .v5_66 ? [confirmation, "socket 0: closed"] : ["socket 0: closed"]
            #expect(await stage.application.calls.take(end.count).sorted() == end)
        }
    }

    @Test func withoutASocketEveryEndIsAConfirmation() async throws {
        let clock = ManualClock()
        let version = BlueZVersion.v5_87
        try await Self.run(version, acquires: false, clock: clock) { stage, central async throws in
            central.confirmsIndications = false
            try await central.subscribe(Self.handle(version), to: .indication)
            _ = await stage.application.calls.take(1)
            for number: UInt8 in 1...2 {
                try await stage.application.connection.emitPropertiesChanged(
                    "/app/s/n",
                    "org.bluez.GattCharacteristic1",
                    [("Value", .bytes([number]))]
                )
            }
            #expect(try await Self.next(central, version) == [1])
            // Both have reached bluetoothd before the time is over.
            try await stage.application.settle()
            await clock.waitForSleeper()
            clock.advance(by: .seconds(30))
            #expect(
                await stage.application.calls.take(3).sorted() == [
                    Self.call("Confirm"), Self.call("Confirm"), Self.call("StopNotify"),
                ]
            )
        }
    }
}
