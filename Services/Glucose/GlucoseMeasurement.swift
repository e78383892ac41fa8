public import PeripheralKit

/// A measurement from a glucose sensor.
///
/// `GlucoseMeasurement` represents the value of the Glucose Measurement characteristic, 0x2A18 (Glucose
/// Service 1.0.1, section 3.1).
///
/// ```swift
/// GlucoseMeasurement(
///     sequenceNumber: 7, baseTime: time,
///     concentration: .milligramsPerDeciliter(105), type: .capillaryWholeBlood, location: .finger
/// )
/// ```
public struct GlucoseMeasurement: Hashable, Sendable {
    /// The glucose concentration, and the type and the location of the sample.
    public struct Result: Hashable, Sendable {
        /// The concentration of glucose.
        public var concentration: GlucoseConcentration
        /// The type of the sample.
        public var type: GlucoseSampleType
        /// The location from which the sample was taken.
        public var location: GlucoseSampleLocation
    }

    /// The sequence number of the measurement.
    ///
    /// A sensor increments the sequence number for each measurement, and never uses a sequence number twice.
    public var sequenceNumber: UInt16

    /// The time of the measurement on the internal clock of the sensor.
    ///
    /// The user does not set the internal clock.
    public var baseTime: DateTime

    /// The user-facing time minus the time of the internal clock, in minutes.
    ///
    /// The offset ranges from −32,767 to 32,766 minutes. The property is `nil` if the measurement contains no
    /// time offset.
    ///
    /// The value 32,767 represents any offset above 32,766 minutes. The value −32,768 represents any offset
    /// below −32,767 minutes.
    public var timeOffset: Int16?

    /// The result of the measurement, or `nil` if the measurement has no result.
    public var result: Result?

    /// The problems with the measurement, or `nil` if the sensor does not report problems.
    public var status: GlucoseSensorStatus?

    /// Whether a ``GlucoseContext`` with the same sequence number follows the measurement.
    ///
    /// A ``GlucoseService`` sets the `contextFollows` property when the service sends the measurement.
    public var contextFollows: Bool

    /// Creates a measurement with a result.
    ///
    /// - Parameters:
    ///   - sequenceNumber: The sequence number of the measurement.
    ///   - baseTime: The time of the measurement on the internal clock of the sensor.
    ///   - timeOffset: The user-facing time minus the time of the internal clock, in minutes.
    ///   - concentration: The concentration of glucose.
    ///   - type: The type of the sample.
    ///   - location: The location from which the sample was taken.
    ///   - status: The problems with the measurement.
    public init(
        sequenceNumber: UInt16,
        baseTime: DateTime,
        timeOffset: Int16? = nil,
        concentration: GlucoseConcentration,
        type: GlucoseSampleType,
        location: GlucoseSampleLocation,
        status: GlucoseSensorStatus? = nil
    ) {
        self.init(sequenceNumber: sequenceNumber, baseTime: baseTime, timeOffset: timeOffset, status: status)
        result = Result(concentration: concentration, type: type, location: location)
    }

    /// Creates a measurement without a result.
    ///
    /// - Parameters:
    ///   - sequenceNumber: The sequence number of the measurement.
    ///   - baseTime: The time of the measurement on the internal clock of the sensor.
    ///   - timeOffset: The user-facing time minus the time of the internal clock, in minutes.
    ///   - status: The problems with the measurement.
    public init(
        sequenceNumber: UInt16,
        baseTime: DateTime,
        timeOffset: Int16? = nil,
        status: GlucoseSensorStatus?
    ) {
        self.sequenceNumber = sequenceNumber
        self.baseTime = baseTime
        self.timeOffset = timeOffset
        self.status = status
        contextFollows = false
    }
}

extension GlucoseMeasurement: GATTValue {
    /// Reads a measurement and ignores reserved flags.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let flags: UInt8 = try reader.read()
        sequenceNumber = try reader.read()
        baseTime = try DateTime(decoding: &reader)
        timeOffset = flags & Flag.timeOffset != 0 ? try reader.read() : nil
        if flags & Flag.result != 0 {
            let value = try MedicalShortFloat(decoding: &reader)
            let isMolar = flags & Flag.molesPerLiter != 0
            let sample: UInt8 = try reader.read()
            result = Result(
                concentration: isMolar ? .molesPerLiter(value) : .kilogramsPerLiter(value),
                type: GlucoseSampleType(rawValue: sample & 0x0F),
                location: GlucoseSampleLocation(rawValue: sample >> 4)
            )
        }
        status = flags & Flag.status != 0 ? GlucoseSensorStatus(rawValue: try reader.read()) : nil
        contextFollows = flags & Flag.contextFollows != 0
    }

    /// Appends the measurement as 10 to 17 bytes.
    public func encode(into writer: inout ByteWriter) {
        writer.write(flags)
        writer.write(sequenceNumber)
        baseTime.encode(into: &writer)
        if let timeOffset { writer.write(timeOffset) }
        if let result {
            result.concentration.value.encode(into: &writer)
            writer.write(result.type.rawValue & 0x0F | result.location.rawValue << 4)
        }
        if let status { writer.write(status.rawValue) }
    }

    private var flags: UInt8 {
        var flags: UInt8 = 0
        if timeOffset != nil { flags |= Flag.timeOffset }
        if let result {
            flags |= Flag.result
            if case .molesPerLiter = result.concentration { flags |= Flag.molesPerLiter }
        }
        if status != nil { flags |= Flag.status }
        if contextFollows { flags |= Flag.contextFollows }
        return flags
    }
}

/// The bits of the first byte.
private enum Flag {
    static let timeOffset: UInt8 = 1 << 0
    static let result: UInt8 = 1 << 1
    static let molesPerLiter: UInt8 = 1 << 2
    static let status: UInt8 = 1 << 3
    static let contextFollows: UInt8 = 1 << 4
}

/// A glucose concentration in kilograms per liter or in moles per liter.
public enum GlucoseConcentration: Hashable, Sendable {
    /// A concentration in kilograms per liter (1 mg/dL is 10^−5 kg/L).
    case kilogramsPerLiter(MedicalShortFloat)
    /// A concentration in moles per liter (1 mmol/L is 10^−3 mol/L).
    case molesPerLiter(MedicalShortFloat)

    /// Creates a concentration from milligrams per deciliter, rounded to a whole number.
    ///
    /// The maximum is 2045 milligrams per deciliter.
    public static func milligramsPerDeciliter(_ value: Double) -> GlucoseConcentration {
        .kilogramsPerLiter(value.scaled(by: 1, exponent: -5))
    }

    /// Creates a concentration from millimoles per liter, rounded to one decimal place.
    ///
    /// The maximum is 204.5 millimoles per liter.
    public static func millimolesPerLiter(_ value: Double) -> GlucoseConcentration {
        .molesPerLiter(value.scaled(by: 10, exponent: -4))
    }

    /// The concentration in kilograms per liter or in moles per liter.
    public var value: MedicalShortFloat {
        switch self {
        case .kilogramsPerLiter(let value), .molesPerLiter(let value): value
        }
    }
}

extension Double {
    /// A number of decimal units.
    ///
    /// The number is positive infinity above the largest value, and NaN for an invalid concentration.
    fileprivate func scaled(by factor: Double, exponent: Int) -> MedicalShortFloat {
        let mantissa = (self * factor).rounded()
        guard mantissa >= 0 else { return .nan }
        guard mantissa <= 2045 else { return .positiveInfinity }
        return MedicalShortFloat(mantissa: Int(mantissa), exponent: exponent) ?? .nan
    }
}
