import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ConnectionPreferenceTests {
    private static func preference(
        _ shortest: Double,
        _ longest: Double,
        latency: Int = 0,
        timeout: Double = 5000
    ) -> ConnectionPreference {
        ConnectionPreference(
            interval: .milliseconds(shortest) ... .milliseconds(longest),
            latency: latency,
            supervisionTimeout: .milliseconds(timeout)
        )
    }

    @Test(arguments: [
        (preference(7.5, 7.5, timeout: 100), 6...6, 0, 10),
        (preference(8, 16), 7...12, 0, 500),
        (preference(4000, 4000, timeout: 32_000), 3200...3200, 0, 3200),
        (preference(15, 30, latency: 499, timeout: 30_010), 12...24, 499, 3001),
        (preference(20, 30, timeout: 4001), 16...24, 0, 401),
        (.lowLatency, 12...24, 0, 500),
        (.lowPower, 360...408, 2, 600),
    ])
    func aValidPreferenceHasNumbersForTheController(
        preference: ConnectionPreference,
        interval: ClosedRange<UInt16>,
        latency: UInt16,
        timeout: UInt16
    ) throws {
        let units = try preference.units()
        #expect(units.interval == interval)
        #expect(units.latency == latency)
        #expect(units.supervisionTimeout == timeout)
    }

    @Test(arguments: [
        (preference(7.4, 20), "7.5 ms to 4 s"),
        (preference(20, 4001, timeout: 20_000), "7.5 ms to 4 s"),
        (preference(10.1, 11.2), "a multiple of 1.25 ms"),
        (preference(20, 20, latency: -1), "from 0 to 499"),
        (preference(20, 20, latency: 500), "from 0 to 499"),
        (preference(20, 20, timeout: 99), "from 100 ms to 32 s"),
        (preference(20, 20, timeout: 32_001), "from 100 ms to 32 s"),
        (preference(15, 30, latency: 499, timeout: 30_000), "more than 2 x (latency + 1)"),
        (preference(50, 50, timeout: 100), "more than 2 x (latency + 1)"),
    ])
    func anInvalidPreferenceNamesTheRule(preference: ConnectionPreference, rule: String) {
        let error = #expect(throws: PeripheralError.self) { try preference.units() }
        #expect(error?.code == .invalidValue)
        #expect(error?.message.contains(rule) == true)
    }

    @Test func theCentralDecides() async throws {
        let peripheral = Peripheral("Clock") {
            GATTService(.battery) { Characteristic<UInt8>(0x2A19, value: 1) }
        }
        let backend = InMemoryBackend()
        try await peripheral.run(on: backend) { session in
            let phone = backend.makeCentral(of: peripheral)
            try await phone.connect()
            let central = try #require(session.centrals.first)
            #expect(central.connectionParameters?.interval == .milliseconds(30))
            try phone.setAcceptsConnectionParameters(false)
            let error = await #expect(throws: PeripheralError.self) {
                try await session.prefer(.lowPower, for: central)
            }
            #expect(error?.code == .rejected)
            #expect(session.centrals.first?.connectionParameters == central.connectionParameters)
            try phone.setAcceptsConnectionParameters(true)
            let agreed = try await session.prefer(.lowPower, for: central)
            #expect(
                agreed
                    == ConnectionParameters(
                        interval: .milliseconds(510),
                        latency: 2,
                        supervisionTimeout: .seconds(6)
                    )
            )
            #expect(session.centrals.first?.connectionParameters == agreed)
            let own = ConnectionParameters(interval: .milliseconds(15))
            try phone.changeConnectionParameters(to: own)
            #expect(session.centrals.first?.connectionParameters == own)
            try phone.setSignalStrength(-83)
            #expect(try await session.signalStrength(of: central) == -83)
        }
    }
}
