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
                #expect(observer.names == ["Long"])
                // A connection has what is advertised registered anew.
                let central = bluez.central(for: peripheral)
                try await central.connect()
                try await until { observer.names == ["Long"] }
                #expect(session.state.isOnTheAir)
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
