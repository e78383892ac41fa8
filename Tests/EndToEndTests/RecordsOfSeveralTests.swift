import Logging
import PeripheralEmulator
import PeripheralGlucose
import PeripheralKit
import PeripheralRecordAccess
import PeripheralTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct RecordsOfSeveralTests {
    /// Records are for one central: where others would get them as well, there are none.
    @Test(
        arguments: [(.v5_66, .procedureNotCompleted), (.v5_82, .success), (.v5_87, .success)]
            as [(BlueZVersion, RecordAccessResult)]
    )
    func recordsAreForOneCentral(version: BlueZVersion, result: RecordAccessResult) async throws {
        let time = try #require(DateTime(year: 2026, month: 11, day: 22))
        let glucose = GlucoseService(
            records: { [GlucoseRecord(GlucoseMeasurement(sequenceNumber: 1, baseTime: time, status: nil))] },
            security: .open
        )
        let peripheral = Peripheral("Meter") { glucose }
        // The limits for answers are none of this test's, and others can keep all threads busy for longer.
        let clock = ManualClock()
        try await withEmulatedBlueZ(.init(version: version, clock: clock)) { bluez in
            try await peripheral.run(on: bluez.backend, logger: .silent, clock: clock) { _ in
                let central = bluez.central(for: peripheral, clock: clock)
                let other = bluez.central(for: peripheral, clock: clock)
                for central in [central, other] {
                    try await central.connect()
                    try await central.subscribe(to: glucose.measurement)
                }
                try await central.subscribe(to: glucose.recordAccess)
                // The program knows of the subscriptions when this is answered.
                _ = try await central.read(glucose.feature)
                let response = try await central.request(
                    RecordAccessRequest.report(.all),
                    of: glucose.recordAccess
                )
                #expect(response == .result(result, of: .report))
            }
        }
    }
}
