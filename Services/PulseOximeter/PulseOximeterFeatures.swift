public import PeripheralKit

/// What a pulse oximeter supports: the value of the PLX Features, 0x2A60 (Pulse Oximeter Service 1.0.1, section 3.3).
///
/// The service makes it of its parameters.
public struct PulseOximeterFeatures: Hashable, Sendable {
    /// What the device may tell of how far its values are to be trusted; `nil` when it does not tell.
    public var status: PulseOximeterStatus?
    /// What the device may tell of what is wrong with it; `nil` when it does not tell.
    public var faults: PulseOximeterFaults?
    /// Whether it stores single measurements.
    public var storesMeasurements: Bool
    /// Whether it tells the time of single measurements.
    public var tellsTime: Bool
    /// Whether it tells values that are faster to follow a change.
    public var tellsFast: Bool
    /// Whether it tells values that are slower to follow a change.
    public var tellsSlow: Bool
    /// Whether it tells the pulse amplitude index.
    public var tellsPulseAmplitudeIndex: Bool
    /// Whether several centrals can be bonded.
    public var supportsMultipleBonds: Bool

    /// Makes features; what is not given is not supported.
    ///
    /// - Parameters:
    ///   - status: What the device may tell of how far its values are to be trusted.
    ///   - faults: What the device may tell of what is wrong with it.
    ///   - storesMeasurements: Whether it stores single measurements.
    ///   - tellsTime: Whether it tells the time of single measurements.
    ///   - tellsFast: Whether it tells values that are faster to follow a change.
    ///   - tellsSlow: Whether it tells values that are slower to follow a change.
    ///   - tellsPulseAmplitudeIndex: Whether it tells the pulse amplitude index.
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
    /// Reads the features; bits that are reserved are ignored.
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
