import PeripheralBlueZ
import PeripheralConformance
import PeripheralCore
import PeripheralDBus
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

/// What is on the air equals the plan, byte by byte: the emulated daemons compose it without the plan's help.
@Suite(.timeLimit(.minutes(2)))
struct AdvertisingTests {
    static let adapters: [AdvertisingCapabilities] =
        (["5.66", "5.87"] as [BlueZVersion]).map { .legacy($0) }
        + (["5.66", "5.70", "5.76", "5.79", "5.82", "5.87"] as [BlueZVersion]).map { .extended($0) }

    @Test(arguments: adapters)
    func emulatedBlueZ(adapter: AdvertisingCapabilities) async throws {
        let daemon = EmulatedBlueZ.Configuration(
            version: adapter.version,
            adapters: [EmulatedAdapter(kind: adapter.isExtended ? .extended : .legacy)]
        )
        var capabilities = adapter
        capabilities.adapterName = daemon.deviceName
        // One bus for all, since there are many.
        try await withEmulatedBlueZ(daemon) { bluez in
            for declaration in AdvertisingDeclaration.all {
                do {
                    try await declaration.check(on: bluez.backend, for: capabilities) { peripheral in
                        bluez.central(for: peripheral)
                    }
                } catch {
                    Issue.record("\(declaration): \(error)")
                }
            }
        }
    }

    @Test func severalAreOnTheAirAtOnce() async throws {
        let peripheral = Peripheral("Lamp") {
            GATTService(0x180F) { Characteristic<UInt8>(0x2A19, value: 1) }
            Advertisement()
            Advertisement(.broadcast, localName: "", services: [], manufacturerData: [0x004C: [2, 21]])
        }
        try await withEmulatedBlueZ { bluez in
            let central = bluez.central(for: peripheral)
            try await peripheral.run(on: bluez.backend, logger: .silent) { _ in
                let heard = central.scan()
                #expect(heard.map(\.isConnectable) == [true, false])
                #expect(heard.map(\.payload.localName) == ["Lamp", nil])
                #expect(heard.map(\.payload.manufacturerData) == [[:], [0x004C: [2, 21]]])
            }
            #expect(central.scan().isEmpty)
        }
    }

    @Test(arguments: [EmulatedAdapter.Kind.legacy, .extended])
    func whatPausesIsOffTheAirWhileACentralIsConnected(kind: EmulatedAdapter.Kind) async throws {
        let peripheral = Peripheral("Lamp") {
            GATTService(0x180F) { Characteristic<UInt8>(0x2A19, value: 1) }
            Advertisement(localName: "Always")
            Advertisement(localName: "Idle", whileConnected: .pause)
        }
        try await withEmulatedBlueZ(.init(adapters: [EmulatedAdapter(kind: kind)])) { bluez in
            let observer = bluez.central(for: peripheral)
            try await peripheral.run(on: bluez.backend, logger: .silent) { session in
                #expect(Set(observer.names) == ["Always", "Idle"])
                let central = bluez.central(for: peripheral)
                try await central.connect()
                try await until { Set(observer.names) == ["Always"] }
                central.disconnect()
                try await until { Set(observer.names) == ["Always", "Idle"] }
                #expect(session.state.isOnTheAir)
            }
        }
    }

    @Test func whoseTimeIsOverIsToldAndDoesNotComeBack() async throws {
        let clock = ManualClock()
        let short = Advertisement(localName: "Short", timeout: .seconds(60))
        let peripheral = Peripheral("Lamp") {
            GATTService(0x180F) { Characteristic<UInt8>(0x2A19, value: 1) }
            Advertisement(localName: "Long")
            short
        }
        try await withEmulatedBlueZ(.init(clock: clock)) { bluez in
            let observer = bluez.central(for: peripheral)
            try await peripheral.run(on: bluez.backend, logger: .silent) { session in
                var events = session.events.makeAsyncIterator()
                #expect(Set(observer.names) == ["Long", "Short"])
                await clock.waitForSleeper()
                clock.advance(by: .seconds(60))
                guard case .advertisementEnded(let ended) = try await events.next() else {
                    Issue.record("another event")
                    return
                }
                #expect(ended.localName == "Short")
                // bluetoothd reports the end first, and then withdraws the advertisement.
                try await until { observer.names == ["Long"] }
                // A connection has what is advertised registered again.
                let central = bluez.central(for: peripheral)
                try await central.connect()
                try await until { observer.names == ["Long"] }
                #expect(session.state.isOnTheAir)
            }
        }
    }

    // MARK: Changes

    private static func makeLamp() -> Peripheral {
        Peripheral("Lamp") { GATTService(0x180F) { Characteristic<UInt8>(0x2A19, value: 1) } }
    }

    /// What was demanded is there again after bluetoothd, the adapter or its power was gone.
    @Test func whatWasChangedOutlastsRecoveries() async throws {
        let lamp = Self.makeLamp()
        try await withEmulatedBlueZ { bluez in
            let observer = bluez.central(for: lamp)
            try await lamp.run(on: bluez.backend, logger: .silent) { session in
                try await session.advertise(
                    Advertisement(localName: "One"),
                    Advertisement(localName: "Two")
                )
                #expect(Set(observer.names) == ["One", "Two"])
                await bluez.killDaemon()
                try await until { !session.state.isOnTheAir }
                // What is demanded meanwhile counts as well.
                try await session.changeAdvertisement(at: 1) { $0.localName = "Three" }
                try await bluez.startDaemon()
                try await until { session.state.isOnTheAir }
                #expect(Set(observer.names) == ["One", "Three"])
                await bluez.setPowered(false)
                try await until { !session.state.isOnTheAir }
                try await session.changeAdvertisement { $0.localName = "Four" }
                await bluez.setPowered(true)
                try await until { session.state.isOnTheAir && Set(observer.names) == ["Four", "Three"] }
                try await session.stopAdvertising()
                #expect(observer.names.isEmpty)
                await bluez.killDaemon()
                try await until { !session.state.isRegistered }
                try await bluez.startDaemon()
                try await until { session.state.isRegistered }
                #expect(observer.names.isEmpty)
                try await session.advertise()
                #expect(observer.names == ["Lamp"])
            }
        }
    }

    /// A change of content is no registration, and leaves no moment without advertisement.
    @Test(arguments: ["5.66", "5.87"] as [BlueZVersion], [EmulatedAdapter.Kind.legacy, .extended])
    func contentChangesWhereItIs(version: BlueZVersion, kind: EmulatedAdapter.Kind) async throws {
        let lamp = Self.makeLamp()
        try await withEmulatedBlueZ(.init(version: version, adapters: [EmulatedAdapter(kind: kind)])) {
            bluez in
            let observer = bluez.central(for: lamp)
            try await lamp.run(on: bluez.backend, logger: .silent) { session in
                try await BusObserver.run(on: bluez) { bus in
                    for number in 1...3 as ClosedRange<UInt8> {
                        try await session.changeAdvertisement { $0.manufacturerData[0x0059] = [number] }
                        try await until {
                            observer.scan().map(\.payload.manufacturerData) == [[0x0059: [number]]]
                        }
                    }
                    // Only this change withdraws the advertisement and registers it again.
                    try await session.changeAdvertisement { $0.discoverability = .never }
                    try await until {
                        observer.scan().first?.payload.flags?.contains(.generalDiscoverable) == false
                    }
                    let second = Advertisement(localName: "Second")
                    try await session.advertise(session.advertisements + [second])
                    #expect(try await bus.advertisementCounts(upTo: 2) == [0, 1, 2])
                }
            }
        }
    }

    @Test func whatDoesNotFitOnTheAdapterIsRefusedBeforeAnythingIsChanged() async throws {
        let lamp = Self.makeLamp()
        try await withEmulatedBlueZ(.init(adapters: [EmulatedAdapter(kind: .legacy)])) { bluez in
            let observer = bluez.central(for: lamp)
            try await lamp.run(on: bluez.backend, logger: .silent) { session in
                // On an adapter of Bluetooth 5 it would fit.
                let long = Advertisement(
                    services: [],
                    manufacturerData: [0x0059: [UInt8](repeating: 0, count: 60)],
                    secondaryChannel: .oneM
                )
                await #expect(throws: DeclarationError.self) {
                    try await session.advertise(Advertisement(localName: "Other"), long)
                }
                #expect(observer.names == ["Lamp"])
                #expect(session.advertisements == [Advertisement()])
            }
        }
    }

    /// There is room for five.
    @Test func whatBluetoothdRefusesLeavesAllAsItWas() async throws {
        let lamp = Self.makeLamp()
        try await withEmulatedBlueZ { bluez in
            let observer = bluez.central(for: lamp)
            try await lamp.run(on: bluez.backend, logger: .silent) { session in
                let six = (1...6).map { Advertisement(localName: "\($0)") }
                let error = await #expect(throws: PeripheralError.self) { try await session.advertise(six) }
                #expect(error?.code == .rejected)
                #expect(error?.message.hasPrefix("The adapter has no room for another advertisement") == true)
                #expect(session.advertisements == [Advertisement()])
                try await until { observer.names == ["Lamp"] }
                #expect(session.state.isOnTheAir)
            }
        }
    }

    /// Of several that are declared, those stay on the air that bluetoothd takes; the rest is tried again.
    @Test func whatIsRefusedFromTheStartIsTriedAgain() async throws {
        let clock = ManualClock()
        let other = Self.makeLamp()
        let many = Peripheral("Many") {
            GATTService(0x180F) { Characteristic<UInt8>(0x2A19, value: 1) }
            for number in 1...5 { Advertisement(localName: "\(number)") }
        }
        try await withEmulatedBlueZ { bluez in
            let observer = bluez.central(for: many)
            let gate = Signal<Void>()
            let run = Task {
                try await other.run(on: bluez.backend, logger: .silent) { _ in try await gate.next() }
            }
            try await until { observer.names == ["Lamp"] }
            let backend = BlueZBackend(bus: .address(bluez.busAddress), clock: clock)
            try await many.run(on: backend, logger: .silent) { session in
                #expect(observer.names == ["Lamp", "1", "2", "3", "4"])
                try await until { session.state.reason != nil }
                #expect(session.state.isRegistered && !session.state.isAdvertising)
                #expect(session.state.reason?.hasPrefix("The adapter has no room for another") == true)
                gate.send()
                try await run.value
                await clock.waitForSleeper()
                clock.advance(by: .seconds(1))
                try await until { session.state.isOnTheAir }
                #expect(session.state.reason == nil)
                #expect(observer.names == ["1", "2", "3", "4", "5"])
            }
            await #expect(throws: PeripheralError.self) {
                try await other.run(on: bluez.backend, logger: .silent) { _ in
                    try await many.run(on: bluez.backend(recovery: .afterPublication), logger: .silent) { _ in
                    }
                }
            }
            #expect(observer.names.isEmpty)
        }
    }

    @Test func whoseTimeIsOverBeginsAnewWhenThatIsDemanded() async throws {
        let clock = ManualClock()
        let peripheral = Peripheral("Lamp") {
            GATTService(0x180F) { Characteristic<UInt8>(0x2A19, value: 1) }
            Advertisement(localName: "Short", timeout: .seconds(60))
        }
        try await withEmulatedBlueZ(.init(clock: clock)) { bluez in
            let observer = bluez.central(for: peripheral)
            try await peripheral.run(on: bluez.backend, logger: .silent) { session in
                for _ in 0..<3 {
                    await clock.waitForSleeper()
                    clock.advance(by: .seconds(60))
                    try await until { observer.names.isEmpty && !session.state.isAdvertising }
                    try await session.advertise()
                    #expect(observer.names == ["Short"])
                    #expect(session.state.isOnTheAir)
                }
            }
        }
    }

    @Test func declarationsHaveNamesOfTheirOwn() {
        #expect(Set(AdvertisingDeclaration.all.map(\.name)).count == AdvertisingDeclaration.all.count)
    }
}

extension VirtualCentral {
    /// The names on the air.
    fileprivate var names: [String?] { scan().map(\.payload.localName) }
}
