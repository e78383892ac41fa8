import PeripheralCyclingPower
import PeripheralKit
import PeripheralSensorLocation
import PeripheralTesting
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1)))
struct CyclingPowerTests {
    typealias Measurement = CyclingPowerMeasurement

    private struct Failure: Error {}

    @Test func nothingOptionalIsDeclaredUnasked() async throws {
        let power = CyclingPowerService(location: .fixed(.leftCrank))
        #expect(power.vector == nil)
        #expect(power.controlPoint == nil)
        try await Peripheral("Crank") { power }.test { central async throws in
            #expect(
                try await central.discover().declared == [
                    DeclaredCharacteristic(service: 0x1818, uuid: 0x2A63, properties: .notify),
                    DeclaredCharacteristic(service: 0x1818, uuid: 0x2A65, properties: .read),
                    DeclaredCharacteristic(service: 0x1818, uuid: 0x2A5D, properties: .read),
                ]
            )
            #expect(try await central.read(power.feature).rawValue == 0)
            #expect(try await central.read(power.sensorLocation) == SensorLocation(rawValue: 5))
        }
    }

    /// Everything that can be given.
    private static func full(
        compensating compensation: CyclingPowerOffsetCompensation = .init(companyID: 0x0102) { .init(2.5) },
        onSetWheelRevolutions: @escaping @Sendable (UInt32) async throws -> Void = { _ in }
    ) -> CyclingPowerService {
        CyclingPowerService(
            measuring: .init(rawValue: 0xFFFF),
            location: .movable(
                among: [.leftCrank, .rightCrank],
                current: { .leftCrank },
                move: { _ in }
            ),
            isTorqueBased: true,
            reportsOffsetCompensation: true,
            isMaskable: true,
            hasVector: true,
            reportsDirection: true,
            isForDistributedSystem: true,
            settings: [
                .crankLength(get: { 172.5 }, set: { _ in }),
                .chainLength(get: { 1400 }, set: { _ in }),
                .chainWeight(get: { 260.4 }, set: { _ in }),
                .spanLength(get: { 70_000 }, set: { _ in throw Failure() }),
            ],
            offsetCompensation: compensation,
            samplingRate: 32,
            factoryCalibrationDate: .november(22, hour: 7, minute: 30, second: 5),
            onSetWheelRevolutions: onSetWheelRevolutions
        )
    }

    @Test func everythingIsDeclaredThatIsGiven() async throws {
        let power = Self.full()
        try await Peripheral("Crank") { power }.test { central async throws in
            #expect(
                try await central.discover().declared == [
                    DeclaredCharacteristic(service: 0x1818, uuid: 0x2A63, properties: .notify),
                    DeclaredCharacteristic(service: 0x1818, uuid: 0x2A65, properties: .read),
                    DeclaredCharacteristic(service: 0x1818, uuid: 0x2A5D, properties: .read),
                    DeclaredCharacteristic(service: 0x1818, uuid: 0x2A64, properties: .notify),
                    DeclaredCharacteristic(service: 0x1818, uuid: 0x2A66, properties: [.write, .indicate]),
                ]
            )
            #expect(try await central.read(power.feature).rawValue == 0x002F_FFFF)
        }
    }

    /// Section 3.1.1: a bit for each of what is given, and no other.
    static let features: [(CyclingPowerService, UInt32)] = [
        (.init(measuring: .pedalPowerBalance, location: .fixed(.hip)), 1 << 0),
        (.init(measuring: .accumulatedTorque, location: .fixed(.hip)), 1 << 1),
        // Bit 2 of what is measured is the handler's to set.
        (.init(measuring: .init(rawValue: 1 << 2), location: .fixed(.hip)), 0),
        (.init(location: .fixed(.hip), onSetWheelRevolutions: { _ in }), 1 << 2),
        (.init(measuring: .crankRevolutions, location: .fixed(.hip)), 1 << 3),
        (.init(measuring: .extremeMagnitudes, location: .fixed(.hip)), 1 << 4),
        (.init(measuring: .extremeAngles, location: .fixed(.hip)), 1 << 5),
        (.init(measuring: .topDeadSpotAngle, location: .fixed(.hip)), 1 << 6),
        (.init(measuring: .bottomDeadSpotAngle, location: .fixed(.hip)), 1 << 6),
        (.init(measuring: .accumulatedEnergy, location: .fixed(.hip)), 1 << 7),
        (.init(location: .fixed(.hip), reportsOffsetCompensation: true), 1 << 8),
        (.init(location: .fixed(.hip), offsetCompensation: .init { .init(0) }), 1 << 9),
        (.init(location: .fixed(.hip), isMaskable: true), 1 << 10),
        (.init(location: .movable(among: [], current: { .hip }, move: { _ in })), 1 << 11),
        (.init(location: .fixed(.hip), settings: [.crankLength(get: { 0 }, set: { _ in })]), 1 << 12),
        (.init(location: .fixed(.hip), settings: [.chainLength(get: { 0 }, set: { _ in })]), 1 << 13),
        (.init(location: .fixed(.hip), settings: [.chainWeight(get: { 0 }, set: { _ in })]), 1 << 14),
        (.init(location: .fixed(.hip), settings: [.spanLength(get: { 0 }, set: { _ in })]), 1 << 15),
        (.init(location: .fixed(.hip), isTorqueBased: true), 1 << 16),
        (.init(location: .fixed(.hip), hasVector: true, reportsDirection: true), 1 << 17),
        (.init(location: .fixed(.hip), factoryCalibrationDate: .november(1)), 1 << 18),
        (
            .init(location: .fixed(.hip), offsetCompensation: .init(companyID: 1) { .init(0) }),
            1 << 9 | 1 << 19
        ),
        (.init(location: .fixed(.hip), isForDistributedSystem: false), 1 << 20),
        (.init(location: .fixed(.hip), isForDistributedSystem: true), 1 << 21),
        (.init(location: .fixed(.hip), samplingRate: 1), 0),
    ]

    @Test(arguments: features)
    func featuresFollowFromWhatIsGiven(power: CyclingPowerService, bits: UInt32) async throws {
        try await Peripheral("Crank") { power }.test { central async throws in
            #expect(try await central.read(power.feature).rawValue == bits)
        }
    }

    private func run(
        _ power: CyclingPowerService,
        mtu: Int = 23,
        _ body:
            @escaping @Sendable (
                _ central: VirtualCentral, _ session: PeripheralSession
            ) async throws -> Void
    ) async throws {
        try await Peripheral("Crank") { power }.test(as: .specification, mtu: mtu, body)
    }

    /// Requests, and the bytes of the responses, by hand, after section 3.4.2.
    ///
    /// The offset is of torques: 2.5 N·m are 80 steps.
    static let procedures: [([UInt8], [UInt8])] = [
        ([0x01, 0x01, 0x00, 0x00, 0x00], [0x20, 0x01, 0x01]),
        ([0x01, 0x01, 0x00, 0x00], [0x20, 0x01, 0x03]),
        ([0x02, 0x06], [0x20, 0x02, 0x01]),
        ([0x02, 0x07], [0x20, 0x02, 0x03]),
        ([0x02], [0x20, 0x02, 0x03]),
        ([0x03], [0x20, 0x03, 0x01, 0x05, 0x06]),
        ([0x03, 0x00], [0x20, 0x03, 0x03]),
        ([0x04, 0x5A, 0x01], [0x20, 0x04, 0x01]),
        ([0x04, 0x5A], [0x20, 0x04, 0x03]),
        ([0x05], [0x20, 0x05, 0x01, 0x59, 0x01]),
        ([0x05, 0x00], [0x20, 0x05, 0x03]),
        ([0x06, 0x78, 0x05], [0x20, 0x06, 0x01]),
        ([0x07], [0x20, 0x07, 0x01, 0x78, 0x05]),
        ([0x08, 0x04, 0x01], [0x20, 0x08, 0x01]),
        ([0x09], [0x20, 0x09, 0x01, 0x04, 0x01]),
        ([0x0A, 0x01, 0x00], [0x20, 0x0A, 0x04]),
        ([0x0B], [0x20, 0x0B, 0x01, 0xFF, 0xFF]),
        ([0x0C], [0x20, 0x0C, 0x01, 0x50, 0x00]),
        ([0x0C, 0x00], [0x20, 0x0C, 0x03]),
        ([0x0D, 0xFF, 0x01], [0x20, 0x0D, 0x01]),
        ([0x0D, 0x00, 0x02], [0x20, 0x0D, 0x03]),
        ([0x0D, 0x00], [0x20, 0x0D, 0x03]),
        ([0x0E], [0x20, 0x0E, 0x01, 0x20]),
        ([0x0E, 0x00], [0x20, 0x0E, 0x03]),
        ([0x0F], [0x20, 0x0F, 0x01, 0xEA, 0x07, 11, 22, 7, 30, 5]),
        ([0x10], [0x20, 0x10, 0x01, 0x50, 0x00, 0x02, 0x01, 0x00]),
        ([0x10, 0x00], [0x20, 0x10, 0x03]),
        ([0x00], [0x20, 0x00, 0x02]),
        ([0x11], [0x20, 0x11, 0x02]),
        ([0x20, 0x01, 0x01], [0x20, 0x20, 0x02]),
        ([0xFF, 0x01], [0x20, 0xFF, 0x02]),
    ]

    @Test(arguments: procedures)
    func proceduresAreAsSpecified(request: [UInt8], response: [UInt8]) async throws {
        let power = Self.full()
        let controlPoint = try #require(power.controlPoint)
        try await run(power) { central, _ in
            try await central.subscribe(to: controlPoint)
            #expect(try await central.request(request, of: controlPoint).gattBytes == response)
        }
    }

    /// With a sampling rate alone, all else is not supported, whatever the parameter.
    @Test func whatIsNotGivenIsNotSupported() async throws {
        let power = CyclingPowerService(location: .fixed(.hip), samplingRate: 1)
        let controlPoint = try #require(power.controlPoint)
        try await run(power) { central, _ in
            try await central.subscribe(to: controlPoint)
            for code in (0x00...0x11) as ClosedRange<UInt8> where code != 0x0E {
                let response = try await central.request([code, 1], of: controlPoint)
                #expect(response.gattBytes == [0x20, code, 0x02])
            }
        }
    }

    @Test func whatACentralSetsArrivesInItsUnit() async throws {
        let values = Recorded<Double>()
        let power = CyclingPowerService(
            location: .fixed(.leftCrank),
            settings: [
                .crankLength(get: { 0 }, set: { values.append($0) }),
                .chainLength(
                    get: { 0 },
                    set: { millimeters in
                        guard millimeters < 2000 else { throw SensorControlResult.invalidParameter }
                        values.append(millimeters)
                    }
                ),
            ],
            onSetWheelRevolutions: { values.append(Double($0)) }
        )
        let controlPoint = try #require(power.controlPoint)
        try await run(power) { central, _ in
            try await central.subscribe(to: controlPoint)
            _ = try await central.request([0x04, 0x5B, 0x01] as [UInt8], of: controlPoint)
            _ = try await central.request([0x06, 0x78, 0x05] as [UInt8], of: controlPoint)
            let refusal = try await central.request([0x06, 0xD0, 0x07] as [UInt8], of: controlPoint)
            #expect(refusal == .init(.invalidParameter, to: .setChainLength))
            _ = try await central.request(CyclingPowerRequest.setWheelRevolutions(70_000), of: controlPoint)
            #expect(values.values == [173.5, 1400, 70_000])
        }
    }

    /// Section 3.4: only the enhanced offset compensation reports the reason.
    @Test(
        arguments: [
            (nil, 0x0C, [0x04]),
            (nil, 0x10, [0x04]),
            (.incorrectPosition, 0x0C, [0x04]),
            (.incorrectPosition, 0x10, [0x04, 0x01]),
            (.ofManufacturer(data: [7, 8]), 0x10, [0x04, 0xFF, 0x02, 0x01, 0x02, 7, 8]),
            (
                .ofManufacturer(data: Array(1...20)), 0x10,
                [0x04, 0xFF, 0x02, 0x01, 13] + Array(1...13)
            ),
        ] as [(CyclingPowerOffsetCompensation.Failure?, UInt8, [UInt8])]
    )
    func aFailedCompensationTellsWhy(
        failure: CyclingPowerOffsetCompensation.Failure?,
        code: UInt8,
        expected: [UInt8]
    ) async throws {
        let power = Self.full(
            compensating: .init(companyID: 0x0102) {
                if let failure { throw failure }
                throw Failure()
            }
        )
        let controlPoint = try #require(power.controlPoint)
        try await run(power) { central, _ in
            try await central.subscribe(to: controlPoint)
            let response = try await central.request([code], of: controlPoint)
            #expect(response.gattBytes == [0x20, code] + expected)
        }
    }

    @Test func offsetsOfForcesAreInNewtons() async throws {
        let power = CyclingPowerService(
            location: .fixed(.leftCrank),
            offsetCompensation: .init(companyID: 0xFFFF) { .init(-40_000, data: Array(1...20)) }
        )
        let controlPoint = try #require(power.controlPoint)
        try await run(power) { central, _ in
            try await central.subscribe(to: controlPoint)
            let response = try await central.request([0x10] as [UInt8], of: controlPoint)
            #expect(response.parameter == [0x00, 0x80, 0xFF, 0xFF, 12] + Array(1...12))
            #expect(response.gattBytes.count == 20)
        }
    }

    /// Core Specification Supplement, Part B, 1.2, to which section 1.6 refers.
    @Test func requestsAreRefusedByTheCommonErrors() async throws {
        let power = CyclingPowerService(
            location: .fixed(.leftCrank),
            offsetCompensation: .init {
                try await Task.sleep(for: .seconds(3600))
                return .init(0)
            }
        )
        let controlPoint = try #require(power.controlPoint)
        try await run(power) { central, _ in
            await #expect(throws: ATTError(rawValue: 0xFD)) {
                try await central.write([0x0C] as [UInt8], to: controlPoint)
            }
            try await central.subscribe(to: controlPoint)
            try await central.write([0x0C] as [UInt8], to: controlPoint)
            await #expect(throws: ATTError(rawValue: 0xFE)) {
                try await central.write([0x0C] as [UInt8], to: controlPoint)
            }
        }
    }
}
