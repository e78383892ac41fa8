import PeripheralBlueZ
import PeripheralEmulator
import PeripheralHeartRate
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct HeartRateTests {
    @Test func appShowsTheHeartRate() async throws {
        let heartRate = HeartRateService(location: .chest)
        let peripheral = Peripheral("Pulse") { heartRate }
        try await withEmulatedBlueZ { bluez in
            try await peripheral.run(on: bluez.backend, logger: .silent) { session in
                let central = bluez.central(for: peripheral)
                let advertisement = try #require(central.scan().first)
                #expect(advertisement.payload.localName == "Pulse")
                #expect(advertisement.payload.services == [.heartRate])

                try await central.connect(mtu: 23)
                let location = try #require(heartRate.bodySensorLocation)
                #expect(try await central.read(location) == .chest)
                try await central.subscribe(to: heartRate.measurement)
                // The peripheral learns of the subscription before it receives the read.
                _ = try await central.read(location)
                for bpm: UInt16 in [60, 61, 62] {
                    try await session.notify(heartRate.measurement, HeartRateMeasurement(bpm: bpm))
                    #expect(try await central.nextUpdate(of: heartRate.measurement).bpm == bpm)
                }
                central.disconnect()
            }
        }
    }

    @Test(arguments: [EmulatedAdapter.Kind.extended, .legacy])
    func appsComeAndGo(kind: EmulatedAdapter.Kind) async throws {
        let heartRate = HeartRateService(location: .wrist)
        let peripheral = Peripheral("Pulse") { heartRate }
        try await withEmulatedBlueZ(.init(adapters: [EmulatedAdapter(kind: kind)])) { bluez in
            try await peripheral.run(on: bluez.backend, logger: .silent) { session in
                let location = try #require(heartRate.bodySensorLocation)
                let centrals = (0..<4).map { _ in bluez.central(for: peripheral) }
                for _ in 0..<3 {
                    for central in centrals {
                        try await central.connect(mtu: 185)
                        try await central.subscribe(to: heartRate.measurement)
                        #expect(try await central.read(location) == .wrist)
                    }
                    try await session.notify(heartRate.measurement, HeartRateMeasurement(bpm: 70))
                    for central in centrals {
                        #expect(try await central.nextUpdate(of: heartRate.measurement).bpm == 70)
                        central.disconnect()
                    }
                }
            }
        }
    }
}
