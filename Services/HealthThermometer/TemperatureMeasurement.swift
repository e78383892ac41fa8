public import PeripheralKit

/// A temperature of a body: the value of the Temperature Measurement, 0x2A1C, and of the Intermediate Temperature, 0x2A1E
/// (Health Thermometer Service 1.0, sections 3.1 and 3.3).
///
/// ```swift
/// TemperatureMeasurement(celsius: 36.6)
/// TemperatureMeasurement(celsius: MedicalFloat(37, exponent: -1) ?? .nan, timestamp: now, type: .ear)
/// ```
public struct TemperatureMeasurement: Hashable, Sendable {
    /// In what a temperature is measured.
    public enum Unit: UInt8, Hashable, Sendable {
        /// Degrees Celsius.
        case celsius = 0
        /// Degrees Fahrenheit.
        case fahrenheit = 1
    }

    /// The temperature in its unit; `.nan` when there is no valid one.
    public var value: MedicalFloat

    /// In what the temperature is measured.
    public var unit: Unit

    /// When it was measured, in local time.
    ///
    /// A thermometer that stores measurements, or is not connected when it measures, has to tell.
    public var timestamp: DateTime?

    /// Where it was measured; `nil` when the service tells that for all.
    public var type: TemperatureType?

    /// Makes a measurement in degrees Celsius.
    ///
    /// - Parameters:
    ///   - value: The temperature.
    ///   - timestamp: When it was measured, in local time.
    ///   - type: Where it was measured.
    public init(celsius value: MedicalFloat, timestamp: DateTime? = nil, type: TemperatureType? = nil) {
        (self.value, unit, self.timestamp, self.type) = (value, .celsius, timestamp, type)
    }

    /// Makes a measurement in degrees Fahrenheit.
    ///
    /// - Parameters:
    ///   - value: The temperature.
    ///   - timestamp: When it was measured, in local time.
    ///   - type: Where it was measured.
    public init(fahrenheit value: MedicalFloat, timestamp: DateTime? = nil, type: TemperatureType? = nil) {
        (self.value, unit, self.timestamp, self.type) = (value, .fahrenheit, timestamp, type)
    }
}

extension TemperatureMeasurement: GATTValue {
    private static let timestampFlag: UInt8 = 1 << 1
    private static let typeFlag: UInt8 = 1 << 2

    /// Reads a measurement; flags that are reserved are ignored, as the specification demands of a central.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let flags: UInt8 = try reader.read()
        unit = flags & 1 == 0 ? .celsius : .fahrenheit
        value = try MedicalFloat(decoding: &reader)
        timestamp = flags & Self.timestampFlag == 0 ? nil : try DateTime(decoding: &reader)
        type = flags & Self.typeFlag == 0 ? nil : try TemperatureType(decoding: &reader)
    }

    /// Appends at most 13 bytes: flags, temperature, then what else there is.
    public func encode(into writer: inout ByteWriter) {
        let timestampFlag = timestamp == nil ? 0 : Self.timestampFlag
        let typeFlag = type == nil ? 0 : Self.typeFlag
        writer.write(unit.rawValue | timestampFlag | typeFlag)
        value.encode(into: &writer)
        timestamp?.encode(into: &writer)
        type?.encode(into: &writer)
    }
}
