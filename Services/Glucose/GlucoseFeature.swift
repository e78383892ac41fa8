public import PeripheralKit

/// What a glucose sensor can tell of itself: the value of the Glucose Feature, 0x2A51 (Glucose Service 1.0.1,
/// section 3.3).
///
/// The service makes it of its parameters.
public struct GlucoseFeature: OptionSet, Hashable, Sendable {
    /// The bits as they are on the air.
    public let rawValue: UInt16

    /// Makes a set of bits, known to the specification or not.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// It tells that the battery was low during a measurement.
    public static let lowBatteryDetection = GlucoseFeature(rawValue: 1 << 0)
    /// It tells malfunctions.
    public static let malfunctionDetection = GlucoseFeature(rawValue: 1 << 1)
    /// It tells that a sample is too small.
    public static let sampleSize = GlucoseFeature(rawValue: 1 << 2)
    /// It tells that a strip is not inserted correctly.
    public static let stripInsertionErrorDetection = GlucoseFeature(rawValue: 1 << 3)
    /// It tells that a strip is of another type.
    public static let stripTypeErrorDetection = GlucoseFeature(rawValue: 1 << 4)
    /// It tells that a result is too high or too low.
    public static let resultHighLowDetection = GlucoseFeature(rawValue: 1 << 5)
    /// It tells that it is too warm or too cold.
    public static let temperatureHighLowDetection = GlucoseFeature(rawValue: 1 << 6)
    /// It tells that a measurement was interrupted.
    public static let readInterruptDetection = GlucoseFeature(rawValue: 1 << 7)
    /// It tells general faults.
    public static let generalDeviceFault = GlucoseFeature(rawValue: 1 << 8)
    /// It tells faults of its time.
    public static let timeFault = GlucoseFeature(rawValue: 1 << 9)
    /// It bonds with several centrals.
    public static let multipleBonds = GlucoseFeature(rawValue: 1 << 10)

    /// What a sensor supports that can tell these faults.
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
