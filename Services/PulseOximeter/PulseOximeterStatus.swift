public import PeripheralKit

/// The reliability of the values from a pulse oximeter.
///
/// `PulseOximeterStatus` represents the Measurement Status field (Pulse Oximeter Service 1.0.1, section 3.1).
public struct PulseOximeterStatus: OptionSet, Hashable, Sendable {
    /// The encoded bits.
    ///
    /// The lowest five bits of the status are reserved.
    public let rawValue: UInt16

    /// Creates a set from encoded bits.
    ///
    /// The set can contain bits that the specification does not define.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// The measurement is ongoing.
    public static let measurementOngoing = PulseOximeterStatus(rawValue: 1 << 5)
    /// The values are an early estimate.
    public static let earlyEstimate = PulseOximeterStatus(rawValue: 1 << 6)
    /// The values have been validated.
    public static let validated = PulseOximeterStatus(rawValue: 1 << 7)
    /// The "Fully Qualified Data" bit of the Pulse Oximeter Service specification.
    public static let fullyQualified = PulseOximeterStatus(rawValue: 1 << 8)
    /// The values are from a stored measurement.
    ///
    /// A ``PulseOximeterService`` sets the `stored` bit when the service sends a stored measurement.
    public static let stored = PulseOximeterStatus(rawValue: 1 << 9)
    /// The values are demonstration data.
    public static let demonstration = PulseOximeterStatus(rawValue: 1 << 10)
    /// The values are test data.
    public static let test = PulseOximeterStatus(rawValue: 1 << 11)
    /// The device is being calibrated.
    public static let calibrationOngoing = PulseOximeterStatus(rawValue: 1 << 12)
    /// No measurement is available.
    public static let unavailable = PulseOximeterStatus(rawValue: 1 << 13)
    /// The measurement is questionable.
    public static let questionable = PulseOximeterStatus(rawValue: 1 << 14)
    /// The measurement is invalid.
    public static let invalid = PulseOximeterStatus(rawValue: 1 << 15)
}

/// The faults of a pulse oximeter or of its sensor.
///
/// `PulseOximeterFaults` represents the Device and Sensor Status field, which has 24 bits (Pulse Oximeter
/// Service 1.0.1, section 3.1).
public struct PulseOximeterFaults: OptionSet, Hashable, Sendable {
    /// The encoded bits.
    ///
    /// Bits 16 and above are reserved.
    public let rawValue: UInt32

    /// Creates a set from encoded bits.
    ///
    /// The set can contain bits that the specification does not define.
    ///
    /// The initializer ignores bits 24 and above.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue & 0xFF_FFFF
    }

    /// The "Extended Display Update Ongoing" bit of the Pulse Oximeter Service specification.
    public static let extendedDisplayUpdate = PulseOximeterFaults(rawValue: 1 << 0)
    /// The equipment malfunctions.
    public static let equipmentMalfunction = PulseOximeterFaults(rawValue: 1 << 1)
    /// The processing of the signal is irregular.
    public static let signalProcessingIrregularity = PulseOximeterFaults(rawValue: 1 << 2)
    /// The signal is inadequate.
    public static let inadequateSignal = PulseOximeterFaults(rawValue: 1 << 3)
    /// The signal is poor.
    public static let poorSignal = PulseOximeterFaults(rawValue: 1 << 4)
    /// The perfusion (the blood flow through the tissue) is low.
    public static let lowPerfusion = PulseOximeterFaults(rawValue: 1 << 5)
    /// The signal is erratic.
    public static let erraticSignal = PulseOximeterFaults(rawValue: 1 << 6)
    /// The signal does not contain a pulse.
    public static let nonpulsatileSignal = PulseOximeterFaults(rawValue: 1 << 7)
    /// The pulse is questionable.
    public static let questionablePulse = PulseOximeterFaults(rawValue: 1 << 8)
    /// The signal is being analyzed.
    public static let signalAnalysis = PulseOximeterFaults(rawValue: 1 << 9)
    /// Interference affects the sensor.
    public static let sensorInterference = PulseOximeterFaults(rawValue: 1 << 10)
    /// The sensor is not connected to the user.
    public static let sensorUnconnectedToUser = PulseOximeterFaults(rawValue: 1 << 11)
    /// The type of the sensor is unknown.
    public static let unknownSensor = PulseOximeterFaults(rawValue: 1 << 12)
    /// The sensor is displaced.
    public static let sensorDisplaced = PulseOximeterFaults(rawValue: 1 << 13)
    /// The sensor malfunctions.
    public static let sensorMalfunction = PulseOximeterFaults(rawValue: 1 << 14)
    /// The sensor is disconnected.
    public static let sensorDisconnected = PulseOximeterFaults(rawValue: 1 << 15)
}

extension PulseOximeterFaults: GATTValue {
    /// Reads three bytes.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        self.init(rawValue: try reader.readUInt24().rawValue)
    }

    /// Appends three bytes.
    public func encode(into writer: inout ByteWriter) {
        writer.write(UInt24(clamping: rawValue))
    }
}
