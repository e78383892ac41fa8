import MetricsTestKit
import PeripheralKit
import PeripheralMetrics
import PeripheralTesting
import Testing

/// The counters of a session, as reported to a metrics system.
@Suite(.timeLimit(.minutes(1)))
struct ReportMetricsTests {
    private static let level = Characteristic<UInt8>(0x2A19, .notify)
    private static let other = Characteristic<UInt8>(0x2A19, .notify)
    private let peripheral = Peripheral("Metered") {
        GATTService(.battery) { Self.level }
        GATTService(0x1810) { Self.other }
    }
    private let metrics = TestMetrics()
    private let clock = ManualClock()

    private func count(_ name: String) -> Int64 {
        metrics.counterTotal(label: "peripheral_updates_\(name)", dimensions: [("characteristic", "2a19")])
    }

    private func lastValue(_ name: String) throws -> Double? {
        try metrics.expectMeter("peripheral_updates_\(name)", [("characteristic", "2a19")]).lastValue
    }

    @Test func whatIsNewIsReportedAtIntervals() async throws {
        try await peripheral.test { central, session in
            async let _: Void = session.reportMetrics(every: .seconds(5), to: metrics, clock: clock)
            await clock.waitForSleeper()
            #expect(metrics.counters.isEmpty)
            try await central.subscribe(to: Self.level)
            for sent in 1...3 as ClosedRange<Int64> {
                try await session.notify(Self.level, 50)
                #expect(try await central.nextUpdate(of: Self.level) == 50)
                clock.advance(by: .seconds(5))
                await clock.waitForSleeper()
                #expect(count("sent") == sent)
            }
            #expect((count("dropped"), count("refused"), count("waits")) == (0, 0, 0))
            #expect(try lastValue("queued") == 0)
            #expect(try lastValue("in_flight") == 0)
            #expect(try lastValue("longest_wait_seconds") != nil)
        }
    }

    @Test func theLastReportIsThatOfTheEnd() async throws {
        try await peripheral.test { central, session in
            try await central.subscribe(to: Self.level)
            do {
                async let _: Void = session.reportMetrics(to: metrics, clock: clock)
                await clock.waitForSleeper()
                try await session.notify(Self.level, 50)
                #expect(try await central.nextUpdate(of: Self.level) == 50)
                #expect(count("sent") == 0)
            }
            #expect(count("sent") == 1)
        }
    }

    @Test func characteristicsOfTheSameUUIDAreReportedTogether() async throws {
        try await peripheral.test { central, session in
            for characteristic in [Self.level, Self.other] {
                try await central.subscribe(to: characteristic)
                try await session.notify(characteristic, 50)
                #expect(try await central.nextUpdate(of: characteristic) == 50)
            }
            do {
                async let _: Void = session.reportMetrics(to: metrics, clock: clock)
                await clock.waitForSleeper()
            }
            #expect(count("sent") == 2)
            #expect(metrics.counters(label: "peripheral_updates_sent").count == 1)
        }
    }
}
