public import PeripheralKit

/// A request that a central writes to the Fitness Machine Control Point, 0x2AD9.
///
/// Fitness Machine Service 1.0, section 4.16, defines the requests. If a value is out of range, the encoded
/// request contains the nearest bound of the range.
public enum FitnessMachineRequest: Sendable {
    /// Requests control of the machine.
    case requestControl
    /// Resets the controllable settings and the workout times to their initial values.
    case reset
    /// Sets the speed in kilometers per hour, 0 to 655.35 in steps of 0.01.
    case targetSpeed(kilometersPerHour: Double)
    /// Sets the inclination in percent, −3276.8 to 3276.7 in steps of 0.1.
    ///
    /// A positive inclination is uphill.
    case targetInclination(percent: Double)
    /// Sets the resistance level, −3276.8 to 3276.7 in steps of 0.1.
    ///
    /// Decoding accepts a one-byte resistance level (Fitness Machine Service 1.0, Table 4.15). Decoding
    /// accepts a signed two-byte resistance level (test case FTMS/SR/CW/BV-05-C of the specification's test
    /// suite). A resistance level from 0 to 25.5 is encoded in one byte. A resistance level below 0 or above
    /// 25.5 is encoded in two bytes.
    case targetResistanceLevel(Double)
    /// Sets the power in watts, −32,768 to 32,767.
    case targetPower(watts: Int)
    /// Sets the heart rate in beats per minute, 0 to 255.
    case targetHeartRate(bpm: Int)
    /// Starts or resumes the workout.
    case startOrResume
    /// Stops the workout.
    case stop
    /// Pauses the workout.
    case pause
    /// Sets the target energy expenditure of a workout, in kilocalories, 0 to 65,535.
    case targetedEnergy(kilocalories: Int)
    /// Sets the target number of steps in a workout, 0 to 65,535.
    case targetedSteps(Int)
    /// Sets the target number of strides in a workout, 0 to 65,535.
    case targetedStrides(Int)
    /// Sets the target distance of a workout in meters, 0 to 16,777,215.
    case targetedDistance(meters: Int)
    /// Sets the target duration of a workout in seconds, 0 to 65,535.
    case targetedTime(seconds: Int)
    /// Sets the target time in seconds, 0 to 65,535, for each heart rate zone.
    ///
    /// The first target time is for the lowest zone. For two target times, the zones are fat burn and
    /// fitness. For three target times, the zones are light, moderate and hard. For five target times, the
    /// zones are very light, light, moderate, hard and maximum. If the array contains four target times,
    /// encoding adds a fifth target time of 0. If the array contains fewer than two target times, encoding
    /// adds target times of 0 until the request contains two. Encoding omits all target times after the
    /// fifth.
    case targetedTimeInHeartRateZones(seconds: [Int])
    /// Sets the parameters of an indoor bike simulation.
    case bikeSimulation(BikeSimulation)
    /// Sets the circumference of the wheel in millimeters, 0 to 6553.5 in steps of 0.1.
    case wheelCircumference(millimeters: Double)
    /// Starts a spin-down of the wheel to calibrate the machine.
    case startSpinDown
    /// Ignores the spin-down that the machine has requested.
    case ignoreSpinDown
    /// Sets the cadence in revolutions per minute, 0 to 32,767.5 in steps of 0.5.
    case targetedCadence(rpm: Double)
    /// An unknown request, or a request with an invalid parameter.
    ///
    /// The service refuses an unknown request, and does not pass the request to the handler.
    case unknown(opCode: UInt8, parameter: [UInt8])

    /// The encoded op code of the request.
    public var opCode: UInt8 {
        switch self {
        case .requestControl: 0x00
        case .reset: 0x01
        case .targetSpeed: 0x02
        case .targetInclination: 0x03
        case .targetResistanceLevel: 0x04
        case .targetPower: 0x05
        case .targetHeartRate: 0x06
        case .startOrResume: 0x07
        case .stop, .pause: 0x08
        case .targetedEnergy: 0x09
        case .targetedSteps: 0x0A
        case .targetedStrides: 0x0B
        case .targetedDistance: 0x0C
        case .targetedTime: 0x0D
        case .targetedTimeInHeartRateZones(let seconds):
            seconds.count < 3 ? 0x0E : seconds.count == 3 ? 0x0F : 0x10
        case .bikeSimulation: 0x11
        case .wheelCircumference: 0x12
        case .startSpinDown, .ignoreSpinDown: 0x13
        case .targetedCadence: 0x14
        case .unknown(let opCode, _): opCode
        }
    }

    /// The number after the op code; 0 when there is none, or several.
    var number: Double {
        switch self {
        case .targetSpeed(let number), .targetInclination(let number), .targetResistanceLevel(let number),
            .wheelCircumference(let number), .targetedCadence(let number):
            number
        case .targetPower(let number), .targetHeartRate(let number), .targetedEnergy(let number),
            .targetedSteps(let number), .targetedStrides(let number), .targetedDistance(let number),
            .targetedTime(let number):
            Double(number)
        case .stop, .startSpinDown: 1
        case .pause, .ignoreSpinDown: 2
        default: 0
        }
    }

    /// The encoding of the number in a request; `nil` when there is none, or several.
    private static func format(_ opCode: UInt8) -> FitnessMachineFormat? {
        switch opCode {
        case 0x02: .hundredths16
        case 0x03: .signedTenths16
        case 0x04: .tenths8
        case 0x05: .sint16
        case 0x06, 0x08, 0x13: .uint8
        case 0x09, 0x0A, 0x0B, 0x0D: .uint16
        case 0x0C: .uint24
        case 0x12: .tenths16
        case 0x14: .halves16
        default: nil
        }
    }

    /// The bytes after the op code.
    var parameter: [UInt8] {
        switch self {
        case .unknown(_, let parameter):
            return parameter
        case .targetedTimeInHeartRateZones(let seconds):
            let count = seconds.count < 3 ? 2 : seconds.count == 3 ? 3 : 5
            return (0..<count).flatMap {
                FitnessMachineFormat.uint16.bytes(of: $0 < seconds.count ? Double(seconds[$0]) : 0)
            }
        case .targetResistanceLevel(let level) where !(0...25.5).contains(level):
            return FitnessMachineFormat.signedTenths16.bytes(of: level)
        case .bikeSimulation(let simulation):
            return FitnessMachineFormat.signedThousandths16.bytes(of: simulation.windMetersPerSecond)
                + FitnessMachineFormat.signedHundredths16.bytes(of: simulation.gradePercent)
                + FitnessMachineFormat.tenThousandths8.bytes(of: simulation.rollingResistance)
                + FitnessMachineFormat.hundredths8.bytes(of: simulation.windResistance)
        default:
            return Self.format(opCode)?.bytes(of: number) ?? []
        }
    }

    /// Creates the request for these bytes, or an unknown request when the bytes are invalid.
    init(opCode: UInt8, parameter: [UInt8]) {
        self = .unknown(opCode: opCode, parameter: parameter)
        let format = opCode == 0x04 && parameter.count == 2 ? .signedTenths16 : Self.format(opCode)
        // One variable for all whole numbers, because each checked conversion adds to the code size.
        let integer = format?.integer(parameter.prefix(format?.size ?? 0)) ?? 0
        let number = Double(integer) / (format?.one ?? 1)
        let size =
            switch opCode {
            case 0x0E: 4
            case 0x0F, 0x11: 6
            case 0x10: 10
            default: format?.size ?? 0
            }
        guard parameter.count == size else { return }
        switch opCode {
        case 0x00: self = .requestControl
        case 0x01: self = .reset
        case 0x02: self = .targetSpeed(kilometersPerHour: number)
        case 0x03: self = .targetInclination(percent: number)
        case 0x04: self = .targetResistanceLevel(number)
        case 0x05: self = .targetPower(watts: integer)
        case 0x06: self = .targetHeartRate(bpm: integer)
        case 0x07: self = .startOrResume
        case 0x08 where integer == 1: self = .stop
        case 0x08 where integer == 2: self = .pause
        case 0x09: self = .targetedEnergy(kilocalories: integer)
        case 0x0A: self = .targetedSteps(integer)
        case 0x0B: self = .targetedStrides(integer)
        case 0x0C: self = .targetedDistance(meters: integer)
        case 0x0D: self = .targetedTime(seconds: integer)
        case 0x0E, 0x0F, 0x10:
            var seconds: [Int] = []
            for place in 0..<size / 2 {
                seconds.append(FitnessMachineFormat.uint16.integer(parameter[(place * 2)...].prefix(2)))
            }
            self = .targetedTimeInHeartRateZones(seconds: seconds)
        case 0x11:
            self = .bikeSimulation(
                BikeSimulation(
                    windMetersPerSecond: FitnessMachineFormat.signedThousandths16.number(parameter[..<2]),
                    gradePercent: FitnessMachineFormat.signedHundredths16.number(parameter[2..<4]),
                    rollingResistance: FitnessMachineFormat.tenThousandths8.number(parameter[4..<5]),
                    windResistance: FitnessMachineFormat.hundredths8.number(parameter[5...])
                )
            )
        case 0x12: self = .wheelCircumference(millimeters: number)
        case 0x13 where integer == 1: self = .startSpinDown
        case 0x13 where integer == 2: self = .ignoreSpinDown
        case 0x14: self = .targetedCadence(rpm: number)
        default: break
        }
    }
}

extension FitnessMachineRequest: Equatable {
    /// Returns whether the encoded bytes of two requests are equal.
    public static func == (lhs: FitnessMachineRequest, rhs: FitnessMachineRequest) -> Bool {
        lhs.gattBytes == rhs.gattBytes
    }
}

extension FitnessMachineRequest: GATTValue {
    /// Reads the op code, and reads the remaining bytes as the parameter.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let opCode: UInt8 = try reader.read()
        self.init(opCode: opCode, parameter: reader.readRemaining())
    }

    /// Appends at most 11 bytes: the op code and the parameter.
    public func encode(into writer: inout ByteWriter) {
        writer.write(opCode)
        writer.write(parameter)
    }
}

/// The conditions that an indoor bike simulates (Fitness Machine Service 1.0, section 4.16.2.18).
public struct BikeSimulation: Equatable, Sendable {
    /// The wind speed in meters per second, −32.768 to 32.767 in steps of 0.001.
    ///
    /// A positive wind speed is a headwind.
    public var windMetersPerSecond: Double

    /// The grade of the road in percent, −327.68 to 327.67 in steps of 0.01.
    ///
    /// A positive grade is uphill.
    public var gradePercent: Double

    /// The coefficient of rolling resistance, 0 to 0.0255 in steps of 0.0001.
    public var rollingResistance: Double

    /// The coefficient of wind resistance in kilograms per meter.
    ///
    /// The range is 0 to 2.55 in steps of 0.01.
    public var windResistance: Double

    /// Creates the parameters of an indoor bike simulation.
    ///
    /// If a value is out of range, the encoded request contains the nearest bound of the range.
    ///
    /// - Parameters:
    ///   - windMetersPerSecond: The wind speed in meters per second. A positive wind speed is a headwind.
    ///   - gradePercent: The grade of the road in percent. A positive grade is uphill.
    ///   - rollingResistance: The coefficient of rolling resistance.
    ///   - windResistance: The coefficient of wind resistance in kilograms per meter.
    public init(
        windMetersPerSecond: Double = 0,
        gradePercent: Double,
        rollingResistance: Double = 0.004,
        windResistance: Double = 0.51
    ) {
        self.windMetersPerSecond = windMetersPerSecond
        self.gradePercent = gradePercent
        self.rollingResistance = rollingResistance
        self.windResistance = windResistance
    }
}
