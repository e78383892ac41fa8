import PeripheralBlueZ
import PeripheralCore
import PeripheralDBus
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

/// Whatever happens to what a peripheral needs: it comes back by itself, as it was.
@Suite(.timeLimit(.minutes(1)))
struct RecoveryTests {
    /// One of its own for each test, since a declaration that runs twice has one state.
    private static func makePeripheral() -> Peripheral {
        Peripheral("Phoenix") { GATTService(.battery) { Characteristic<UInt8>(0x2A19, value: 99) } }
    }

    @Test(arguments: Fault.all) func comesBackAsItWas(fault: Fault) async throws {
        let value = Characteristic<UInt8>(0x2A19, [.read, .notify]) { Read { 42 } }
        let peripheral = Peripheral("Phoenix") { GATTService(.battery) { value } }
        try await withEmulatedBlueZ { bluez in
            try await peripheral.run(on: bluez.backend, logger: .silent) { session in
                var states = peripheral.states.makeAsyncIterator()
                let handle = try #require(try session.handle(of: value))
                for _ in 0..<3 {
                    var events = session.events.makeAsyncIterator()
                    let central = bluez.central(for: peripheral)
                    try await central.connect()
                    try await central.subscribe(to: value)
                    while try session.subscribers(of: value).isEmpty { _ = try await events.next() }

                    try await fault.happen(bluez)
                    let off = try await states.first {
                        $0.radio == fault.radio && $0.reason?.hasSuffix(fault.remedy) == true
                    }
                    #expect(off?.isAdvertising == false)
                    while !session.centrals.isEmpty || !session.subscriptions.isEmpty {
                        _ = try await events.next()
                    }
                    // The value reaches no central, and the call does not wait.
                    try await session.notify(value, 1)

                    try await fault.mend(bluez)
                    let on = try await states.first { $0.isOnTheAir }
                    #expect(on == session.state)
                    #expect(on?.reason == nil)
                    let again = bluez.central(for: peripheral)
                    #expect(again.scan().map(\.payload.localName) == ["Phoenix"])
                    try await again.connect()
                    #expect(try await again.read(value) == 42)
                    #expect(try session.handle(of: value) == handle)
                    try await again.subscribe(to: value)
                    while try session.subscribers(of: value).isEmpty { _ = try await events.next() }
                    try await session.notify(value, 43)
                    #expect(try await again.nextUpdate(of: value) == 43)
                    again.disconnect()
                }
            }
        }
    }

    @Test(arguments: Fault.all) func waitsAtTheStartForWhatIsMissing(fault: Fault) async throws {
        let peripheral = Self.makePeripheral()
        try await withEmulatedBlueZ { bluez in
            try await fault.happen(bluez)
            var states = peripheral.states.makeAsyncIterator()
            let run = Task { try await peripheral.run(on: bluez.backend, logger: .silent) }
            let off = try await states.first { $0.radio == fault.radio }
            #expect(off?.reason != nil)
            try await fault.mend(bluez)
            #expect(try await states.first { $0.isOnTheAir } != nil)
            #expect(bluez.central(for: peripheral).scan().count == 1)
            run.cancel()
            await #expect(throws: CancellationError.self) { try await run.value }
            #expect(bluez.central(for: peripheral).scan().isEmpty)
        }
    }

    @Test(arguments: Fault.all) func stopsWhileItWaits(fault: Fault) async throws {
        try await withEmulatedBlueZ { bluez in
            let peripheral = Self.makePeripheral()
            try await peripheral.run(on: bluez.backend, logger: .silent) { _ in
                var states = peripheral.states.makeAsyncIterator()
                try await fault.happen(bluez)
                _ = try await states.first { !$0.isAdvertising && $0.reason?.hasSuffix(fault.remedy) == true }
            }
            try await fault.mend(bluez)
            #expect(bluez.central(for: peripheral).scan().isEmpty)
        }
    }

    /// However often it is tried without a result.
    @Test(arguments: Fault.all) func theLogTellsOnceWhatToDo(fault: Fault) async throws {
        let log = LogRecorder()
        @Sendable func told() -> Int {
            log.lines.count {
                $0.hasPrefix("warning: The peripheral is not published. The backend will publish")
                    && $0.hasSuffix("\(fault.remedy)]")
            }
        }
        let clock = ManualClock()
        try await withEmulatedBlueZ { bluez in
            let peripheral = Self.makePeripheral()
            let backend = bluez.backend(clock: clock)
            try await peripheral.run(on: backend, logger: log.logger) { session in
                for _ in 1...2 {
                    let before = told()
                    try await fault.happen(bluez)
                    try await until {
                        clock.advance(by: .seconds(10))
                        return told() > before
                    }
                    if fault.isSilent {
                        // The first attempt may have met what was about to go.
                        try await Self.retry(clock)
                    }
                    let count = told()
                    for _ in 0..<(fault.isSilent ? 3 : 0) { try await Self.retry(clock) }
                    try await fault.mend(bluez)
                    try await until {
                        clock.advance(by: .seconds(10))
                        return session.state.isOnTheAir
                    }
                    #expect(told() == count, "\(log.lines)")
                }
            }
        }
    }

    /// With the other recoveries, the run waits for the adapter.
    @Test func anAdapterThatIsOffEndsARunWithoutRecovery() async throws {
        try await withEmulatedBlueZ { bluez in
            await bluez.setPowered(false)
            let error = await #expect(throws: PeripheralError.self) {
                try await Self.makePeripheral().run(on: bluez.backend(recovery: .never), logger: .silent) {
                    _ in
                }
            }
            #expect(error?.code == .adapterUnavailable)
        }
    }

    @Test func anAdapterThatGoesOnAndOffDoesNotFloodTheLog() async throws {
        let log = LogRecorder()
        let clock = ManualClock()
        try await withEmulatedBlueZ { bluez in
            let peripheral = Self.makePeripheral()
            let backend = bluez.backend(clock: clock)
            try await peripheral.run(on: backend, logger: log.logger) { session in
                for _ in 0..<20 {
                    await bluez.setPowered(false)
                    try await until { clock.sleeperCount == 1 }
                    clock.advance(by: .seconds(2))
                    try await until { clock.sleeperCount == 0 }
                    await bluez.setPowered(true)
                    try await until { session.state.isOnTheAir }
                }
            }
        }
        let line =
            "The peripheral is not published. The backend will publish the peripheral as soon as possible."
        #expect(log.lines.count { $0.hasPrefix("warning: \(line)") } == 5)
        #expect(log.lines.count { $0.contains("Log messages were omitted") && $0.contains(line) } == 1)
    }

    /// bluetoothd powers its adapters off before it ends, and an adapter that is unplugged is off before it
    /// is gone.
    @Test(arguments: Fault.single) func theFirstLineOfTheLogNamesTheReason(fault: Fault) async throws {
        let log = LogRecorder()
        let clock = ManualClock()
        @Sendable func told() -> [String] { log.lines.filter { $0.contains("is not published") } }
        try await withEmulatedBlueZ { bluez in
            let peripheral = Self.makePeripheral()
            let backend = bluez.backend(clock: clock)
            try await peripheral.run(on: backend, logger: log.logger) { _ in
                var states = peripheral.states.makeAsyncIterator()
                try await fault.happen(bluez)
                _ = try await states.first {
                    $0.radio == fault.radio && $0.reason?.hasSuffix(fault.remedy) == true
                }
                try await until {
                    if clock.sleeperCount > 0 { clock.advance(by: .seconds(2)) }
                    return !told().isEmpty
                }
                #expect(told().first?.hasSuffix("\(fault.remedy)]") == true, "\(told())")
            }
        }
    }

    @Test func theLogIsNotToldOfAnAdapterThatIsOffForAMoment() async throws {
        let log = LogRecorder()
        let clock = ManualClock()
        try await withEmulatedBlueZ { bluez in
            let peripheral = Self.makePeripheral()
            let backend = bluez.backend(clock: clock)
            try await peripheral.run(on: backend, logger: log.logger) { _ in
                var states = peripheral.states.makeAsyncIterator()
                for _ in 0..<2 {
                    await bluez.setPowered(false)
                    _ = try await states.first { $0.radio == .poweredOff }
                    try await until { clock.sleeperCount == 1 }
                    await bluez.setPowered(true)
                    _ = try await states.first { $0.isOnTheAir }
                    try await until { clock.sleeperCount == 0 }
                }
                #expect(log.lines.isEmpty)
            }
        }
    }

    /// Has a backend that waits try again, without a result.
    private static func retry(_ clock: ManualClock) async throws {
        await clock.waitForSleeper()
        clock.advance(by: .seconds(10))
        await clock.waitForSleeper()
    }

    @Test func anAdapterThatIsBlockedIsPoweredOnOnceItIsNot() async throws {
        try await withEmulatedBlueZ(.init(adapters: [EmulatedAdapter("hci0", isPowered: false)])) { bluez in
            await bluez.setBlocked(true)
            let peripheral = Self.makePeripheral()
            var states = peripheral.states.makeAsyncIterator()
            let backend = bluez.backend(settings: AdapterSettings(powersOn: true))
            let run = Task { try await peripheral.run(on: backend, logger: .silent) }
            let off = try await states.first { $0.reason != nil }
            #expect(off?.radio == .poweredOff)
            #expect(
                off?.reason
                    == "The Bluetooth adapter is blocked (org.bluez.Error.Blocked: Blocked through rfkill); "
                    + "use 'rfkill unblock bluetooth'."
            )
            await bluez.setBlocked(false)
            #expect(try await states.first { $0.isOnTheAir } != nil)
            run.cancel()
            _ = await run.result
        }
    }

    /// bluetoothd reports a central while the services are registered, before the peripheral is published.
    @Test func centralsThatLeaveDuringAnAttemptThatFailsAreGone() async throws {
        let others = Peripheral("Others") {
            GATTService(.battery) { Characteristic<UInt8>(0x2A19, value: 1) }
            for number in 1...5 { Advertisement(localName: "\(number)") }
        }
        let peripheral = Self.makePeripheral()
        let clock = ManualClock()
        // A connection does not make room there.
        let configuration = EmulatedBlueZ.Configuration(adapters: [EmulatedAdapter(kind: .legacy)])
        try await withEmulatedBlueZ(configuration) { bluez in
            try await others.run(on: bluez.backend, logger: .silent) { session in
                let central = bluez.central(for: others)
                try await central.connect()
                let run = Task {
                    try await peripheral.run(on: bluez.backend(clock: clock), logger: .silent) { $0.centrals }
                }
                var states = peripheral.states.makeAsyncIterator()
                // There is no room for it.
                _ = try await states.first { $0.reason != nil }
                await clock.waitForSleeper()
                central.disconnect()
                try await until { session.centrals.isEmpty }
                try await session.advertise(Advertisement(localName: "1"))
                clock.advance(by: .seconds(1))
                #expect(try await run.value == [])
            }
        }
    }

    @Test func anAdapterChosenByAddressMayComeBackUnderAnotherName() async throws {
        try await withEmulatedBlueZ { bluez in
            let peripheral = Self.makePeripheral()
            let address = try #require(DeviceAddress("00:AA:01:00:00:42"))
            try await bluez.addAdapter(EmulatedAdapter("hci0", address: address))
            let backend = bluez.backend(adapter: .address(address))
            try await peripheral.run(on: backend, logger: .silent) { session in
                var states = peripheral.states.makeAsyncIterator()
                await bluez.removeAdapter("hci0")
                _ = try await states.first { !$0.isOnTheAir }
                try await bluez.addAdapter("hci0")
                try await bluez.addAdapter(EmulatedAdapter("hci1", address: address))
                _ = try await states.first { $0.isOnTheAir }
                #expect(bluez.central(for: peripheral, near: "hci1").scan().count == 1)
                #expect(bluez.central(for: peripheral, near: "hci0").scan().isEmpty)
            }
        }
    }

    @Test func anAdapterIsPoweredOnAndNamedAsDemanded() async throws {
        try await withEmulatedBlueZ(.init(adapters: [EmulatedAdapter("hci0", isPowered: false)])) { bluez in
            let peripheral = Self.makePeripheral()
            let backend = bluez.backend(settings: AdapterSettings(alias: "Kitchen", powersOn: true))
            try await peripheral.run(on: backend, logger: .silent) { _ in
                #expect(bluez.central(for: peripheral).scan().count == 1)
                try await BusObserver.run(on: bluez) { observer in
                    let alias = try await observer.connection.call(
                        "org.bluez",
                        "/org/bluez/hci0",
                        .properties,
                        "Get",
                        [.string("org.bluez.Adapter1"), .string("Alias")]
                    )
                    #expect(alias.first?.string == "Kitchen")
                }
            }
        }
    }

    /// A notification to all subscribers does not fail if bluetoothd dies: the program continues.
    @Test(arguments: [BlueZVersion.v5_66, .v5_87])
    func notifyingAllGoesOnWhateverHappens(version: BlueZVersion) async throws {
        let value = Characteristic<UInt8>(0x2A19, [.notify])
        let peripheral = Peripheral("Phoenix") { GATTService(.battery) { value } }
        try await withEmulatedBlueZ(.init(version: version)) { bluez in
            try await peripheral.run(on: bluez.backend, logger: .silent) { session in
                var states = peripheral.states.makeAsyncIterator()
                for _ in 0..<10 {
                    var events = session.events.makeAsyncIterator()
                    let central = bluez.central(for: peripheral)
                    try await central.connect()
                    try await central.subscribe(to: value)
                    while try session.subscribers(of: value).isEmpty { _ = try await events.next() }
                    let loop = Task {
                        for _ in 0..<200 { try await session.notify(value, 1) }
                    }
                    _ = try await central.nextUpdate(of: value)
                    await bluez.killDaemon()
                    try await loop.value
                    _ = try await states.first { !$0.isOnTheAir }
                    try await bluez.startDaemon()
                    _ = try await states.first { $0.isOnTheAir }
                }
            }
        }
    }

    /// An update that is under way when bluetoothd dies ends by an error, not in silence.
    @Test func anIndicationThatIsLostWithTheDaemonEnds() async throws {
        let value = Characteristic<UInt8>(0x2A19, .indicate)
        let peripheral = Peripheral("Phoenix") { GATTService(.battery) { value } }
        try await withEmulatedBlueZ { bluez in
            try await peripheral.run(on: bluez.backend, logger: .silent) { session in
                var events = session.events.makeAsyncIterator()
                let central = bluez.central(for: peripheral)
                try await central.connect()
                central.confirmsIndications = false
                try await central.subscribe(to: value)
                while try session.subscribers(of: value).isEmpty { _ = try await events.next() }
                let indication = Task { try await session.indicate(value, 1) }
                _ = try await central.nextUpdate(of: value)
                await bluez.killDaemon()
                let error = await #expect(throws: PeripheralError.self) { try await indication.value }
                #expect(error?.code == .disconnected)
            }
        }
    }

    /// bluetoothd would give others now, since the program that had registered before is gone.
    @Test func theDatabaseComesBackAtItsHandles() async throws {
        let value = Characteristic<UInt8>(0x2A19, value: 99)
        let peripheral = Peripheral("Phoenix") { GATTService(.battery) { value } }
        try await withEmulatedBlueZ { bluez in
            let another = Self.makePeripheral()
            let before = Task { try await another.run(on: bluez.backend, logger: .silent) }
            var states = another.states.makeAsyncIterator()
            _ = try await states.first { $0.isOnTheAir }
            try await peripheral.run(on: bluez.backend, logger: .silent) { session in
                before.cancel()
                _ = await before.result
                let handle = try #require(try session.handle(of: value))
                var states = peripheral.states.makeAsyncIterator()
                await bluez.killDaemon()
                _ = try await states.first { !$0.isOnTheAir }
                try await bluez.startDaemon()
                _ = try await states.first { $0.isOnTheAir }
                #expect(try session.handle(of: value) == handle)
                let central = bluez.central(for: peripheral)
                try await central.connect()
                #expect(try await central.read(handle, offset: 0) == [99])
            }
        }
    }

    /// However often it comes back, nothing is left of what was before.
    @Test(arguments: Fault.onOneBus) func oneConnectionToTheBusIsLeft(fault: Fault) async throws {
        try await withEmulatedBlueZ { bluez in
            let peripheral = Self.makePeripheral()
            try await peripheral.run(on: bluez.backend, logger: .silent) { _ in
                try await BusObserver.run(on: bluez) { observer in
                    var states = peripheral.states.makeAsyncIterator()
                    let before = try await observer.connections()
                    for _ in 0..<10 {
                        try await fault.happen(bluez)
                        _ = try await states.first { !$0.isOnTheAir }
                        try await fault.mend(bluez)
                        _ = try await states.first { $0.isOnTheAir }
                    }
                    // The bus takes its time to see that others have left.
                    try await until { (try? await observer.connections()) == before }
                }
            }
        }
    }
}

extension RecoveryTests {
    /// Other programs have taken all the room that the adapter has, and give it back after a while.
    @Test func anAdvertisementThatIsRefusedForAWhileIsOnTheAirThen() async throws {
        let others = Peripheral("Others") {
            GATTService(.battery) { Characteristic<UInt8>(0x2A19, value: 1) }
            for number in 1...5 { Advertisement(localName: "\(number)") }
        }
        let peripheral = Self.makePeripheral()
        try await withEmulatedBlueZ { bluez in
            let observer = bluez.central(for: peripheral)
            try await others.run(on: bluez.backend, logger: .silent) { session in
                var states = peripheral.states.makeAsyncIterator()
                let run = Task { try await peripheral.run(on: bluez.backend, logger: .silent) }
                let off = try await states.first { $0.reason != nil }
                #expect(off?.reason?.hasPrefix("The adapter has no room for another advertisement") == true)
                #expect(observer.scan().count == 5)
                try await session.advertise(Advertisement(localName: "1"))
                _ = try await states.first { $0.isOnTheAir }
                #expect(Set(observer.scan().map(\.payload.localName)) == ["1", "Phoenix"])
                run.cancel()
                _ = await run.result
            }
        }
    }
}

extension BusObserver {
    /// How many programs are connected to the bus.
    fileprivate func connections() async throws -> Int {
        let names = try await connection.call(
            .bus,
            "/org/freedesktop/DBus",
            "org.freedesktop.DBus",
            "ListNames"
        )
        return names.first?.elements?.count { $0.string?.hasPrefix(":") == true } ?? 0
    }
}

extension AsyncIteratorProtocol {
    /// The next element that the condition holds for.
    fileprivate mutating func first(
        isolation: isolated (any Actor)? = #isolation,
        where isMeant: (Element) -> Bool
    ) async throws -> Element? {
        while let element = try await next(isolation: isolation) {
            if isMeant(element) { return element }
        }
        return nil
    }
}
