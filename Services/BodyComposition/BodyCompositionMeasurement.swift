public import PeripheralKit

/// A body composition measurement.
///
/// This type represents the value of the Body Composition Measurement characteristic, 0x2A9C (Body
/// Composition Service 1.0, section 3.2).
///
/// ```swift
/// BodyCompositionMeasurement(bodyFat: 21.4, userID: 1, weight: 72.5, height: 1.78)
/// ```
///
/// The encoding rounds each value to the nearest step, and limits each value to its valid range. If a
/// measurement does not fit into one indication, ``BodyCompositionService/indicate(_:in:)`` sends the
/// measurement in two parts.
public struct BodyCompositionMeasurement: Hashable, Sendable {
    /// The units of the masses and of the height.
    public enum Units: UInt16, Hashable, Sendable {
        /// Kilograms in steps of 0.005, and meters in steps of 0.001.
        case metric = 0
        /// Pounds in steps of 0.01, and inches in steps of 0.1.
        case imperial = 1
    }

    /// The body fat percentage, in steps of 0.1.
    ///
    /// A value of `nil` or NaN means that the measurement has failed.
    ///
    /// For a failed measurement, the peripheral sends only the time and the user ID.
    public var bodyFat: Double?
    /// The units of the masses and of the height.
    public var units: Units
    /// The local time of the measurement.
    ///
    /// The time is required if the device stores measurements, or if it measures without a connected central.
    public var timestamp: DateTime?
    /// The number that the device assigns to the user, or 255 for an unknown user.
    public var userID: UInt8?
    /// The basal metabolism in kilojoules.
    public var basalMetabolism: UInt16?
    /// The muscle percentage, in steps of 0.1.
    public var muscle: Double?
    /// The muscle mass in kilograms or pounds.
    public var muscleMass: Double?
    /// The fat-free mass in kilograms or pounds.
    public var fatFreeMass: Double?
    /// The soft lean mass in kilograms or pounds.
    public var softLeanMass: Double?
    /// The body water mass in kilograms or pounds.
    public var bodyWaterMass: Double?
    /// The impedance of the body in ohms, in steps of 0.1.
    public var impedance: Double?
    /// The weight in kilograms or pounds.
    public var weight: Double?
    /// The height in meters or inches.
    public var height: Double?

    /// Whether the value is one of the two parts of a long measurement.
    public internal(set) var isPart = false

    /// Creates a measurement.
    ///
    /// - Parameters:
    ///   - bodyFat: The body fat in percent, or `nil` if the measurement has failed.
    ///   - units: The units of the masses and of the height.
    ///   - timestamp: The local time of the measurement.
    ///   - userID: The number that the device assigns to the user, or 255 for an unknown user.
    ///   - basalMetabolism: The basal metabolism in kilojoules.
    ///   - muscle: The muscle percentage.
    ///   - muscleMass: The muscle mass.
    ///   - fatFreeMass: The fat-free mass.
    ///   - softLeanMass: The soft lean mass.
    ///   - bodyWaterMass: The body water mass.
    ///   - impedance: The impedance of the body in ohms.
    ///   - weight: The weight.
    ///   - height: The height.
    public init(
        bodyFat: Double?,
        units: Units = .metric,
        timestamp: DateTime? = nil,
        userID: UInt8? = nil,
        basalMetabolism: UInt16? = nil,
        muscle: Double? = nil,
        muscleMass: Double? = nil,
        fatFreeMass: Double? = nil,
        softLeanMass: Double? = nil,
        bodyWaterMass: Double? = nil,
        impedance: Double? = nil,
        weight: Double? = nil,
        height: Double? = nil
    ) {
        self.bodyFat = bodyFat
        self.units = units
        self.timestamp = timestamp
        self.userID = userID
        self.basalMetabolism = basalMetabolism
        self.muscle = muscle
        self.muscleMass = muscleMass
        self.fatFreeMass = fatFreeMass
        self.softLeanMass = softLeanMass
        self.bodyWaterMass = bodyWaterMass
        self.impedance = impedance
        self.weight = weight
        self.height = height
    }
}

extension BodyCompositionMeasurement: GATTValue {
    /// Decodes a measurement, or one part of a measurement, and ignores reserved flags.
    ///
    /// The specification requires centrals to ignore reserved flags.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let flags = Flags(rawValue: try reader.read())
        let fat: UInt16 = try reader.read()
        let units: Units = flags.contains(.imperial) ? .imperial : .metric
        self.init(bodyFat: fat == Self.unsuccessful ? nil : Double(fat) / 10, units: units)
        isPart = flags.contains(.multiplePackets)
        if flags.contains(.timestamp) { timestamp = try DateTime(decoding: &reader) }
        if flags.contains(.userID) { userID = try reader.read() }
        if flags.contains(.basalMetabolism) { basalMetabolism = try reader.read() }
        if flags.contains(.muscle) { muscle = try reader.readNumber(of: 10) }
        if flags.contains(.muscleMass) { muscleMass = try reader.readNumber(of: units.massesPerUnit) }
        if flags.contains(.fatFreeMass) { fatFreeMass = try reader.readNumber(of: units.massesPerUnit) }
        if flags.contains(.softLeanMass) { softLeanMass = try reader.readNumber(of: units.massesPerUnit) }
        if flags.contains(.bodyWaterMass) { bodyWaterMass = try reader.readNumber(of: units.massesPerUnit) }
        if flags.contains(.impedance) { impedance = try reader.readNumber(of: 10) }
        if flags.contains(.weight) { weight = try reader.readNumber(of: units.massesPerUnit) }
        if flags.contains(.height) { height = try reader.readNumber(of: units.heightsPerUnit) }
        // A failed measurement has no results.
        if bodyFat == nil { self = withoutResults }
    }

    /// Appends the encoded measurement, which is 4 to 30 bytes long.
    ///
    /// The flags come first, followed by the body fat and the optional fields.
    public func encode(into writer: inout ByteWriter) {
        let sent = bodyFat?.isNaN ?? true ? withoutResults : self
        writer.write(sent.flags.rawValue)
        if let bodyFat = sent.bodyFat {
            writer.write(min(UInt16(nearest: bodyFat * 10), Self.unsuccessful - 1))
        } else {
            writer.write(Self.unsuccessful)
        }
        sent.timestamp?.encode(into: &writer)
        if let userID = sent.userID { writer.write(userID) }
        if let basalMetabolism = sent.basalMetabolism { writer.write(basalMetabolism) }
        writer.write(sent.muscle, of: 10)
        for mass in [sent.muscleMass, sent.fatFreeMass, sent.softLeanMass, sent.bodyWaterMass] {
            writer.write(mass, of: units.massesPerUnit)
        }
        writer.write(sent.impedance, of: 10)
        writer.write(sent.weight, of: units.massesPerUnit)
        writer.write(sent.height, of: units.heightsPerUnit)
    }

    private static let unsuccessful: UInt16 = 0xFFFF

    private var withoutResults: BodyCompositionMeasurement {
        var copy = BodyCompositionMeasurement(
            bodyFat: nil,
            units: units,
            timestamp: timestamp,
            userID: userID
        )
        copy.isPart = isPart
        return copy
    }

    private var flags: Flags {
        var flags: Flags = units == .imperial ? .imperial : []
        if timestamp != nil { flags.insert(.timestamp) }
        if userID != nil { flags.insert(.userID) }
        if basalMetabolism != nil { flags.insert(.basalMetabolism) }
        if muscle != nil { flags.insert(.muscle) }
        if muscleMass != nil { flags.insert(.muscleMass) }
        if fatFreeMass != nil { flags.insert(.fatFreeMass) }
        if softLeanMass != nil { flags.insert(.softLeanMass) }
        if bodyWaterMass != nil { flags.insert(.bodyWaterMass) }
        if impedance != nil { flags.insert(.impedance) }
        if weight != nil { flags.insert(.weight) }
        if height != nil { flags.insert(.height) }
        if isPart { flags.insert(.multiplePackets) }
        return flags
    }
}

extension BodyCompositionMeasurement {
    /// The measurement in one or two parts.
    ///
    /// Both parts contain the flags and the body fat. Only the first part contains the time and the user
    /// (Body Composition Service 1.0, section 3.2.1). 20 bytes are enough for either half of a complete
    /// measurement.
    ///
    /// - Parameter length: The maximum number of bytes in a part, which is at least 20.
    /// - Returns: The parts, in the order in which to send them.
    func parts(upTo length: Int) -> [BodyCompositionMeasurement] {
        guard gattBytes.count > length else { return [self] }
        var first = self
        var second = self
        (first.isPart, second.isPart) = (true, true)
        (second.timestamp, second.userID) = (nil, nil)
        (second.basalMetabolism, second.muscle, second.muscleMass, second.fatFreeMass) = (nil, nil, nil, nil)
        (first.softLeanMass, first.bodyWaterMass, first.impedance) = (nil, nil, nil)
        (first.weight, first.height) = (nil, nil)
        return [first, second]
    }
}

/// The first two bytes of a measurement (Body Composition Service 1.0, section 3.2.1.1).
private struct Flags: OptionSet {
    var rawValue: UInt16

    static let imperial = Flags(rawValue: 1 << 0)
    static let timestamp = Flags(rawValue: 1 << 1)
    static let userID = Flags(rawValue: 1 << 2)
    static let basalMetabolism = Flags(rawValue: 1 << 3)
    static let muscle = Flags(rawValue: 1 << 4)
    static let muscleMass = Flags(rawValue: 1 << 5)
    static let fatFreeMass = Flags(rawValue: 1 << 6)
    static let softLeanMass = Flags(rawValue: 1 << 7)
    static let bodyWaterMass = Flags(rawValue: 1 << 8)
    static let impedance = Flags(rawValue: 1 << 9)
    static let weight = Flags(rawValue: 1 << 10)
    static let height = Flags(rawValue: 1 << 11)
    static let multiplePackets = Flags(rawValue: 1 << 12)
}

extension BodyCompositionMeasurement.Units {
    fileprivate var massesPerUnit: Double { self == .metric ? 200 : 100 }
    fileprivate var heightsPerUnit: Double { self == .metric ? 1000 : 10 }
}

extension ByteReader {
    /// Reads a number that is encoded with the given number of steps per unit.
    fileprivate mutating func readNumber(of steps: Double) throws(GATTDecodingError) -> Double {
        Double(try read(UInt16.self)) / steps
    }
}

extension ByteWriter {
    /// Appends a number with the given number of steps per unit; appends nothing for `nil`.
    fileprivate mutating func write(_ number: Double?, of steps: Double) {
        if let number { write(UInt16(nearest: number * steps)) }
    }
}

extension UInt16 {
    /// The nearest integer; 0 for NaN.
    fileprivate init(nearest value: Double) {
        let rounded = value.rounded()
        self = rounded > 0 ? rounded < 65_535 ? UInt16(rounded) : .max : 0
    }
}
