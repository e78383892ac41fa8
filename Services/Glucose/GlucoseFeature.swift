public import PeripheralKit

/// The features of a glucose sensor.
///
/// `GlucoseFeature` represents the value of the Glucose Feature characteristic, 0x2A51 (Glucose Service
/// 1.0.1, section 3.3). A ``GlucoseService`` derives the features from the parameters of its initializer.
public struct GlucoseFeature: OptionSet, Hashable, Sendable {
    /// The encoded bits.
    public let rawValue: UInt16

    /// Creates a set of features from encoded bits.
    ///
    /// The set can contain bits that the Glucose Service specification 1.0.1 does not define.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// The sensor can report that the battery was low during a measurement.
    public static let lowBatteryDetection = GlucoseFeature(rawValue: 1 << 0)
    /// The sensor can report malfunctions.
    public static let malfunctionDetection = GlucoseFeature(rawValue: 1 << 1)
    /// The sensor can report that the sample is too small.
    public static let sampleSize = GlucoseFeature(rawValue: 1 << 2)
    /// The sensor can report that the test strip is not inserted correctly.
    public static let stripInsertionErrorDetection = GlucoseFeature(rawValue: 1 << 3)
    /// The sensor can report that the test strip is of the wrong type.
    public static let stripTypeErrorDetection = GlucoseFeature(rawValue: 1 << 4)
    /// The sensor can report that the result is too high or too low.
    public static let resultHighLowDetection = GlucoseFeature(rawValue: 1 << 5)
    /// The sensor can report that the temperature is too high or too low.
    public static let temperatureHighLowDetection = GlucoseFeature(rawValue: 1 << 6)
    /// The sensor can report an interrupted measurement.
    public static let readInterruptDetection = GlucoseFeature(rawValue: 1 << 7)
    /// The sensor can report general device faults.
    public static let generalDeviceFault = GlucoseFeature(rawValue: 1 << 8)
    /// The sensor can report faults of its clock.
    public static let timeFault = GlucoseFeature(rawValue: 1 << 9)
    /// The sensor can bond with several centrals.
    public static let multipleBonds = GlucoseFeature(rawValue: 1 << 10)

    /// The features of a sensor that reports the given status values.
    init(detecting status: GlucoseSensorStatus, supportsMultipleBonds: Bool) {
        self = []
        if status.contains(.batteryLow) { insert(.lowBatteryDetection) }
        if status.contains(.malfunction) { insert(.malfunctionDetection) }
        if status.contains(.sampleSizeInsufficient) { insert(.sampleSize) }
        if status.contains(.stripInsertionError) { insert(.stripInsertionErrorDetection) }
        if status.contains(.stripTypeIncorrect) { insert(.stripTypeErrorDetection) }
        if !status.isDisjoint(with: [.resultTooHigh, .resultTooLow]) { insert(.resultHighLowDetection) }
        if !status.isDisjoint(with: [.temperatureTooHigh, .temperatureTooLow]) {
            insert(.temperatureHighLowDetection)
        }
        if status.contains(.readInterrupted) { insert(.readInterruptDetection) }
        if status.contains(.generalDeviceFault) { insert(.generalDeviceFault) }
        if status.contains(.timeFault) { insert(.timeFault) }
        if supportsMultipleBonds { insert(.multipleBonds) }
    }
}

extension GlucoseFeature: GATTValue {
    /// Reads two bytes.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        try self.init(rawValue: reader.read())
    }

    /// Appends two bytes.
    public func encode(into writer: inout ByteWriter) {
        writer.write(rawValue)
    }
}
