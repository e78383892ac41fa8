public import PeripheralKit

/// The features of a pulse oximeter.
///
/// `PulseOximeterFeatures` represents the value of the PLX Features characteristic, 0x2A60 (Pulse Oximeter
/// Service 1.0.1, section 3.3). A ``PulseOximeterService`` creates the features from the parameters of its
/// initializer.
public struct PulseOximeterFeatures: Hashable, Sendable {
    /// The status bits that the device can send.
    ///
    /// The property is `nil` if the device sends no status.
    public var status: PulseOximeterStatus?
    /// The device and sensor faults that the device can report.
    ///
    /// The property is `nil` if the device reports no faults.
    public var faults: PulseOximeterFaults?
    /// Whether the device stores spot-check measurements.
    public var storesMeasurements: Bool
    /// Whether spot-check measurements contain the time of the measurement.
    public var reportsTime: Bool
    /// Whether the device sends the values of its fast mode.
    ///
    /// In the fast mode, the values react to changes more quickly than in the normal mode.
    public var reportsFast: Bool
    /// Whether the device sends the values of its slow mode.
    ///
    /// In the slow mode, the values react to changes more slowly than in the normal mode.
    public var reportsSlow: Bool
    /// Whether the device sends the pulse amplitude index.
    public var reportsPulseAmplitudeIndex: Bool
    /// Whether the device supports bonds with several centrals.
    public var supportsMultipleBonds: Bool

    /// Creates a set of features.
    ///
    /// If you omit the parameter for a feature, the set does not include the feature.
    ///
    /// - Parameters:
    ///   - status: The status bits that the device can send.
    ///   - faults: The device and sensor faults that the device can report.
    ///   - storesMeasurements: Whether the device stores spot-check measurements.
    ///   - reportsTime: Whether spot-check measurements contain the time of the measurement.
    ///   - reportsFast: Whether the device sends the values of its fast mode.
    ///   - reportsSlow: Whether the device sends the values of its slow mode.
    ///   - reportsPulseAmplitudeIndex: Whether the device sends the pulse amplitude index.
    ///   - supportsMultipleBonds: Whether the device supports bonds with several centrals.
    public init(
        status: PulseOximeterStatus? = nil,
        faults: PulseOximeterFaults? = nil,
        storesMeasurements: Bool = false,
        reportsTime: Bool = false,
        reportsFast: Bool = false,
        reportsSlow: Bool = false,
        reportsPulseAmplitudeIndex: Bool = false,
        supportsMultipleBonds: Bool = false
    ) {
        self.status = status
        self.faults = faults
        self.storesMeasurements = storesMeasurements
        self.reportsTime = reportsTime
        self.reportsFast = reportsFast
        self.reportsSlow = reportsSlow
        self.reportsPulseAmplitudeIndex = reportsPulseAmplitudeIndex
        self.supportsMultipleBonds = supportsMultipleBonds
    }
}

extension PulseOximeterFeatures: GATTValue {
    /// Reads the features, and ignores reserved bits.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let bits: UInt16 = try reader.read()
        status = bits & 1 << 0 != 0 ? PulseOximeterStatus(rawValue: try reader.read()) : nil
        faults = bits & 1 << 1 != 0 ? try PulseOximeterFaults(decoding: &reader) : nil
        storesMeasurements = bits & 1 << 2 != 0
        reportsTime = bits & 1 << 3 != 0
        reportsFast = bits & 1 << 4 != 0
        reportsSlow = bits & 1 << 5 != 0
        reportsPulseAmplitudeIndex = bits & 1 << 6 != 0
        supportsMultipleBonds = bits & 1 << 7 != 0
    }

    /// Appends the features as 2 to 7 bytes.
    public func encode(into writer: inout ByteWriter) {
        let features = [
            status != nil, faults != nil, storesMeasurements, reportsTime, reportsFast, reportsSlow,
            reportsPulseAmplitudeIndex, supportsMultipleBonds,
        ]
        var bits: UInt16 = 0
        for (number, isSupported) in features.enumerated() where isSupported { bits |= 1 << number }
        writer.write(bits)
        if let status { writer.write(status.rawValue) }
        faults?.encode(into: &writer)
    }
}
