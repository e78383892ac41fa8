import Logging
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

/// What the backend in memory has on the air.
@Suite(.timeLimit(.minutes(1)))
struct InMemoryAdvertisingTests {
    private static let silent = Logger(label: "silent") { _ in SwiftLogNoOpLogHandler() }

    @Test func whatPausesIsOffTheAirWhileACentralIsConnected() async throws {
        let peripheral = Peripheral("Lamp") {
            GATTService(0x180F) { Characteristic<UInt8>(0x2A19, value: 1) }
            Advertisement(localName: "Always")
            Advertisement(localName: "Idle", whileConnected: .pause)
        }
        let backend = InMemoryBackend()
        let observer = backend.makeCentral(of: peripheral)
        try await peripheral.run(on: backend, logger: Self.silent) { session in
            for _ in 0..<3 {
                #expect(observer.names == ["Always", "Idle"])
                let central = backend.makeCentral(of: peripheral)
                try await central.connect()
                try await until { observer.names == ["Always"] }
                // A change is for later.
                try await session.changeAdvertisement(at: 1) { $0.appearance = 1 }
                #expect(observer.names == ["Always"])
                central.disconnect()
                try await until { observer.names == ["Always", "Idle"] }
            }
            #expect(observer.scan().map(\.payload.appearance) == [nil, 1])
        }
        #expect(observer.names.isEmpty)
    }

    @Test func whatIsNotPossibleChangesNothing() async throws {
        let peripheral = Peripheral("Lamp") {
            GATTService(0x180F) { Characteristic<UInt8>(0x2A19, value: 1) }
        }
        let backend = InMemoryBackend()
        let observer = backend.makeCentral(of: peripheral)
        try await peripheral.run(on: backend, logger: Self.silent) { session in
            await #expect(throws: DeclarationError.self) {
                try await session.advertise(Advertisement(localName: "A"), Advertisement(timeout: .zero))
            }
            #expect(observer.names == ["Lamp"])
        }
    }

    /// BlueZ before 5.69 accepts only 31 bytes, unless the advertisement has a secondary channel.
    @Test func whatTheOldestBlueZRefusesIsRefused() async throws {
        let peripheral = Peripheral("Lamp") {
            GATTService(0x180F) { Characteristic<UInt8>(0x2A19, value: 1) }
        }
        let backend = InMemoryBackend()
        let observer = backend.makeCentral(of: peripheral)
        try await peripheral.run(on: backend, logger: Self.silent) { session in
            let error = await #expect(throws: DeclarationError.self) {
                try await session.changeAdvertisement {
                    $0.manufacturerData = [0xFFFF: [UInt8](repeating: 0, count: 236)]
                }
            }
            #expect(
                error?.issues.first?.description
                    == "error: manufacturer data 0xffff of the advertisement: it ends at byte 240, but there is room "
                    + "for only 31; leave something out, or shorten it"
            )
            #expect(observer.scan().map(\.payload.manufacturerData) == [[:]])
        }
    }

    @Test func aNewNameThatIsCutIsLoggedOnce() async throws {
        let peripheral = Peripheral("Lamp") {
            GATTService(0x180F) { Characteristic<UInt8>(0x2A19, value: 1) }
        }
        let log = LogRecorder()
        try await peripheral.run(on: InMemoryBackend(), logger: log.logger) { session in
            func warnings() -> [String] { log.lines.filter { $0.hasPrefix("warning: ") } }
            try await session.changeAdvertisement { $0.localName = String(repeating: "x", count: 29) }
            #expect(warnings() == [])
            try await session.changeAdvertisement { $0.localName = String(repeating: "x", count: 30) }
            let expected =
                "warning: local name of the advertisement: only its first 29 bytes fit; choose a name of at most 29 "
                + "bytes [Lamp]"
            #expect(warnings() == [expected])
            try await session.changeAdvertisement { $0.appearance = 0x0340 }
            #expect(warnings() == [expected])
        }
    }
}

extension VirtualCentral {
    /// The names on the air.
    fileprivate var names: [String?] { scan().map(\.payload.localName) }
}
