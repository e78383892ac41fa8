import PeripheralFitnessMachine
import PeripheralIndoorBike
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct FitnessMachineControlTests {
    private struct Failure: Error {}

    private static let settings = allButEnergy + [.targetedEnergy]

    private static let allButEnergy: [FitnessMachineSetting] = [
        .targetSpeed(kilometersPerHour: 0...25, step: 0.1),
        .targetInclination(percent: -5...15.5, step: 0.5),
        .targetResistanceLevel(-0.1...100, step: 0.1),
        .targetPower(watts: -10...400, step: 5),
        .targetHeartRate(bpm: 60...180),
        .targetedSteps, .targetedStrides, .targetedDistance, .targetedTime,
        .targetedTimeInTwoHeartRateZones, .targetedTimeInThreeHeartRateZones,
        .targetedTimeInFiveHeartRateZones,
        .bikeSimulation, .wheelCircumference, .spinDown(kilometersPerHour: 8...24), .targetedCadence,
    ]

    private static func makeBike(
        _ settings: [FitnessMachineSetting] = settings,
        trainingStatus: TrainingStatus? = nil,
        onRequest carryOut: @escaping @Sendable (FitnessMachineRequest) async throws -> Void = { _ in }
    ) -> FitnessMachineService<IndoorBikeData> {
        FitnessMachineService(
            reporting: IndoorBikeData(kilometersPerHour: 0),
            trainingStatus: trainingStatus,
            control: FitnessMachineControl(settings, security: .open) { request, _ in
                try await carryOut(request)
            }
        )
    }

    /// Section 4.3: what is measured, and what can be set.
    @Test func featuresFollowFromWhatIsGiven() async throws {
        let plain = FitnessMachineService(reporting: IndoorBikeData(kilometersPerHour: 0))
        try await Peripheral("Bike") { plain }.test { central in
            #expect(try await central.read(plain.feature).gattBytes == [0, 0, 0, 0, 0, 0, 0, 0])
            let declared = try await central.discover().declared
            let service = BluetoothUUID.fitnessMachine
            #expect(
                declared == [
                    DeclaredCharacteristic(service: service, uuid: 0x2ACC, properties: .read),
                    DeclaredCharacteristic(service: service, uuid: 0x2AD2, properties: .notify),
                ]
            )
        }
        let ride = IndoorBikeData(
            kilometersPerHour: 0,
            averageKilometersPerHour: 0,
            averageRPM: 0,
            meters: 0,
            resistanceLevel: 0,
            averageWatts: 0,
            workout: WorkoutData(
                kilocaloriesPerHour: 0,
                bpm: 0,
                metabolicEquivalent: 0,
                elapsedSeconds: 0,
                remainingSeconds: 0
            )
        )
        let control = FitnessMachineControl(Self.settings, security: .open) { _, _ in }
        let full = FitnessMachineService(
            reporting: ride,
            trainingStatus: TrainingStatus(.idle),
            retainsUserData: true,
            control: control
        )
        try await Peripheral("Bike") { full }.test { central in
            let feature = try await central.read(full.feature)
            #expect(feature.gattBytes == [0x87, 0x7E, 0x01, 0x00, 0xFF, 0xFF, 0x01, 0x00])
            let properties = try await central.discover().declared.map { ($0.uuid, $0.properties) }
            let expected: [(BluetoothUUID, CharacteristicProperties)] = [
                (0x2ACC, .read), (0x2AD2, .notify), (0x2AD3, [.read, .notify]), (0x2AD4, .read),
                (0x2AD5, .read),
                (0x2AD6, .read), (0x2AD8, .read), (0x2AD7, .read), (0x2AD9, [.write, .indicate]),
                (0x2ADA, .notify),
            ]
            #expect(properties.map(\.0) == expected.map(\.0))
            #expect(properties.map(\.1) == expected.map(\.1))
        }
        let power = Self.makeBike([.targetPower(watts: 0...400)])
        try await Peripheral("Bike") { power }.test { central in
            let feature = try await central.read(power.feature)
            #expect(feature.gattBytes == [0, 0, 0, 0, 0x08, 0, 0, 0])
        }
    }

    /// Sections 4.11 to 4.15: least, most, step.
    @Test func rangesHaveTheirBytes() async throws {
        let bike = Self.makeBike()
        try await Peripheral("Bike") { bike }.test { central in
            func read(_ type: BluetoothUUID) async throws -> SupportedRange {
                try await central.read(#require(bike.range(type)))
            }
            func numbers(_ limits: SupportedRange.Limits) -> [Double] {
                [limits.minimum, limits.maximum, limits.step]
            }
            let speed = try await read(.supportedSpeedRange)
            #expect(speed.gattBytes == [0x00, 0x00, 0xC4, 0x09, 0x0A, 0x00])
            #expect(numbers(speed.kilometersPerHour) == [0, 25, 0.1])
            let inclination = try await read(.supportedInclinationRange)
            #expect(inclination.gattBytes == [0xCE, 0xFF, 0x9B, 0x00, 0x05, 0x00])
            #expect(numbers(inclination.percent) == [-5, 15.5, 0.5])
            let level = try await read(.supportedResistanceLevelRange)
            #expect(level.gattBytes == [0xFF, 0xFF, 0xE8, 0x03, 0x01, 0x00])
            #expect(numbers(level.levels) == [-0.1, 100, 0.1])
            let power = try await read(.supportedPowerRange)
            #expect(power.gattBytes == [0xF6, 0xFF, 0x90, 0x01, 0x05, 0x00])
            #expect(numbers(power.watts) == [-10, 400, 5])
            let heartRate = try await read(.supportedHeartRateRange)
            #expect(heartRate.gattBytes == [0x3C, 0xB4, 0x01])
            #expect(numbers(heartRate.bpm) == [60, 180, 1])
        }
        #expect(throws: GATTDecodingError.self) { try SupportedRange(gattBytes: [0, 0]) }
        #expect(throws: GATTDecodingError.self) { try SupportedRange(gattBytes: [0, 0, 0, 0]) }
        #expect(SupportedRange(.targetedCadence) == nil)
    }

    /// Section 3.1: flags, and the type of machine.
    @Test func advertisesWhatItIs() {
        let bike = Self.makeBike()
        #expect(bike.advertisedData() == [0x01, 0x20, 0x00])
        #expect(bike.advertisedData(isAvailable: false) == [0x00, 0x20, 0x00])
    }

    /// Bytes by hand, after section 4.16: the request as it is written, what the machine is asked for, and
    /// the status after it by section 4.17.
    @Test(
        arguments: [
            ([0x01], .reset, [0x01]),
            ([0x02, 0xC4, 0x09], .targetSpeed(kilometersPerHour: 25), [0x05, 0xC4, 0x09]),
            ([0x03, 0xCE, 0xFF], .targetInclination(percent: -5), [0x06, 0xCE, 0xFF]),
            ([0x04, 0x37], .targetResistanceLevel(5.5), [0x07, 0x37, 0x00]),
            // Beyond 25.5 it takes two bytes (test suite of the service, FTMS/SR/CW/BV-05-C).
            ([0x04, 0xE8, 0x03], .targetResistanceLevel(100), [0x07, 0xE8, 0x03]),
            ([0x04, 0xFF, 0xFF], .targetResistanceLevel(-0.1), [0x07, 0xFF, 0xFF]),
            ([0x05, 0xF6, 0xFF], .targetPower(watts: -10), [0x08, 0xF6, 0xFF]),
            ([0x06, 0x8C], .targetHeartRate(bpm: 140), [0x09, 0x8C]),
            ([0x07], .startOrResume, [0x04]),
            ([0x08, 0x01], .stop, [0x02, 0x01]),
            ([0x08, 0x02], .pause, [0x02, 0x02]),
            ([0x09, 0x2C, 0x01], .targetedEnergy(kilocalories: 300), [0x0A, 0x2C, 0x01]),
            ([0x0A, 0xFF, 0xFF], .targetedSteps(65_535), [0x0B, 0xFF, 0xFF]),
            ([0x0B, 0x01, 0x00], .targetedStrides(1), [0x0C, 0x01, 0x00]),
            ([0x0C, 0x87, 0xD6, 0x12], .targetedDistance(meters: 1_234_567), [0x0D, 0x87, 0xD6, 0x12]),
            ([0x0D, 0x10, 0x0E], .targetedTime(seconds: 3_600), [0x0E, 0x10, 0x0E]),
            (
                [0x0E, 0x01, 0x00, 0x02, 0x00], .targetedTimeInHeartRateZones(seconds: [1, 2]),
                [0x0F, 0x01, 0x00, 0x02, 0x00]
            ),
            (
                [0x0F, 1, 0, 2, 0, 3, 0], .targetedTimeInHeartRateZones(seconds: [1, 2, 3]),
                [0x10, 1, 0, 2, 0, 3, 0]
            ),
            (
                [0x10, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0],
                .targetedTimeInHeartRateZones(seconds: [1, 2, 3, 4, 5]),
                [0x11, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0]
            ),
            // Wind −2.5 m/s, grade 7.25 %, rolling resistance 0.004, wind resistance 0.51 kg/m.
            (
                [0x11, 0x3C, 0xF6, 0xD5, 0x02, 0x28, 0x33],
                .bikeSimulation(BikeSimulation(windMetersPerSecond: -2.5, gradePercent: 7.25)),
                [0x12, 0x3C, 0xF6, 0xD5, 0x02, 0x28, 0x33]
            ),
            (
                [0x12, 0x38, 0x52], .wheelCircumference(millimeters: 2_104.8), [0x13, 0x38, 0x52]
            ),
            ([0x14, 0xB5, 0x00], .targetedCadence(rpm: 90.5), [0x15, 0xB5, 0x00]),
        ] as [([UInt8], FitnessMachineRequest, [UInt8])]
    )
    func carriesOutWhoeverHasControl(bytes: [UInt8], request: FitnessMachineRequest, status: [UInt8])
        async throws
    {
        #expect(request.gattBytes == bytes)
        let requests = Recorded<FitnessMachineRequest>()
        let bike = Self.makeBike { requests.append($0) }
        let controlPoint = try #require(bike.controlPoint)
        let statusCharacteristic = try #require(bike.status)
        try await Peripheral("Bike") { bike }.test { central in
            try await central.subscribe(to: controlPoint)
            try await central.subscribe(to: statusCharacteristic)
            let refusal = try await central.request(bytes, of: controlPoint)
            #expect(refusal.gattBytes == [0x80, bytes[0], 0x05])
            #expect(
                try await central.request(FitnessMachineRequest.requestControl, of: controlPoint).gattBytes
                    == [0x80, 0x00, 0x01]
            )
            let response = try await central.request(bytes, of: controlPoint)
            #expect(response.gattBytes == [0x80, bytes[0], 0x01])
            #expect(try await central.nextUpdate(of: statusCharacteristic).gattBytes == status)
        }
        #expect(requests.values == [.requestControl, request])
        let told = try FitnessMachineStatus(gattBytes: status)
        #expect(told == .changed(request))
        #expect(told.gattBytes == status)
    }

    /// Section 4.16.2.22: what is not supported, and what is out of range or of the wrong length.
    @Test(
        arguments: [
            ([0x15], 0x02), ([0x80], 0x02), ([0x80, 0x00, 0x01], 0x02), ([0x09, 0x01, 0x00], 0x02),
            ([0x02, 0xC5, 0x09], 0x03), ([0x02, 0xC4], 0x03), ([0x02], 0x03),
            ([0x02, 0xC4, 0x09, 0x00], 0x03),
            ([0x03, 0xCD, 0xFF], 0x03), ([0x05, 0x91, 0x01], 0x03), ([0x05, 0xF5, 0xFF], 0x03),
            ([0x06, 0x3B], 0x03), ([0x06, 0xB5], 0x03), ([0x04, 0xE9, 0x03], 0x03),
            ([0x04, 0xFE, 0xFF], 0x03), ([0x04], 0x03), ([0x04, 1, 0, 0], 0x03), ([0x08], 0x03),
            ([0x08, 0x00], 0x03),
            ([0x08, 0x03], 0x03), ([0x13, 0x00], 0x03), ([0x13, 0x03], 0x03), ([0x01, 0x00], 0x03),
            ([0x07, 0x01], 0x03), ([0x00, 0x00], 0x03),
        ] as [([UInt8], UInt8)]
    )
    func refuses(request: [UInt8], result: UInt8) async throws {
        let requests = Recorded<FitnessMachineRequest>()
        let bike = Self.makeBike(Self.allButEnergy) { requests.append($0) }
        let controlPoint = try #require(bike.controlPoint)
        try await Peripheral("Bike") { bike }.test { central in
            try await central.subscribe(to: controlPoint)
            _ = try await central.request(FitnessMachineRequest.requestControl, of: controlPoint)
            let response = try await central.request(request, of: controlPoint)
            #expect(
                response == FitnessMachineResponse(FitnessMachineResult(rawValue: result), to: request[0])
            )
        }
        #expect(requests.values == [.requestControl])
    }

    /// Table 4.15 has one byte, the test suite two: both are read, whatever the level.
    @Test(arguments: [[0x04, 0x37], [0x04, 0x37, 0x00]] as [[UInt8]])
    func aLevelHasOneByteOrTwo(bytes: [UInt8]) async throws {
        let levels = Recorded<Double>()
        let bike = Self.makeBike { request in
            if case .targetResistanceLevel(let level) = request { levels.append(level) }
        }
        let controlPoint = try #require(bike.controlPoint)
        try await Peripheral("Bike") { bike }.test { central in
            try await central.subscribe(to: controlPoint)
            _ = try await central.request(FitnessMachineRequest.requestControl, of: controlPoint)
            let response = try await central.request(bytes, of: controlPoint)
            #expect(response.gattBytes == [0x80, 0x04, 0x01])
        }
        #expect(levels.values == [5.5])
    }

    /// Section 4.16.2.22: the machine accepts the published range, and nothing beyond it.
    ///
    /// The range is half a mile to 12 miles per hour.
    @Test(
        arguments: [
            ([0x02, 0x50, 0x00], 0x01), ([0x02, 0x4F, 0x00], 0x03), ([0x02, 0x8B, 0x07], 0x01),
            ([0x02, 0x8C, 0x07], 0x03),
        ] as [([UInt8], UInt8)]
    )
    func theBoundsThatAreToldAreTaken(request: [UInt8], result: UInt8) async throws {
        let bike = Self.makeBike([.targetSpeed(kilometersPerHour: 0.804672...19.312128, step: 0.1)])
        let controlPoint = try #require(bike.controlPoint)
        try await Peripheral("Bike") { bike }.test { central in
            let range = try await central.read(#require(bike.range(.supportedSpeedRange)))
            #expect(range.gattBytes == [0x50, 0x00, 0x8B, 0x07, 0x0A, 0x00])
            try await central.subscribe(to: controlPoint)
            _ = try await central.request(FitnessMachineRequest.requestControl, of: controlPoint)
            let response = try await central.request(request, of: controlPoint)
            #expect(response.gattBytes == [0x80, 0x02, result])
        }
    }

    @Test func tellsWhyAMachineDoesNot() async throws {
        let bike = Self.makeBike { request in
            switch request {
            case .startOrResume: throw FitnessMachineResult.operationFailed
            case .targetedTime: throw FitnessMachineResult.invalidParameter
            case .stop: throw Failure()
            default: break
            }
        }
        let controlPoint = try #require(bike.controlPoint)
        try await Peripheral("Bike") { bike }.test(as: .specification) { central in
            // The central has not subscribed, so it could not receive the response.
            await #expect(throws: ATTError.clientCharacteristicConfigurationImproperlyConfigured) {
                try await central.write(FitnessMachineRequest.requestControl, to: controlPoint)
            }
            try await central.subscribe(to: controlPoint)
            for (request, result) in [
                (.requestControl, .success), (.startOrResume, .operationFailed),
                (.targetedTime(seconds: 1), .invalidParameter), (.stop, .operationFailed), (.pause, .success),
            ] as [(FitnessMachineRequest, FitnessMachineResult)] {
                let response = try await central.request(request, of: controlPoint)
                #expect(response == FitnessMachineResponse(result, to: request))
            }
        }
    }

    /// Section 4.16.2.20, and table 4.27 for how it goes on.
    @Test func spinDownTellsItsSpeeds() async throws {
        let bike = Self.makeBike()
        let controlPoint = try #require(bike.controlPoint)
        let status = try #require(bike.status)
        try await Peripheral("Bike") { bike }.test { central, session in
            try await central.subscribe(to: controlPoint)
            try await central.subscribe(to: status)
            _ = try await central.request(FitnessMachineRequest.requestControl, of: controlPoint)
            for request: FitnessMachineRequest in [.startSpinDown, .ignoreSpinDown] {
                let response = try await central.request(request, of: controlPoint)
                #expect(response.gattBytes == [0x80, 0x13, 0x01, 0x20, 0x03, 0x60, 0x09])
                #expect(response.spinDown == 8...24)
            }
            for (spinDown, byte) in [
                (.spinDownRequested, 1), (.spinDownSucceeded, 2), (.spinDownFailed, 3), (.stopPedaling, 4),
            ] as [(FitnessMachineStatus, UInt8)] {
                try await bike.notify(spinDown, in: session)
                let told = try await central.nextUpdate(of: status)
                #expect(told == spinDown)
                #expect(told.gattBytes == [0x14, byte])
            }
        }
    }

    /// Table 4.26: what the user does.
    @Test(
        arguments: [
            (.stoppedByUser, [0x02, 0x01]), (.pausedByUser, [0x02, 0x02]), (.stoppedBySafetyKey, [0x03]),
            (.startedOrResumedByUser, [0x04]), (.reset, [0x01]), (.controlPermissionLost, [0xFF]),
            (.changed(.targetPower(watts: 200)), [0x08, 0xC8, 0x00]),
        ] as [(FitnessMachineStatus, [UInt8])]
    )
    func tellsWhatTheUserDoes(status: FitnessMachineStatus, bytes: [UInt8]) async throws {
        let bike = Self.makeBike()
        let characteristic = try #require(bike.status)
        try await Peripheral("Bike") { bike }.test { central, session in
            try await central.subscribe(to: characteristic)
            // There is no status of that.
            try await bike.notify(.changed(.requestControl), in: session)
            try await bike.notify(status, in: session)
            #expect(try await central.nextUpdate(of: characteristic).gattBytes == bytes)
        }
        #expect(try FitnessMachineStatus(gattBytes: bytes) == status)
    }

    @Test func anotherWhoAsksTakesTheControl() async throws {
        let bike = Self.makeBike()
        let controlPoint = try #require(bike.controlPoint)
        let status = try #require(bike.status)
        try await Peripheral("Bike") { bike }.test(as: .specification) { central, session in
            let other = central.makeAnother()
            try await other.connect()
            for phone in [central, other] {
                try await phone.subscribe(to: controlPoint)
                try await phone.subscribe(to: status)
            }
            func answer(to request: FitnessMachineRequest, of phone: VirtualCentral) async throws
                -> FitnessMachineResult
            {
                try await phone.request(request, of: controlPoint).result
            }
            #expect(try await answer(to: .requestControl, of: central) == .success)
            #expect(try await answer(to: .startOrResume, of: other) == .controlNotPermitted)
            #expect(try await answer(to: .requestControl, of: other) == .success)
            #expect(try await central.nextUpdate(of: status) == .controlPermissionLost)
            #expect(try await answer(to: .startOrResume, of: central) == .controlNotPermitted)
            #expect(try await answer(to: .startOrResume, of: other) == .success)
            // The other central has not lost the control. Both centrals are notified of the start.
            #expect(try await other.nextUpdate(of: status) == .startedOrResumedByUser)
            #expect(try await central.nextUpdate(of: status) == .startedOrResumedByUser)
            try await bike.takeControl(in: session)
            #expect(try await other.nextUpdate(of: status) == .controlPermissionLost)
            #expect(try await answer(to: .pause, of: other) == .controlNotPermitted)
        }
    }

    @Test func controlEndsWithTheConnectionAndWithAReset() async throws {
        let bike = Self.makeBike(trainingStatus: TrainingStatus(.wattControl))
        let controlPoint = try #require(bike.controlPoint)
        let trainingStatus = try #require(bike.trainingStatus)
        try await Peripheral("Bike") { bike }.test { central in
            try await central.subscribe(to: controlPoint)
            _ = try await central.request(FitnessMachineRequest.requestControl, of: controlPoint)
            central.disconnect()
            try await central.connect()
            try await central.subscribe(to: controlPoint)
            for (request, result) in [
                (.reset, .controlNotPermitted), (.requestControl, .success), (.reset, .success),
                (.startOrResume, .controlNotPermitted),
            ] as [(FitnessMachineRequest, FitnessMachineResult)] {
                #expect(try await central.request(request, of: controlPoint).result == result)
            }
            // Section 4.16.2.2.
            #expect(try await central.read(trainingStatus) == TrainingStatus(.idle))
        }
    }

    @Test func aRefusedRequestForControlLeavesItWhereItIs() async throws {
        let bike = FitnessMachineService(
            reporting: IndoorBikeData(kilometersPerHour: 0),
            control: FitnessMachineControl([], security: .open) { request, central in
                guard request != .requestControl || central.mtu > 100 else {
                    throw FitnessMachineResult.controlNotPermitted
                }
            }
        )
        let controlPoint = try #require(bike.controlPoint)
        try await Peripheral("Bike") { bike }.test(as: .specification) { central in
            let other = central.makeAnother()
            try await other.connect(mtu: 23)
            try await central.subscribe(to: controlPoint)
            try await other.subscribe(to: controlPoint)
            let control = FitnessMachineRequest.requestControl
            #expect(try await central.request(control, of: controlPoint).result == .success)
            #expect(try await other.request(control, of: controlPoint).result == .controlNotPermitted)
            let start = FitnessMachineRequest.startOrResume
            #expect(try await central.request(start, of: controlPoint).result == .success)
        }
    }

    /// Section 4: the control point takes encryption, nothing else does.
    @Test func controlTakesEncryption() async throws {
        let bike = FitnessMachineService(
            reporting: IndoorBikeData(kilometersPerHour: 0),
            trainingStatus: TrainingStatus(.idle),
            control: FitnessMachineControl([]) { _, _ in }
        )
        let controlPoint = try #require(bike.controlPoint)
        try await Peripheral("Bike", pairing: .justWorks) { bike }.test { central in
            try await central.subscribe(to: bike.data)
            try await central.subscribe(to: #require(bike.status))
            _ = try await central.read(#require(bike.trainingStatus))
            await #expect(throws: ATTError.self) {
                try await central.write(FitnessMachineRequest.requestControl, to: controlPoint)
            }
            try await central.pair(.justWorks)
            try await central.subscribe(to: controlPoint)
            let response = try await central.request(FitnessMachineRequest.requestControl, of: controlPoint)
            #expect(response.result == .success)
        }
        let closed = FitnessMachineService(
            reporting: IndoorBikeData(kilometersPerHour: 0),
            trainingStatus: TrainingStatus(.idle),
            security: .encrypted,
            control: FitnessMachineControl([]) { _, _ in }
        )
        try await Peripheral("Bike", pairing: .justWorks) { closed }.test { central in
            await #expect(throws: ATTError.self) { try await central.subscribe(to: closed.data) }
            await #expect(throws: ATTError.self) { try await central.subscribe(to: #require(closed.status)) }
            await #expect(throws: ATTError.self) { try await central.read(#require(closed.trainingStatus)) }
        }
    }

    @Test func whatIsSentInPlaceOfWhatCannotBe() throws {
        #expect(FitnessMachineRequest.targetPower(watts: .max).gattBytes == [0x05, 0xFF, 0x7F])
        #expect(FitnessMachineRequest.targetSpeed(kilometersPerHour: -1).gattBytes == [0x02, 0x00, 0x00])
        #expect(
            FitnessMachineRequest.targetedTimeInHeartRateZones(seconds: [1, 2, 3, 4]).gattBytes
                == [0x10, 1, 0, 2, 0, 3, 0, 4, 0, 0, 0]
        )
        #expect(throws: GATTDecodingError.self) { try FitnessMachineResponse(gattBytes: [0x81, 0x00, 0x01]) }
        // The speeds of a spin down are two, the lower first.
        #expect(try FitnessMachineResponse(gattBytes: [0x80, 0x13, 0x01, 0x20]).spinDown == nil)
        #expect(try FitnessMachineResponse(gattBytes: [0x80, 0x13, 0x01, 2, 0, 1, 0]).spinDown == nil)
    }
}
