public import PeripheralKit

/// The features of a pulse oximeter: the value of the PLX Features, 0x2A60.
///
/// The service creates the features from its parameters (Pulse Oximeter Service 1.0.1, section 3.3).
public struct PulseOximeterFeatures: Hashable, Sendable {
    /// The status bits that the device can send.
    ///
    /// The property is `nil` if the device sends no status.
    public var status: PulseOximeterStatus?
    /// The faults that the device can report.
    ///
    /// The property is `nil` if the device reports no faults.
    public var faults: PulseOximeterFaults?
    /// Whether the device stores spot-check measurements.
    public var storesMeasurements: Bool
    /// Whether spot-check measurements contain their time.
    public var tellsTime: Bool
    /// Whether the device sends values that respond faster to a change.
    public var tellsFast: Bool
    /// Whether the device sends values that respond slower to a change.
    public var tellsSlow: Bool
    /// Whether the device sends the pulse amplitude index.
    public var tellsPulseAmplitudeIndex: Bool
    /// Whether several centrals can be bonded.
    public var supportsMultipleBonds: Bool

    /// Creates a set of features.
    ///
    /// A feature is not supported if you omit its parameter.
    ///
    /// - Parameters:
    ///   - status: The status bits that the device can send.
    ///   - faults: The faults that the device can report.
    ///   - storesMeasurements: Whether the device stores spot-check measurements.
    ///   - tellsTime: Whether spot-check measurements contain their time.
    ///   - tellsFast: Whether the device sends values that respond faster to a change.
    ///   - tellsSlow: Whether the device sends values that respond slower to a change.
    ///   - tellsPulseAmplitudeIndex: Whether the device sends the pulse amplitude index.
    ///   - supportsMultipleBonds: Whether several centrals can be bonded.
    public init(
        status: PulseOximeterStatus? = nil,
        faults: PulseOximeterFaults? = nil,
        storesMeasurements: Bool = false,
        tellsTime: Bool = false,
        tellsFast: Bool = false,
        tellsSlow: Bool = false,
        tellsPulseAmplitudeIndex: Bool = false,
        supportsMultipleBonds: Bool = false
    ) {
        self.status = status
        self.faults = faults
        self.storesMeasurements = storesMeasurements
        self.tellsTime = tellsTime
        self.tellsFast = tellsFast
        self.tellsSlow = tellsSlow
        self.tellsPulseAmplitudeIndex = tellsPulseAmplitudeIndex
        self.supportsMultipleBonds = supportsMultipleBonds
    }
}

extension PulseOximeterFeatures: GATTValue {
    /// Reads the features and ignores reserved bits.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let bits: UInt16 = try reader.read()
        status = bits & 1 << 0 != 0 ? PulseOximeterStatus(rawValue: try reader.read()) : nil
        faults = bits & 1 << 1 != 0 ? try PulseOximeterFaults(decoding: &reader) : nil
        storesMeasurements = bits & 1 << 2 != 0
        tellsTime = bits & 1 << 3 != 0
        tellsFast = bits & 1 << 4 != 0
        tellsSlow = bits & 1 << 5 != 0
        tellsPulseAmplitudeIndex = bits & 1 << 6 != 0
        supportsMultipleBonds = bits & 1 << 7 != 0
    }

    /// Appends 2 to 7 bytes.
    public func encode(into writer: inout ByteWriter) {
        let features = [
            status != nil, faults != nil, storesMeasurements, tellsTime, tellsFast, tellsSlow,
            tellsPulseAmplitudeIndex, supportsMultipleBonds,
        ]
        var bits: UInt16 = 0
        for (number, isSupported) in features.enumerated() where isSupported { bits |= 1 << number }
        writer.write(bits)
        if let status { writer.write(status.rawValue) }
        faults?.encode(into: &writer)
    }
}
