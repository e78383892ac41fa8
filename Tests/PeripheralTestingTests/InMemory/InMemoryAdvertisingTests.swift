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
}

extension VirtualCentral {
    /// The names on the air.
    fileprivate var names: [String?] { scan().map(\.payload.localName) }
}
