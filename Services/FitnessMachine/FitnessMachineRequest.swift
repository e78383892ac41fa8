public import PeripheralKit

/// What a central demands of a machine: what it writes to the Fitness Machine Control Point, 0x2AD9 (Fitness Machine
/// Service 1.0, section 4.16).
///
/// What is out of range is sent as the end of the range.
public enum FitnessMachineRequest: Sendable {
    /// Asks for the control of the machine.
    case requestControl
    /// Sets all that can be controlled, and the times, to what they are at first.
    case reset
    /// Sets the speed in kilometers per hour, 0 to 655.35 in steps of 0.01.
    case targetSpeed(kilometersPerHour: Double)
    /// Sets the inclination in percent, −3276.8 to 3276.7 in steps of 0.1: positive uphill.
    case targetInclination(percent: Double)
    /// Sets the resistance level, 0 to 25.5 in steps of 0.1.
    case targetResistanceLevel(Double)
    /// Sets the power in watts, −32 768 to 32 767.
    case targetPower(watts: Int)
    /// Sets the heart rate in beats per minute, 0 to 255.
    case targetHeartRate(bpm: Int)
    /// Starts the training, or goes on with it.
    case startOrResume
    /// Stops the training.
    case stop
    /// Pauses the training.
    case pause
    /// Sets the energy to expend in a training, in kilocalories, 0 to 65 535.
    case targetedEnergy(kilocalories: Int)
    /// Sets the number of steps of a training, 0 to 65 535.
    case targetedSteps(Int)
    /// Sets the number of strides of a training, 0 to 65 535.
    case targetedStrides(Int)
    /// Sets the distance of a training in meters, 0 to 16 777 215.
    case targetedDistance(meters: Int)
    /// Sets the duration of a training in seconds, 0 to 65 535.
    case targetedTime(seconds: Int)
    /// Sets the seconds, 0 to 65 535, in each of two, three or five zones of the heart rate, the lowest first.
    ///
    /// Two are fat burn and fitness; three are light, moderate and hard; five are very light, light, moderate, hard and
    /// maximum. Of any other number, as many are sent as the next of these has, 0 for those that are missing.
    case targetedTimeInHeartRateZones(seconds: [Int])
    /// Sets what an indoor bike simulates.
    case bikeSimulation(BikeSimulation)
    /// Sets the circumference of the wheel in millimeters, 0 to 6553.5 in steps of 0.1.
    case wheelCircumference(millimeters: Double)
    /// Starts to calibrate the machine by letting the wheel spin down.
    case startSpinDown
    /// Does without the spin down that the machine has asked for.
    case ignoreSpinDown
    /// Sets the cadence in revolutions per minute, 0 to 32 767.5 in steps of 0.5.
    case targetedCadence(rpm: Double)
    /// A request that nobody knows, or whose parameter makes no sense; the service answers it by itself.
    case unknown(opCode: UInt8, parameter: [UInt8])

    /// The op code as it is on the air.
    public var opCode: UInt8 { parts.opCode }

    /// The op code, and the numbers that follow.
    private var parts: (opCode: UInt8, numbers: [Double]) {
        switch self {
        case .requestControl: (0x00, [])
        case .reset: (0x01, [])
        case .targetSpeed(let speed): (0x02, [speed])
        case .targetInclination(let inclination): (0x03, [inclination])
        case .targetResistanceLevel(let level): (0x04, [level])
        case .targetPower(let watts): (0x05, [Double(watts)])
        case .targetHeartRate(let bpm): (0x06, [Double(bpm)])
        case .startOrResume: (0x07, [])
        case .stop: (0x08, [1])
        case .pause: (0x08, [2])
        case .targetedEnergy(let kilocalories): (0x09, [Double(kilocalories)])
        case .targetedSteps(let count): (0x0A, [Double(count)])
        case .targetedStrides(let count): (0x0B, [Double(count)])
        case .targetedDistance(let meters): (0x0C, [Double(meters)])
        case .targetedTime(let seconds): (0x0D, [Double(seconds)])
        case .targetedTimeInHeartRateZones(let seconds):
            (seconds.count < 3 ? 0x0E : seconds.count == 3 ? 0x0F : 0x10, seconds.map { Double($0) })
        case .bikeSimulation(let simulation):
            (
                0x11,
                [
                    simulation.windMetersPerSecond, simulation.gradePercent,
                    simulation.rollingResistance, simulation.windResistance,
                ]
            )
        case .wheelCircumference(let millimeters): (0x12, [millimeters])
        case .startSpinDown: (0x13, [1])
        case .ignoreSpinDown: (0x13, [2])
        case .targetedCadence(let rpm): (0x14, [rpm])
        case .unknown(let opCode, _): (opCode, [])
        }
    }

    /// How the numbers of a request are written.
    private static func formats(of opCode: UInt8) -> [FitnessMachineFormat] {
        switch opCode {
        case 0x02: [.hundredths16]
        case 0x03: [.signedTenths16]
        case 0x04: [.tenths8]
        case 0x05: [.sint16]
        case 0x06, 0x08, 0x13: [.uint8]
        case 0x09, 0x0A, 0x0B, 0x0D: [.uint16]
        case 0x0C: [.uint24]
        case 0x0E: [.uint16, .uint16]
        case 0x0F: [.uint16, .uint16, .uint16]
        case 0x10: [.uint16, .uint16, .uint16, .uint16, .uint16]
        case 0x11: [.signedThousandths16, .signedHundredths16, .tenThousandths8, .hundredths8]
        case 0x12: [.tenths16]
        case 0x14: [.halves16]
        default: []
        }
    }

    /// The request with these numbers; `nil` when there is none.
    private init?(opCode: UInt8, numbers: [Double]) {
        let first = numbers.first ?? 0
        switch opCode {
        case 0x00: self = .requestControl
        case 0x01: self = .reset
        case 0x02: self = .targetSpeed(kilometersPerHour: first)
        case 0x03: self = .targetInclination(percent: first)
        case 0x04: self = .targetResistanceLevel(first)
        case 0x05: self = .targetPower(watts: Int(first))
        case 0x06: self = .targetHeartRate(bpm: Int(first))
        case 0x07: self = .startOrResume
        case 0x08 where first == 1: self = .stop
        case 0x08 where first == 2: self = .pause
        case 0x09: self = .targetedEnergy(kilocalories: Int(first))
        case 0x0A: self = .targetedSteps(Int(first))
        case 0x0B: self = .targetedStrides(Int(first))
        case 0x0C: self = .targetedDistance(meters: Int(first))
        case 0x0D: self = .targetedTime(seconds: Int(first))
        case 0x0E, 0x0F, 0x10: self = .targetedTimeInHeartRateZones(seconds: numbers.map { Int($0) })
        case 0x11:
            self = .bikeSimulation(
                BikeSimulation(
                    windMetersPerSecond: numbers[0],
                    gradePercent: numbers[1],
                    rollingResistance: numbers[2],
                    windResistance: numbers[3]
                )
            )
        case 0x12: self = .wheelCircumference(millimeters: first)
        case 0x13 where first == 1: self = .startSpinDown
        case 0x13 where first == 2: self = .ignoreSpinDown
        case 0x14: self = .targetedCadence(rpm: first)
        default: return nil
        }
    }

    /// What follows the op code.
    var parameter: [UInt8] {
        if case .unknown(_, let parameter) = self { return parameter }
        let (opCode, numbers) = parts
        var bytes: [UInt8] = []
        for (index, format) in Self.formats(of: opCode).enumerated() {
            bytes += format.bytes(format.integer(index < numbers.count ? numbers[index] : 0))
        }
        return bytes
    }

    /// The request of these bytes: an unknown one when they are none.
    init(opCode: UInt8, parameter: [UInt8]) {
        var rest = parameter[...]
        var numbers: [Double] = []
        for format in Self.formats(of: opCode) {
            numbers.append(Double(format.integer(Array(rest.prefix(format.size)))) / format.one)
            // When bytes are missing, there are fewer than none left.
            rest = rest.dropFirst(format.size)
        }
        let size = Self.formats(of: opCode).reduce(0) { $0 + $1.size }
        guard parameter.count == size, let request = Self(opCode: opCode, numbers: numbers) else {
            self = .unknown(opCode: opCode, parameter: parameter)
            return
        }
        self = request
    }
}

extension FitnessMachineRequest: Equatable {
    /// Tells whether both are the same on the air.
    public static func == (lhs: FitnessMachineRequest, rhs: FitnessMachineRequest) -> Bool {
        lhs.opCode == rhs.opCode && lhs.parameter == rhs.parameter
    }
}

extension FitnessMachineRequest: GATTValue {
    /// Reads an op code; the parameter takes up all bytes that are left.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let opCode: UInt8 = try reader.read()
        self.init(opCode: opCode, parameter: reader.readRemaining())
    }

    /// Appends op code and parameter: at most 11 bytes.
    public func encode(into writer: inout ByteWriter) {
        writer.write(opCode)
        writer.write(parameter)
    }
}

/// What an indoor bike lets its rider feel (Fitness Machine Service 1.0, section 4.16.2.18).
public struct BikeSimulation: Hashable, Sendable {
    /// The wind in meters per second, −32.768 to 32.767 in steps of 0.001: positive against the rider.
    public var windMetersPerSecond: Double

    /// The grade of the road in percent, −327.68 to 327.67 in steps of 0.01: positive uphill.
    public var gradePercent: Double

    /// The coefficient of rolling resistance, 0 to 0.0255 in steps of 0.0001.
    public var rollingResistance: Double

    /// The coefficient of wind resistance in kilograms per meter, 0 to 2.55 in steps of 0.01.
    public var windResistance: Double

    /// Makes the parameters of a simulation; what is out of range is sent as the end of the range.
    ///
    /// - Parameters:
    ///   - windMetersPerSecond: The wind: positive against the rider.
    ///   - gradePercent: The grade of the road: positive uphill.
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
