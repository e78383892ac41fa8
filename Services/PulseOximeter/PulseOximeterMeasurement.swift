public import PeripheralKit

/// The oxygen saturation of the blood, and the pulse rate.
///
/// The Pulse Oximeter Service specification 1.0.1 defines the oxygen saturation and the pulse rate in section
/// 3.1.
public struct OxygenSaturation: Hashable, Sendable {
    /// The oxygen saturation in percent.
    ///
    /// The property is NaN (not a number) if the oxygen saturation is unknown.
    public var percent: MedicalShortFloat

    /// The pulse rate in beats per minute.
    ///
    /// The property is NaN (not a number) if the pulse rate is unknown.
    public var pulseRate: MedicalShortFloat

    /// Creates a value from an oxygen saturation and a pulse rate.
    ///
    /// For example, pass an oxygen saturation of 97 percent and a pulse rate of 63 beats per minute.
    public init(percent: MedicalShortFloat, pulseRate: MedicalShortFloat) {
        self.percent = percent
        self.pulseRate = pulseRate
    }
}

extension OxygenSaturation: GATTValue {
    /// Reads four bytes.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        percent = try MedicalShortFloat(decoding: &reader)
        pulseRate = try MedicalShortFloat(decoding: &reader)
    }

    /// Appends four bytes.
    public func encode(into writer: inout ByteWriter) {
        percent.encode(into: &writer)
        pulseRate.encode(into: &writer)
    }
}

/// A single measurement from a pulse oximeter.
///
/// `SpotCheckMeasurement` represents the value of the PLX Spot-Check Measurement characteristic, 0x2A5E
/// (Pulse Oximeter Service 1.0.1, section 3.1).
public struct SpotCheckMeasurement: Hashable, Sendable {
    /// The oxygen saturation and the pulse rate.
    public var saturation: OxygenSaturation

    /// The time of the measurement, or `nil` if the measurement contains no time.
    public var time: DateTime?

    /// Whether the clock of the device is unset.
    ///
    /// If the clock is unset, the time indicates only the order of the measurements.
    public var isClockUnset: Bool

    /// The status of the measurement, or `nil` if the measurement contains no status.
    public var status: PulseOximeterStatus?

    /// The faults of the device or the sensor.
    ///
    /// The value is `nil` if the measurement contains no faults.
    public var faults: PulseOximeterFaults?

    /// The pulse amplitude index in percent, or `nil` if the measurement contains no index.
    public var pulseAmplitudeIndex: MedicalShortFloat?

    /// Creates a measurement.
    ///
    /// - Parameters:
    ///   - saturation: The oxygen saturation and the pulse rate.
    ///   - time: The time of the measurement.
    ///   - isClockUnset: Whether the clock of the device is unset.
    ///   - status: The status of the measurement.
    ///   - faults: The faults of the device or the sensor.
    ///   - pulseAmplitudeIndex: The pulse amplitude index, in percent.
    public init(
        _ saturation: OxygenSaturation,
        time: DateTime? = nil,
        isClockUnset: Bool = false,
        status: PulseOximeterStatus? = nil,
        faults: PulseOximeterFaults? = nil,
        pulseAmplitudeIndex: MedicalShortFloat? = nil
    ) {
        self.saturation = saturation
        self.time = time
        self.isClockUnset = isClockUnset
        self.status = status
        self.faults = faults
        self.pulseAmplitudeIndex = pulseAmplitudeIndex
    }
}

extension SpotCheckMeasurement: GATTValue {
    /// Reads a measurement and ignores reserved flags.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let flags: UInt8 = try reader.read()
        self.init(try OxygenSaturation(decoding: &reader))
        if flags & 1 << 0 != 0 { time = try DateTime(decoding: &reader) }
        if flags & 1 << 1 != 0 { status = PulseOximeterStatus(rawValue: try reader.read()) }
        if flags & 1 << 2 != 0 { faults = try PulseOximeterFaults(decoding: &reader) }
        if flags & 1 << 3 != 0 { pulseAmplitudeIndex = try MedicalShortFloat(decoding: &reader) }
        isClockUnset = flags & 1 << 4 != 0
    }

    /// Appends the measurement as 5 to 19 bytes.
    public func encode(into writer: inout ByteWriter) {
        var flags: UInt8 = 0
        if time != nil { flags |= 1 << 0 }
        if status != nil { flags |= 1 << 1 }
        if faults != nil { flags |= 1 << 2 }
        if pulseAmplitudeIndex != nil { flags |= 1 << 3 }
        if isClockUnset { flags |= 1 << 4 }
        writer.write(flags)
        saturation.encode(into: &writer)
        time?.encode(into: &writer)
        if let status { writer.write(status.rawValue) }
        faults?.encode(into: &writer)
        pulseAmplitudeIndex?.encode(into: &writer)
    }
}

/// A measurement in a continuous series of measurements.
///
/// `ContinuousMeasurement` represents the value of the PLX Continuous Measurement characteristic, 0x2A5F
/// (Pulse Oximeter Service 1.0.1, section 3.2).
public struct ContinuousMeasurement: Hashable, Sendable {
    /// The oxygen saturation and the pulse rate that the device calculates in its normal mode.
    public var normal: OxygenSaturation

    /// The oxygen saturation and the pulse rate that the device calculates in its fast mode.
    ///
    /// In the fast mode, the values react to changes more quickly than in the normal mode. The property is
    /// `nil` if the measurement contains no values of the fast mode.
    public var fast: OxygenSaturation?

    /// The oxygen saturation and the pulse rate that the device calculates in its slow mode.
    ///
    /// In the slow mode, the values react to changes more slowly than in the normal mode. The property is
    /// `nil` if the measurement contains no values of the slow mode.
    public var slow: OxygenSaturation?

    /// The status of the measurement, or `nil` if the measurement contains no status.
    public var status: PulseOximeterStatus?

    /// The faults of the device or the sensor.
    ///
    /// The value is `nil` if the measurement contains no faults.
    public var faults: PulseOximeterFaults?

    /// The pulse amplitude index in percent, or `nil` if the measurement contains no index.
    public var pulseAmplitudeIndex: MedicalShortFloat?

    /// Creates a measurement.
    ///
    /// - Parameters:
    ///   - normal: The oxygen saturation and the pulse rate that the device calculates in its normal mode.
    ///   - fast: The oxygen saturation and the pulse rate that the device calculates in its fast mode.
    ///   - slow: The oxygen saturation and the pulse rate that the device calculates in its slow mode.
    ///   - status: The status of the measurement.
    ///   - faults: The faults of the device or the sensor.
    ///   - pulseAmplitudeIndex: The pulse amplitude index, in percent.
    public init(
        _ normal: OxygenSaturation,
        fast: OxygenSaturation? = nil,
        slow: OxygenSaturation? = nil,
        status: PulseOximeterStatus? = nil,
        faults: PulseOximeterFaults? = nil,
        pulseAmplitudeIndex: MedicalShortFloat? = nil
    ) {
        self.normal = normal
        self.fast = fast
        self.slow = slow
        self.status = status
        self.faults = faults
        self.pulseAmplitudeIndex = pulseAmplitudeIndex
    }
}

extension ContinuousMeasurement: GATTValue {
    /// Reads a measurement and ignores reserved flags.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let flags: UInt8 = try reader.read()
        self.init(try OxygenSaturation(decoding: &reader))
        if flags & 1 << 0 != 0 { fast = try OxygenSaturation(decoding: &reader) }
        if flags & 1 << 1 != 0 { slow = try OxygenSaturation(decoding: &reader) }
        if flags & 1 << 2 != 0 { status = PulseOximeterStatus(rawValue: try reader.read()) }
        if flags & 1 << 3 != 0 { faults = try PulseOximeterFaults(decoding: &reader) }
        if flags & 1 << 4 != 0 { pulseAmplitudeIndex = try MedicalShortFloat(decoding: &reader) }
    }

    /// Appends the measurement as 5 to 20 bytes.
    public func encode(into writer: inout ByteWriter) {
        var flags: UInt8 = 0
        if fast != nil { flags |= 1 << 0 }
        if slow != nil { flags |= 1 << 1 }
        if status != nil { flags |= 1 << 2 }
        if faults != nil { flags |= 1 << 3 }
        if pulseAmplitudeIndex != nil { flags |= 1 << 4 }
        writer.write(flags)
        normal.encode(into: &writer)
        fast?.encode(into: &writer)
        slow?.encode(into: &writer)
        if let status { writer.write(status.rawValue) }
        faults?.encode(into: &writer)
        pulseAmplitudeIndex?.encode(into: &writer)
    }
}
