import PeripheralGlucose
import PeripheralKit
import PeripheralRecordAccess
import PeripheralTesting
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1)))
struct GlucoseTests {
    static let time = DateTime.november(22, hour: 7, minute: 30, second: 5)

    static let full = {
        var measurement = GlucoseMeasurement(
            sequenceNumber: 0x0102,
            baseTime: time,
            timeOffset: -60,
            concentration: .millimolesPerLiter(5.5),
            type: .interstitialFluid,
            location: .notAvailable,
            status: [.batteryLow, .timeFault]
        )
        measurement.contextFollows = true
        return measurement
    }()

    /// Bytes by hand, after Glucose Service 1.0.1, section 3.1.
    static let measurements: [(GlucoseMeasurement, [UInt8])] = [
        (
            GlucoseMeasurement(sequenceNumber: 1, baseTime: time, status: nil),
            [0x00, 0x01, 0x00, 0xEA, 0x07, 11, 22, 7, 30, 5]
        ),
        (
            GlucoseMeasurement(
                sequenceNumber: 2,
                baseTime: time,
                concentration: .milligramsPerDeciliter(105),
                type: .capillaryWholeBlood,
                location: .finger
            ),
            [0x02, 0x02, 0x00, 0xEA, 0x07, 11, 22, 7, 30, 5, 0x69, 0xB0, 0x11]
        ),
        (
            full,
            [0x1F, 0x02, 0x01, 0xEA, 0x07, 11, 22, 7, 30, 5, 0xC4, 0xFF, 0x37, 0xC0, 0xF9, 0x01, 0x08]
        ),
    ]

    @Test(arguments: measurements)
    func measurementsAreAsSpecified(measurement: GlucoseMeasurement, bytes: [UInt8]) throws {
        #expect(measurement.gattBytes == bytes)
        #expect(try GlucoseMeasurement(gattBytes: bytes) == measurement)
    }

    /// Bytes by hand, after Glucose Service 1.0.1, section 3.2.
    static let contexts: [(GlucoseContext, [UInt8])] = [
        (GlucoseContext(sequenceNumber: 5), [0x00, 0x05, 0x00]),
        (GlucoseContext(sequenceNumber: 5, meal: .fasting), [0x02, 0x05, 0x00, 0x03]),
        (
            GlucoseContext(
                sequenceNumber: 0x0102,
                carbohydrate: .init(.lunch, grams: 60),
                meal: .postprandial,
                circumstances: GlucoseCircumstances(tester: .user, health: .underStress),
                exercise: .init(seconds: 1800, intensity: 60),
                medication: .init(.rapidActingInsulin, .milliliters(2)),
                hbA1c: 5.5
            ),
            [
                0x7F, 0x02, 0x01, 0x02, 0x3C, 0xD0, 0x02, 0x41, 0x08, 0x07, 0x3C, 0x01, 0x02, 0xD0, 0x37,
                0xF0,
            ]
        ),
        (
            GlucoseContext(sequenceNumber: 1, medication: .init(.preMixedInsulin, .milligrams(250))),
            [0x10, 0x01, 0x00, 0x05, 0xFA, 0xA0]
        ),
    ]

    @Test(arguments: contexts)
    func contextsAreAsSpecified(context: GlucoseContext, bytes: [UInt8]) throws {
        #expect(context.gattBytes == bytes)
        #expect(try GlucoseContext(gattBytes: bytes) == context)
    }

    @Test func extendedFlagsAreKept() throws {
        let bytes: [UInt8] = [0x82, 0x01, 0x00, 0xAA, 0x05]
        let context = try GlucoseContext(gattBytes: bytes)
        #expect(context.meal == .bedtime)
        #expect(context.gattBytes == bytes)
    }

    @Test(
        arguments: [
            (-1, .nan), (0.4, MedicalShortFloat(mantissa: 0, exponent: -5)), (.nan, .nan),
            (2045.4, MedicalShortFloat(mantissa: 2045, exponent: -5)), (2046, .positiveInfinity),
            (.infinity, .positiveInfinity),
        ] as [(Double, MedicalShortFloat?)]
    )
    func whatCannotBeToldIsASpecialValue(milligrams: Double, value: MedicalShortFloat?) {
        #expect(GlucoseConcentration.milligramsPerDeciliter(milligrams).value == value)
    }

    @Test func featuresFollowFromWhatIsDetected() async throws {
        let glucose = GlucoseService(
            records: { [] },
            detecting: [.batteryLow, .resultTooLow, .temperatureTooHigh, .timeFault],
            supportsMultipleBonds: true,
            security: .open
        )
        #expect(glucose.context == nil)
        try await Peripheral("Meter") { glucose }.test { central async throws in
            #expect(
                try await central.read(glucose.feature) == [
                    .lowBatteryDetection, .resultHighLowDetection, .temperatureHighLowDetection, .timeFault,
                    .multipleBonds,
                ]
            )
        }
    }

    @Test func nothingOptionalIsDeclaredUnasked() async throws {
        let glucose = GlucoseService(records: { [] }, security: .open)
        #expect(glucose.context == nil)
        try await Peripheral("Meter") { glucose }.test { central async throws in
            #expect(
                try await central.discover().declared == [
                    DeclaredCharacteristic(service: 0x1808, uuid: 0x2A18, properties: .notify),
                    DeclaredCharacteristic(service: 0x1808, uuid: 0x2A51, properties: .read),
                    DeclaredCharacteristic(service: 0x1808, uuid: 0x2A52, properties: [.write, .indicate]),
                ]
            )
            #expect(try await central.read(glucose.feature) == [])
        }
    }

    @Test(
        arguments: [([], nil), (.timeFault, []), (.batteryLow, .batteryLow)]
            as [(GlucoseSensorStatus, GlucoseSensorStatus?)]
    )
    func statusIsWhatTheFeaturesTellOf(detected: GlucoseSensorStatus, sent: GlucoseSensorStatus?) async throws
    {
        var record = Self.record(1)
        record.measurement.status = [.batteryLow, .malfunction]
        let glucose = GlucoseService(records: { [record] in [record] }, detecting: detected, security: .open)
        try await Peripheral("Meter") { glucose }.test { central in
            try await central.subscribe(to: glucose.measurement)
            try await central.subscribe(to: glucose.recordAccess)
            let request = RecordAccessRequest.report(.all)
            let response = try await central.request(request, of: glucose.recordAccess)
            #expect(response == .result(.success, of: .report))
            #expect(try await central.nextUpdate(of: glucose.measurement).status == sent)
        }
    }

    private static func record(_ number: UInt16, context: GlucoseContext? = nil) -> GlucoseRecord {
        GlucoseRecord(
            GlucoseMeasurement(
                sequenceNumber: number,
                baseTime: time,
                timeOffset: Int16(number) * 60,
                concentration: .milligramsPerDeciliter(100),
                type: .capillaryPlasma,
                location: .finger
            ),
            context: context
        )
    }

    private static func meter(
        _ store: Kept<[GlucoseRecord]>
    ) -> GlucoseService {
        GlucoseService(
            records: { store.value },
            remove: { removed in store.change { $0.removeAll { removed.contains($0) } } },
            hasContext: true,
            security: .open
        )
    }

    @Test func recordsAreReportedWithTheirContext() async throws {
        let store = Kept([
            Self.record(1), Self.record(2, context: .init(meal: .fasting)),
        ])
        let glucose = Self.meter(store)
        let context = try #require(glucose.context)
        try await Peripheral("Meter") { glucose }.test { central in
            try await central.subscribe(to: glucose.recordAccess)
            await #expect(throws: ATTError.glucoseNotSubscribed) {
                try await central.write(RecordAccessRequest.report(.all), to: glucose.recordAccess)
            }
            try await central.subscribe(to: glucose.measurement)
            for wantsContext in [false, true] {
                if wantsContext { try await central.subscribe(to: context) }
                let response = try await central.request(
                    RecordAccessRequest.report(.all),
                    of: glucose.recordAccess
                )
                #expect(response == .result(.success, of: .report))
                let first = try await central.nextUpdate(of: glucose.measurement)
                #expect(first == Self.record(1).measurement)
                let second = try await central.nextUpdate(of: glucose.measurement)
                #expect(second.sequenceNumber == 2)
                #expect(second.contextFollows == wantsContext)
            }
            let told = try await central.nextUpdate(of: context)
            #expect(told == GlucoseContext(sequenceNumber: 2, meal: .fasting))
        }
    }

    /// Glucose Service 1.0.1, section 1.6.
    @Test func requestsAreRefusedByTheErrorsOfTheService() async throws {
        let glucose = GlucoseService(
            records: {
                try await Task.sleep(for: .seconds(3600))
                return []
            },
            security: .open
        )
        try await Peripheral("Meter") { glucose }.test { central in
            try await central.subscribe(to: glucose.measurement)
            await #expect(throws: ATTError(rawValue: 0x81)) {
                try await central.write(RecordAccessRequest.report(.all), to: glucose.recordAccess)
            }
            try await central.subscribe(to: glucose.recordAccess)
            try await central.write(RecordAccessRequest.report(.all), to: glucose.recordAccess)
            await #expect(throws: ATTError(rawValue: 0x80)) {
                try await central.write(RecordAccessRequest.report(.all), to: glucose.recordAccess)
            }
        }
    }

    /// The hours that the user has added count: record 3 was made at 10:30:05 for the user.
    @Test func recordsAreChosenByTheTimeOfTheUser() async throws {
        let store = Kept((1...5).map { Self.record($0) })
        let glucose = Self.meter(store)
        try await Peripheral("Meter") { glucose }.test { central in
            try await central.subscribe(to: glucose.recordAccess)
            try await central.subscribe(to: glucose.measurement)
            let bound = try #require(
                DateTime(year: 2026, month: 11, day: 22, hour: 10, minute: 30, second: 5)
            )
            let selection = RecordSelection.from(.userFacingTime(bound))
            let number = try await central.request(
                RecordAccessRequest.reportNumber(selection),
                of: glucose.recordAccess
            )
            #expect(number == .number(3))
            let deleted = try await central.request(
                RecordAccessRequest.delete(selection),
                of: glucose.recordAccess
            )
            #expect(deleted == .result(.success, of: .delete))
            #expect(store.value.map(\.measurement.sequenceNumber) == [1, 2])
        }
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func decodersEndWhateverTheyRead(seed: UInt64) throws {
        try fuzz(GlucoseMeasurement.self, seed: seed, count: 0...20)
        try fuzz(GlucoseContext.self, seed: seed, count: 0...20)
    }
}

/// What a store holds, which closures share.
private final class Kept<Value: Sendable>: Sendable {
    private let state: Mutex<Value>

    init(_ value: Value) {
        state = Mutex(value)
    }

    var value: Value { state.withLock(\.self) }

    func change(_ change: (inout Value) -> Void) {
        state.withLock { change(&$0) }
    }
}
