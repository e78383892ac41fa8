@testable import PeripheralAutomationIO
@testable import PeripheralBattery
@testable import PeripheralBloodPressure
@testable import PeripheralBodyComposition
@testable import PeripheralBondManagement
@testable import PeripheralCore
@testable import PeripheralCrossTrainer
@testable import PeripheralCurrentTime
@testable import PeripheralCyclingPower
@testable import PeripheralCyclingSpeedAndCadence
@testable import PeripheralDeviceInformation
@testable import PeripheralEnvironmentalSensing
@testable import PeripheralFitnessMachine
@testable import PeripheralGlucose
@testable import PeripheralHID
@testable import PeripheralHealthThermometer
@testable import PeripheralHeartRate
@testable import PeripheralIndoorBike
@testable import PeripheralPhoneAlertStatus
@testable import PeripheralPulseOximeter
@testable import PeripheralRower
@testable import PeripheralRunningSpeedAndCadence
@testable import PeripheralSensorLocation
@testable import PeripheralStairClimber
@testable import PeripheralStepClimber
@testable import PeripheralTreadmill
@testable import PeripheralTxPower
@testable import PeripheralUserData
@testable import PeripheralWeightScale

extension Entrance {
    /// Values of characteristics and descriptors of all services, and of the types that they are made of.
    ///
    /// The first byte names the type.
    static let serviceValues = Entrance(name: "service-values") { bytes in
        guard let kind = bytes.first else { return }
        let kinds = coreValues + healthValues + sportValues + otherValues
        kinds[Int(kind) % kinds.count].take(Array(bytes.dropFirst()))
    }

    private static let coreValues = [
        ValueKind(UInt8.self), ValueKind(UInt16.self), ValueKind(UInt24.self), ValueKind(UInt32.self),
        ValueKind(UInt64.self), ValueKind(Int8.self), ValueKind(Int16.self), ValueKind(Int24.self),
        ValueKind(Int32.self), ValueKind(Int64.self), ValueKind(Bool.self), ValueKind(DateTime.self),
        ValueKind(String.self), ValueKind([UInt8].self),
        ValueKind(Bits<Float>.self), ValueKind(Bits<Double>.self),
        ValueKind(MedicalFloat.self, examineNumber), ValueKind(MedicalShortFloat.self, examineNumber),
    ]

    private static let healthValues = [
        ValueKind(BloodPressureMeasurement.self) { value in
            for bits in [0, 0x15] as [UInt16] {
                let limited = value.limited(to: BloodPressureStatus(rawValue: bits))
                check((limited.status?.rawValue ?? 0) & ~bits == 0)
                check(limited.gattBytes.count <= value.gattBytes.count)
            }
        },
        ValueKind(IntermediateCuffPressure.self) {
            check($0.limited(to: []).gattBytes.count <= $0.gattBytes.count)
        }, ValueKind(BloodPressureFeature.self),
        ValueKind(GlucoseMeasurement.self, examine), ValueKind(GlucoseContext.self),
        ValueKind(GlucoseFeature.self),
        ValueKind(TemperatureMeasurement.self), ValueKind(TemperatureType.self),
        ValueKind(SpotCheckMeasurement.self), ValueKind(ContinuousMeasurement.self),
        ValueKind(PulseOximeterFeatures.self), ValueKind(PulseOximeterFaults.self),
        ValueKind(WeightMeasurement.self), ValueKind(WeightScaleFeature.self),
        ValueKind(BodyCompositionMeasurement.self), ValueKind(BodyCompositionFeature.self),
        ValueKind(HeartRateMeasurement.self, examine), ValueKind(BodySensorLocation.self),
        ValueKind(UserDate.self), ValueKind(Gender.self), ValueKind(BodyWeight.self),
        ValueKind(BodyLength.self),
        ValueKind(SportType.self) { sport in
            check(sports.firstIndex(of: sport) == (sport.rawValue < 12 ? Int(sport.rawValue) : nil))
        },
        ValueKind(ThreeZoneLimits.self) { check($0 == [$0.lightToModerate, $0.moderateToHard]) },
        ValueKind(FiveZoneLimits.self) {
            check($0 == [$0.veryLightToLight, $0.lightToModerate, $0.moderateToHard, $0.hardToMaximal])
        },
    ]

    private static let sportValues = [
        ValueKind(CSCMeasurement.self), ValueKind(CSCFeature.self), ValueKind(SensorLocation.self),
        ValueKind(CrankRevolutions.self), ValueKind(RSCMeasurement.self), ValueKind(RSCFeature.self),
        ValueKind(CyclingPowerMeasurement.self, examine), ValueKind(CyclingPowerVector.self, examine),
        ValueKind(CyclingPowerFeature.self),
        ValueKind(IndoorBikeData.self, examineParts), ValueKind(TreadmillData.self, examineParts),
        ValueKind(CrossTrainerData.self, examineParts), ValueKind(StepClimberData.self, examineParts),
        ValueKind(StairClimberData.self, examineParts), ValueKind(RowerData.self, examineParts),
        ValueKind(TrainingStatus.self, examine), ValueKind(FitnessMachineFeature.self, examine),
        ValueKind(FitnessMachineStatus.self),
        ValueKind(SupportedRange.self) { range in
            for limits in [range.kilometersPerHour, range.percent, range.levels, range.watts, range.bpm] {
                check(limits.minimum.isFinite && limits.maximum.isFinite && limits.step.isFinite)
            }
        },
    ]

    private static let otherValues = [
        ValueKind(BatteryLevel.self), ValueKind(BatteryLevelStatus.self),
        ValueKind(CurrentTime.self, examine), ValueKind(LocalTimeInformation.self),
        ValueKind(ReferenceTimeInformation.self),
        ValueKind(EnvironmentalValue.self, examine), ValueKind(EnvironmentalMeasurement.self),
        ValueKind(EnvironmentalTriggerLogic.self), ValueKind(DescriptorValueChange.self),
        ValueKind(TriggerOfQuantity.self),
        ValueKind(DigitalStates.self), ValueKind(AutomationValueTrigger.self),
        ValueKind(AutomationTimeTrigger.self),
        ValueKind(HIDInformation.self), ValueKind(HIDProtocolMode.self), ValueKind(KeyboardReport.self),
        ValueKind(KeyboardLEDs.self),
        ValueKind(PnPID.self), ValueKind(SystemID.self), ValueKind(TxPowerLevel.self),
        ValueKind(AlertStatus.self), ValueKind(RingerSetting.self), ValueKind(BondManagementFeature.self),
    ]

    /// A number is the same by its parts, and as a floating-point number.
    private static func examineNumber<Number: MedicalNumber>(_ value: Number) {
        check(Number(value.doubleValue).doubleValue.isNaN == value.doubleValue.isNaN)
        if let same = Number(mantissa: value.mantissa, exponent: value.exponent) {
            check(same == value)
        }
        if value.isFinite, let same = Number(value.doubleValue, exponent: value.exponent) {
            check(same.mantissa == value.mantissa, "\(value) becomes \(same)")
        }
    }

    /// The parts of a training's data are of the size that there is room for.
    private static func examineParts<Data: FitnessMachineData>(of data: Data) {
        for part in data.parts(upTo: 20) { check(part.gattBytes.count <= 20, "\(data)") }
    }

    /// A measurement without a part of its content is not longer.
    private static func examine(_ measurement: CyclingPowerMeasurement) {
        for bits in [0x0000, 0x00AA, 0x0155] as [UInt16] {
            let limited = measurement.limited(to: bits)
            check(limited.gattBytes.count <= measurement.gattBytes.count, "\(measurement)")
            check(limited.limited(to: bits) == limited)
        }
    }

    /// The parts of a vector are of the size that there is room for, and hold all magnitudes.
    private static func examine(_ vector: CyclingPowerVector) {
        var (rest, magnitudes) = (vector, [] as [Int16])
        repeat {
            let part = rest.removePart(upTo: 20)
            check(part.gattBytes.count <= 20, "\(vector)")
            check(part.magnitudes.count > 0 || rest.magnitudes.isEmpty, "\(vector)")
            magnitudes += part.magnitudes
        } while !rest.magnitudes.isEmpty
        check(magnitudes == vector.magnitudes)
    }

    /// A status without room for its whole text says that there is more text.
    private static func examine(_ status: TrainingStatus) {
        let told = status.truncated(to: 20)
        check(told.gattBytes.count <= max(20, status.gattBytes.count))
        check(TrainingStatus(status.phase, text: status.text).phase == status.phase)
    }

    /// The bytes of a time as a time since 1970: a time of the calendar, or none.
    private static func examine(_ time: CurrentTime) {
        var feed = Feed(time.gattBytes)
        let (seconds, attoseconds) = (
            Int64(feed.integer(UInt32.self)) * 128 - 100_000_000_000, feed.integer(UInt32.self)
        )
        let duration = Duration(secondsComponent: seconds, attosecondsComponent: Int64(attoseconds) << 27)
        guard let made = CurrentTime(since1970: duration, offsetFromUTC: .seconds(Int64(feed.byte()) * 900))
        else { return }
        check((try? CurrentTime(gattBytes: made.gattBytes)) == made, "\(made)")
    }

    private static let sports: [SportType] = [
        .unspecified, .running, .cycling, .rowing, .crossTraining, .climbing, .skiing, .skating,
        .armExercising,
        .lowerBodyExercising, .upperBodyExercising, .wholeBodyExercising,
    ]

    /// By the places of their bits.
    private static let machineFeatures: [FitnessMachineFeature] = [
        .averageSpeed, .cadence, .totalDistance, .inclination, .elevationGain, .pace, .stepCount,
        .resistanceLevel, .strideCount, .expendedEnergy, .heartRate, .metabolicEquivalent, .elapsedTime,
        .remainingTime, .power, .forceOnBeltAndPowerOutput, .userDataRetention,
    ]
    private static let targetFeatures: [FitnessMachineFeature] = [
        .speedTarget, .inclinationTarget, .resistanceTarget, .powerTarget, .heartRateTarget,
        .targetedExpendedEnergy, .targetedStepNumber, .targetedStrideNumber, .targetedDistance,
        .targetedTrainingTime, .targetedTimeInTwoHeartRateZones, .targetedTimeInThreeHeartRateZones,
        .targetedTimeInFiveHeartRateZones, .bikeSimulation, .wheelCircumference, .spinDown, .targetedCadence,
    ]

    /// The features that are known make the known bits of the value.
    private static func examine(_ feature: FitnessMachineFeature) {
        let known = FitnessMachineFeature((machineFeatures + targetFeatures).filter(feature.contains))
        check(known.rawValue == feature.rawValue & 0x0001_FFFF_0001_FFFF, "\(known) of \(feature)")
        check(FitnessMachineFeature(rawValue: feature.rawValue) == feature)
    }

    /// A sensor that reports faults has exactly the features for these faults.
    private static func examine(_ measurement: GlucoseMeasurement) {
        guard let status = measurement.status else { return }
        let feature = GlucoseFeature(detecting: status, supportsMultipleBonds: false)
        check(feature.isEmpty == (status.rawValue & 0x0FFF == 0), "\(status) needs \(feature)")
        check(
            GlucoseFeature(detecting: status, supportsMultipleBonds: true) == feature.union(.multipleBonds)
        )
    }

    /// An interval is the same by its duration, and no duration is out of the range.
    private static func examine(_ measurement: HeartRateMeasurement) {
        for interval in measurement.rrIntervals {
            check(RRInterval(interval.duration) == interval)
            check(RRInterval(interval.duration + .seconds(64)).rawValue == .max)
            check(RRInterval(.zero - interval.duration).rawValue == 0)
        }
    }

    static let quantities: [EnvironmentalQuantity] = [
        .temperature, .humidity, .pressure, .dewPoint, .uvIndex, .illuminance, .elevation, .rainfall,
        .carbonDioxide, .magneticDeclination, .pollen, .methane,
    ]

    /// A number that can be read of a value is written as one that is read as the same, or as the nearest of
    /// those that every decoder takes for a number.
    private static func examine(_ value: EnvironmentalValue) {
        for quantity in quantities {
            guard let number = try? value.number(of: quantity) else { continue }
            let again = try? EnvironmentalValue(number, of: quantity).number(of: quantity)
            if quantity.counts == nil {
                if let again, number != 0 {
                    check(abs(again / number - 1) < 0.01, "\(number) becomes \(again)")
                }
                continue
            }
            check(again == number, "\(number) of \(quantity.type) becomes \(again as Any)")
        }
    }
}

/// What the two formats of medical numbers have in common.
private protocol MedicalNumber: Equatable {
    var mantissa: Int { get }
    var exponent: Int { get }
    var isFinite: Bool { get }
    var doubleValue: Double { get }

    init(_ value: Double)
    init?(_ value: Double, exponent: Int)
    init?(mantissa: Int, exponent: Int)
}

extension MedicalFloat: MedicalNumber {}
extension MedicalShortFloat: MedicalNumber {}

/// A number that is compared by its bits, so that NaN is the same as itself.
private struct Bits<Value: GATTValue>: GATTValue, Equatable {
    let value: Value

    init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        value = try Value(decoding: &reader)
    }

    func encode(into writer: inout ByteWriter) { value.encode(into: &writer) }

    static func == (left: Self, right: Self) -> Bool { left.value.gattBytes == right.value.gattBytes }
}

/// The trigger of a sensor, behind the number of its quantity.
private struct TriggerOfQuantity: GATTValue, Equatable {
    let number: UInt8
    let trigger: EnvironmentalTrigger

    private var quantity: EnvironmentalQuantity { Self.quantity(number) }

    init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        number = try reader.read()
        let quantity = Self.quantity(number)
        guard let trigger = try? EnvironmentalTrigger(reader.readRemaining(), quantity) else {
            throw .invalidValue("it is no trigger")
        }
        self.trigger = trigger
        for value in [nil, 0, Double(number)] {
            for elapsed in [nil, Duration.seconds(Int64(number))] {
                let isMet = trigger.isMet(by: value, hasChanged: number & 1 == 1, elapsed: elapsed)
                check((isMet == nil) == (trigger == .inactive))
            }
        }
    }

    /// Not that whose numbers have several forms, the last.
    private static func quantity(_ number: UInt8) -> EnvironmentalQuantity {
        Entrance.quantities[Int(number) % (Entrance.quantities.count - 1)]
    }

    func encode(into writer: inout ByteWriter) {
        writer.write(number)
        writer.write(trigger.bytes(quantity))
    }
}
