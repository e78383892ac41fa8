public import PeripheralKit

/// A body temperature.
///
/// This type represents the value of the Temperature Measurement characteristic, 0x2A1C (Health Thermometer
/// Service 1.0, section 3.1). The Intermediate Temperature characteristic, 0x2A1E, has the same format
/// (Health Thermometer Service 1.0, section 3.3).
///
/// ```swift
/// TemperatureMeasurement(celsius: 36.6)
/// TemperatureMeasurement(celsius: MedicalFloat(37, exponent: -1) ?? .nan, timestamp: now, type: .ear)
/// ```
public struct TemperatureMeasurement: Hashable, Sendable {
    /// The unit of a temperature.
    public enum Unit: UInt8, Hashable, Sendable {
        /// Degrees Celsius.
        case celsius = 0
        /// Degrees Fahrenheit.
        case fahrenheit = 1
    }

    /// The temperature in degrees Celsius or Fahrenheit, according to `unit`.
    ///
    /// The value is `.nan` if there is no valid temperature.
    public var value: MedicalFloat

    /// The unit of the temperature.
    public var unit: Unit

    /// The time of the measurement, in local time.
    ///
    /// The time is required if the thermometer stores measurements, or if the thermometer takes measurements
    /// while no central is connected.
    public var timestamp: DateTime?

    /// The place on the body where the temperature was measured.
    ///
    /// The property is `nil` if the service declares one place for all measurements.
    public var type: TemperatureType?

    /// Creates a measurement in degrees Celsius.
    ///
    /// - Parameters:
    ///   - value: The temperature.
    ///   - timestamp: The time of the measurement, in local time.
    ///   - type: The place on the body where the temperature was measured.
    public init(celsius value: MedicalFloat, timestamp: DateTime? = nil, type: TemperatureType? = nil) {
        (self.value, unit, self.timestamp, self.type) = (value, .celsius, timestamp, type)
    }

    /// Creates a measurement in degrees Fahrenheit.
    ///
    /// - Parameters:
    ///   - value: The temperature.
    ///   - timestamp: The time of the measurement, in local time.
    ///   - type: The place on the body where the temperature was measured.
    public init(fahrenheit value: MedicalFloat, timestamp: DateTime? = nil, type: TemperatureType? = nil) {
        (self.value, unit, self.timestamp, self.type) = (value, .fahrenheit, timestamp, type)
    }
}

extension TemperatureMeasurement: GATTValue {
    private static let timestampFlag: UInt8 = 1 << 1
    private static let typeFlag: UInt8 = 1 << 2

    /// Reads a measurement, and ignores reserved flags.
    ///
    /// The Health Thermometer Service specification 1.0 requires centrals to ignore reserved flags.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let flags: UInt8 = try reader.read()
        unit = flags & 1 == 0 ? .celsius : .fahrenheit
        value = try MedicalFloat(decoding: &reader)
        timestamp = flags & Self.timestampFlag == 0 ? nil : try DateTime(decoding: &reader)
        type = flags & Self.typeFlag == 0 ? nil : try TemperatureType(decoding: &reader)
    }

    /// Appends at most 13 bytes: the flags, the temperature and the optional fields.
    public func encode(into writer: inout ByteWriter) {
        let timestampFlag = timestamp == nil ? 0 : Self.timestampFlag
        let typeFlag = type == nil ? 0 : Self.typeFlag
        writer.write(unit.rawValue | timestampFlag | typeFlag)
        value.encode(into: &writer)
        timestamp?.encode(into: &writer)
        type?.encode(into: &writer)
    }
}
