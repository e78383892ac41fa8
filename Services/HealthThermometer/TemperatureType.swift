public import PeripheralKit

/// The place on the body where a thermometer measures the temperature.
///
/// This type represents the value of the Temperature Type characteristic, 0x2A1D (Health Thermometer Service
/// 1.0, section 3.2).
public struct TemperatureType: Hashable, Sendable {
    /// The encoded place.
    ///
    /// The Health Thermometer Service specification 1.0 reserves the values 0 and 10 through 255.
    public var rawValue: UInt8

    /// Creates a place.
    ///
    /// The initializer accepts places that the Health Thermometer Service specification 1.0 does not define.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// An armpit.
    public static let armpit = TemperatureType(rawValue: 1)
    /// An unspecified place on the body.
    public static let body = TemperatureType(rawValue: 2)
    /// An ear, usually the ear lobe.
    public static let ear = TemperatureType(rawValue: 3)
    /// A finger.
    public static let finger = TemperatureType(rawValue: 4)
    /// The gastrointestinal tract.
    public static let gastrointestinalTract = TemperatureType(rawValue: 5)
    /// The mouth.
    public static let mouth = TemperatureType(rawValue: 6)
    /// The rectum.
    public static let rectum = TemperatureType(rawValue: 7)
    /// A toe.
    public static let toe = TemperatureType(rawValue: 8)
    /// An eardrum.
    public static let tympanum = TemperatureType(rawValue: 9)
}

extension TemperatureType: GATTValue {
    /// Reads one byte.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        try self.init(rawValue: reader.read())
    }

    /// Appends one byte.
    public func encode(into writer: inout ByteWriter) {
        writer.write(rawValue)
    }
}
