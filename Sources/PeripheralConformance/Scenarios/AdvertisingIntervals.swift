internal import PeripheralCore
internal import PeripheralKit
internal import PeripheralTesting

extension ConformanceSuite {
    static let advertisingIntervals = [slowingAdvertisement]

    static let slowingAdvertisement = Scenario(
        "an advertisement is fast, slows down, and is fast again after a change and after a disconnection"
    ) {
        let time = Duration.seconds(4)
        let peripheral = Peripheral("Lamp") {
            GATTService(.battery) { Characteristic<UInt8>(0x2A19, value: 99) }
            Advertisement(slowing: .after(time))
        }
        return ScenarioRun(timed: peripheral, mtu: nil) { central, session, clock in
            let interval = try await central.scan().first?.interval
            try expect("interval", "\(interval, default: "unknown")", is: "\(AdvertisingInterval.fast)")
            try await hear(.slow, central, clock)
            try await session.changeAdvertisement { $0.manufacturerData[0xFFFF] = [1] }
            try await hear(.fast, central)
            try await hear(.slow, central, clock)
            try await central.connect(mtu: 517)
            try await central.disconnect()
            try await hear(.fast, central)
            try await hear(.slow, central, clock)
        }
    }

    /// Scans until the advertisement has the interval, and meanwhile lets time pass on the clock.
    private static func hear(
        _ interval: AdvertisingInterval,
        _ central: any TestCentral,
        _ clock: ManualClock? = nil
    ) async throws {
        var heard: [ScanResult] = []
        let end = ContinuousClock.now + .seconds(15)
        repeat {
            clock?.advance(by: .seconds(1))
            heard = try await central.scan()
            if heard.map(\.interval) == [interval] { return }
            try await Task.sleep(for: .milliseconds(5))
        } while ContinuousClock.now < end
        throw ConformanceFailure(description: "interval \(interval): received \(heard).")
    }
}
