import PeripheralHeartRate
import PeripheralKit
import PeripheralTesting
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1)))
struct HeartRateServiceTests {
    @Test func declaresOnlyTheMeasurementByItself() async throws {
        let heartRate = HeartRateService()
        #expect(heartRate.bodySensorLocation == nil)
        #expect(heartRate.controlPoint == nil)
        try await Peripheral("Pulse") { heartRate }.test { central in
            let declared = try await central.discover().declared
            #expect(
                declared == [
                    DeclaredCharacteristic(service: 0x180D, uuid: 0x2A37, properties: .notify)
                ]
            )
        }
    }

    @Test func declaresWhatIsGiven() async throws {
        let heartRate = HeartRateService(location: .wrist) {}
        try await Peripheral("Pulse") { heartRate }.test { central in
            let declared = try await central.discover().declared
            #expect(
                declared == [
                    DeclaredCharacteristic(service: 0x180D, uuid: 0x2A37, properties: .notify),
                    DeclaredCharacteristic(service: 0x180D, uuid: 0x2A38, properties: .read),
                    DeclaredCharacteristic(service: 0x180D, uuid: 0x2A39, properties: .write),
                ]
            )
        }
    }

    @Test(
        arguments: [
            (BodySensorLocation.other, 0, "other"), (.chest, 1, "chest"), (.wrist, 2, "wrist"),
            (.finger, 3, "finger"), (.hand, 4, "hand"), (.earLobe, 5, "ear lobe"), (.foot, 6, "foot"),
            (BodySensorLocation(rawValue: 7), 7, "reserved (7)"),
        ] as [(BodySensorLocation, UInt8, String)]
    )
    func tellsTheLocation(location: BodySensorLocation, byte: UInt8, text: String) async throws {
        let heartRate = HeartRateService(location: location)
        let characteristic = try #require(heartRate.bodySensorLocation)
        #expect(location.description == text)
        try await Peripheral("Pulse") { heartRate }.test { central in
            #expect(try await central.read(characteristic) == location)
            let handle = try await central.locate(characteristic).valueHandle
            #expect(try await central.read(handle, offset: 0) == [byte])
        }
    }

    @Test func sendsMeasurementsThatFitEveryConnection() async throws {
        let heartRate = HeartRateService(onResetEnergyExpended: {})
        let measurement = HeartRateMeasurement(
            bpm: 61,
            sensorContact: .detected,
            energyExpended: 12,
            rrIntervals: (1...20).map { RRInterval(rawValue: $0) }
        )
        try await Peripheral("Pulse") { heartRate }.test(mtu: 23) { central, session in
            try await central.subscribe(to: heartRate.measurement)
            try await heartRate.notify(measurement, in: session)
            var received = measurement
            received.rrIntervals = measurement.rrIntervals.suffix(8)
            #expect(try await central.nextUpdate(of: heartRate.measurement) == received)
        }
    }

    @Test func leavesOutTheEnergyThatCannotBeReset() async throws {
        let heartRate = HeartRateService()
        try await Peripheral("Pulse") { heartRate }.test { central, session in
            try await central.subscribe(to: heartRate.measurement)
            try await heartRate.notify(HeartRateMeasurement(bpm: 61, energyExpended: 12), in: session)
            #expect(try await central.nextUpdate(of: heartRate.measurement) == HeartRateMeasurement(bpm: 61))
        }
    }

    @Test func resetsTheEnergyExpended() async throws {
        let resets = Atomic(0)
        let heartRate = HeartRateService { resets.add(1, ordering: .relaxed) }
        let controlPoint = try #require(heartRate.controlPoint)
        try await Peripheral("Pulse") { heartRate }.test { central in
            try await central.write(controlPoint, .resetEnergyExpended)
            #expect(resets.load(ordering: .relaxed) == 1)
        }
    }

    @Test(
        arguments: [
            ([0x00], ATTError(rawValue: 0x80)), ([0x02], ATTError(rawValue: 0x80)),
            ([0xFF], ATTError(rawValue: 0x80)), ([], .invalidAttributeValueLength),
            ([0x01, 0x01], .invalidAttributeValueLength),
        ] as [([UInt8], ATTError)]
    )
    func refusesOtherCommands(bytes: [UInt8], error: ATTError) async throws {
        let heartRate = HeartRateService { Issue.record("The energy expended was reset.") }
        let controlPoint = try #require(heartRate.controlPoint)
        try await Peripheral("Pulse") { heartRate }.test { central in
            let handle = try await central.locate(controlPoint).valueHandle
            await #expect(throws: error) {
                try await central.write(handle, bytes)
            }
        }
    }

    @Test func tellsTheCentralWhenTheResetFails() async throws {
        let heartRate = HeartRateService { throw ATTError.procedureAlreadyInProgress }
        let controlPoint = try #require(heartRate.controlPoint)
        try await Peripheral("Pulse") { heartRate }.test { central in
            await #expect(throws: ATTError.procedureAlreadyInProgress) {
                try await central.write(controlPoint, .resetEnergyExpended)
            }
        }
    }
}
