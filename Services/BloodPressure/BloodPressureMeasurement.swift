public import PeripheralKit

/// The unit of a blood pressure value.
public enum BloodPressureUnit: UInt8, Hashable, Sendable {
    /// Millimeters of mercury.
    case mmHg = 0
    /// Kilopascals.
    case kPa = 1
}

/// A blood pressure measurement.
///
/// This type represents the value of the Blood Pressure Measurement characteristic, 0x2A35 (Blood Pressure
/// Service 1.0, section 3.1).
///
/// ```swift
/// BloodPressureMeasurement(systolic: 120, diastolic: 80, meanArterial: 93, pulseRate: 64)
/// ```
public struct BloodPressureMeasurement: Hashable, Sendable {
    /// The systolic pressure in ``unit``, or `.nan` if no valid value exists.
    public var systolic: MedicalShortFloat
    /// The diastolic pressure in ``unit``, or `.nan` if no valid value exists.
    public var diastolic: MedicalShortFloat
    /// The mean arterial pressure in ``unit``, or `.nan` if no valid value exists.
    public var meanArterial: MedicalShortFloat
    /// The unit of the pressure values.
    public var unit: BloodPressureUnit
    /// The local time of the measurement.
    ///
    /// The time is required if the device stores measurements, or if it measures without a connected central.
    public var timestamp: DateTime?
    /// The pulse rate in beats per minute.
    public var pulseRate: MedicalShortFloat?
    /// The number that the device assigns to the user, or 255 for an unknown user.
    public var userID: UInt8?
    /// The problems that occurred during the measurement.
    ///
    /// The value is `nil` if the device does not report problems.
    public var status: BloodPressureStatus?

    /// Creates a measurement.
    ///
    /// - Parameters:
    ///   - systolic: The systolic pressure.
    ///   - diastolic: The diastolic pressure.
    ///   - meanArterial: The mean arterial pressure.
    ///   - unit: The unit of the pressure values.
    ///   - timestamp: The local time of the measurement.
    ///   - pulseRate: The pulse rate in beats per minute.
    ///   - userID: The number that the device assigns to the user, or 255 for an unknown user.
    ///   - status: The problems that occurred during the measurement.
    public init(
        systolic: MedicalShortFloat,
        diastolic: MedicalShortFloat,
        meanArterial: MedicalShortFloat = .nan,
        unit: BloodPressureUnit = .mmHg,
        timestamp: DateTime? = nil,
        pulseRate: MedicalShortFloat? = nil,
        userID: UInt8? = nil,
        status: BloodPressureStatus? = nil
    ) {
        self.systolic = systolic
        self.diastolic = diastolic
        self.meanArterial = meanArterial
        self.unit = unit
        self.timestamp = timestamp
        self.pulseRate = pulseRate
        self.userID = userID
        self.status = status
    }
}

extension BloodPressureMeasurement: GATTValue {
    private static let timestampFlag: UInt8 = 1 << 1
    private static let pulseRateFlag: UInt8 = 1 << 2
    private static let userIDFlag: UInt8 = 1 << 3
    private static let statusFlag: UInt8 = 1 << 4

    /// Decodes a blood pressure measurement and ignores reserved flags.
    ///
    /// The specification requires centrals to ignore reserved flags.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let flags: UInt8 = try reader.read()
        unit = flags & 1 == 0 ? .mmHg : .kPa
        systolic = try MedicalShortFloat(decoding: &reader)
        diastolic = try MedicalShortFloat(decoding: &reader)
        meanArterial = try MedicalShortFloat(decoding: &reader)
        timestamp = flags & Self.timestampFlag == 0 ? nil : try DateTime(decoding: &reader)
        pulseRate = flags & Self.pulseRateFlag == 0 ? nil : try MedicalShortFloat(decoding: &reader)
        userID = flags & Self.userIDFlag == 0 ? nil : try reader.read()
        status = flags & Self.statusFlag == 0 ? nil : BloodPressureStatus(rawValue: try reader.read())
    }

    /// Appends the encoded measurement, which is at most 19 bytes long.
    ///
    /// The flags come first, followed by the pressures and the optional fields.
    public func encode(into writer: inout ByteWriter) {
        var flags = unit.rawValue
        if timestamp != nil { flags |= Self.timestampFlag }
        if pulseRate != nil { flags |= Self.pulseRateFlag }
        if userID != nil { flags |= Self.userIDFlag }
        if status != nil { flags |= Self.statusFlag }
        writer.write(flags)
        systolic.encode(into: &writer)
        diastolic.encode(into: &writer)
        meanArterial.encode(into: &writer)
        timestamp?.encode(into: &writer)
        pulseRate?.encode(into: &writer)
        if let userID { writer.write(userID) }
        if let status { writer.write(status.rawValue) }
    }
}

extension BloodPressureMeasurement {
    /// The measurement with only the problems that the device detects.
    func limited(to detected: BloodPressureStatus) -> BloodPressureMeasurement {
        var limited = self
        limited.status = detected.isEmpty ? nil : status?.intersection(detected)
        return limited
    }
}

/// The pressure of the cuff during inflation and deflation.
///
/// This type represents the value of the Intermediate Cuff Pressure characteristic, 0x2A36 (Blood Pressure
/// Service 1.0, section 3.2).
public struct IntermediateCuffPressure: Hashable, Sendable {
    private var measurement: BloodPressureMeasurement

    /// The pressure in ``unit``.
    public var pressure: MedicalShortFloat { measurement.systolic }
    /// The unit of the pressure.
    public var unit: BloodPressureUnit { measurement.unit }
    /// The local time of the measurement.
    public var timestamp: DateTime? { measurement.timestamp }
    /// The pulse rate in beats per minute.
    public var pulseRate: MedicalShortFloat? { measurement.pulseRate }
    /// The number that the device assigns to the user, or 255 for an unknown user.
    public var userID: UInt8? { measurement.userID }
    /// The problems that occurred during the measurement.
    ///
    /// The value is `nil` if the device does not report problems.
    public var status: BloodPressureStatus? { measurement.status }

    /// Creates a pressure.
    ///
    /// - Parameters:
    ///   - pressure: The pressure of the cuff.
    ///   - unit: The unit of the pressure values.
    ///   - timestamp: The local time of the measurement.
    ///   - pulseRate: The pulse rate in beats per minute.
    ///   - userID: The number that the device assigns to the user, or 255 for an unknown user.
    ///   - status: The problems that occurred during the measurement.
    public init(
        _ pressure: MedicalShortFloat,
        unit: BloodPressureUnit = .mmHg,
        timestamp: DateTime? = nil,
        pulseRate: MedicalShortFloat? = nil,
        userID: UInt8? = nil,
        status: BloodPressureStatus? = nil
    ) {
        measurement = BloodPressureMeasurement(
            systolic: pressure,
            diastolic: .nan,
            unit: unit,
            timestamp: timestamp,
            pulseRate: pulseRate,
            userID: userID,
            status: status
        )
    }
}

extension IntermediateCuffPressure {
    /// The pressure with only the problems that the device detects.
    func limited(to detected: BloodPressureStatus) -> IntermediateCuffPressure {
        var limited = self
        limited.measurement = measurement.limited(to: detected)
        return limited
    }
}

extension IntermediateCuffPressure: GATTValue {
    /// Decodes a cuff pressure from a value in the format of a ``BloodPressureMeasurement``.
    ///
    /// The decoder ignores the diastolic pressure and the mean arterial pressure.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        measurement = try BloodPressureMeasurement(decoding: &reader)
        measurement.diastolic = .nan
        measurement.meanArterial = .nan
    }

    /// Appends the encoded cuff pressure, which is at most 19 bytes long.
    ///
    /// The encoded diastolic pressure and mean arterial pressure are NaN.
    public func encode(into writer: inout ByteWriter) {
        measurement.encode(into: &writer)
    }
}
