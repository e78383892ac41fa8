public import PeripheralKit

/// A measurement of a heart rate sensor.
///
/// A measurement is the value of the Heart Rate Measurement, 0x2A37 (Heart Rate Service 1.0, section 3.1).
///
/// ```swift
/// HeartRateMeasurement(bpm: 72)
/// HeartRateMeasurement(bpm: 72, sensorContact: .detected, rrIntervals: [RRInterval(.milliseconds(833))])
/// ```
public struct HeartRateMeasurement: Hashable, Sendable {
    /// The contact of the sensor with the skin.
    public enum SensorContact: Hashable, Sendable {
        /// The sensor cannot detect contact.
        case notSupported
        /// The contact is poor, or there is no contact. The heart rate is not reliable.
        case notDetected
        /// The sensor touches the skin.
        case detected
    }

    /// The heart rate in beats per minute.
    ///
    /// A rate of up to 255 is sent as one byte. A higher rate is sent as two bytes.
    public var bpm: UInt16

    /// Whether the sensor touches the skin.
    public var sensorContact: SensorContact

    /// The energy expended since the last reset, in kilojoules.
    ///
    /// The energy must not wrap around. After 65 535 kilojoules, the energy stays at 65 535 until a reset.
    ///
    /// A sensor does not have to send the energy in every measurement. The specification suggests every tenth
    /// measurement. The property is `nil` in a measurement without the energy.
    public var energyExpended: UInt16?

    /// The intervals between the heartbeats since the last measurement, the oldest first.
    ///
    /// A measurement contains at most ``maximumRRIntervalCount`` intervals. If there are more intervals, the
    /// oldest intervals are not sent.
    public var rrIntervals: [RRInterval]

    /// Creates a measurement.
    ///
    /// - Parameters:
    ///   - bpm: The heart rate in beats per minute.
    ///   - sensorContact: Whether the sensor touches the skin.
    ///   - energyExpended: The energy expended since the last reset, in kilojoules.
    ///   - rrIntervals: The intervals between the heartbeats since the last measurement, the oldest first.
    public init(
        bpm: UInt16,
        sensorContact: SensorContact = .notSupported,
        energyExpended: UInt16? = nil,
        rrIntervals: [RRInterval] = []
    ) {
        self.bpm = bpm
        self.sensorContact = sensorContact
        self.energyExpended = energyExpended
        self.rrIntervals = rrIntervals
    }

    /// The number of intervals that fit into this measurement.
    ///
    /// The number is at most 9. The energy expended reduces the number by 1. A heart rate above 255 also
    /// reduces the number by 1.
    ///
    /// With this number of intervals, the measurement fits into one notification on every connection, because
    /// the MTU is at least 23 bytes.
    public var maximumRRIntervalCount: Int {
        let heartRateSize = bpm > UInt8.max ? 2 : 1
        let energyExpendedSize = energyExpended == nil ? 0 : 2
        return (Self.maximumSize - 1 - heartRateSize - energyExpendedSize) / 2
    }

    /// The size of a notification with the smallest MTU, 23.
    private static let maximumSize = 20
}

extension HeartRateMeasurement: GATTValue {
    /// Reads a measurement.
    ///
    /// The intervals extend to the end of the bytes.
    ///
    /// Reserved flags are ignored. The specification requires centrals to ignore reserved flags.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let flags = Flags(rawValue: try reader.read())
        bpm = flags.contains(.wideHeartRate) ? try reader.read() : UInt16(try reader.read(UInt8.self))
        if flags.contains(.sensorContactSupported) {
            sensorContact = flags.contains(.sensorContactDetected) ? .detected : .notDetected
        } else {
            sensorContact = .notSupported
        }
        energyExpended = flags.contains(.energyExpended) ? try reader.read() : nil
        rrIntervals = []
        if flags.contains(.rrIntervals) {
            repeat {
                rrIntervals.append(RRInterval(rawValue: try reader.read()))
            } while !reader.isAtEnd
        }
    }

    /// Appends at most 20 bytes: the flags, the heart rate, and then the optional fields.
    public func encode(into writer: inout ByteWriter) {
        writer.write(flags.rawValue)
        if flags.contains(.wideHeartRate) {
            writer.write(bpm)
        } else {
            writer.write(UInt8(clamping: bpm))
        }
        if let energyExpended {
            writer.write(energyExpended)
        }
        for interval in rrIntervals.suffix(maximumRRIntervalCount) {
            writer.write(interval.rawValue)
        }
    }

    private var flags: Flags {
        var flags: Flags = []
        if bpm > UInt8.max { flags.insert(.wideHeartRate) }
        switch sensorContact {
        case .notSupported: break
        case .notDetected: flags.insert(.sensorContactSupported)
        case .detected: flags.formUnion([.sensorContactSupported, .sensorContactDetected])
        }
        if energyExpended != nil { flags.insert(.energyExpended) }
        if !rrIntervals.isEmpty { flags.insert(.rrIntervals) }
        return flags
    }
}

/// The first byte of a measurement (Heart Rate Service 1.0, section 3.1.1.1).
private struct Flags: OptionSet {
    var rawValue: UInt8

    /// The heart rate has two bytes.
    static let wideHeartRate = Flags(rawValue: 1 << 0)
    static let sensorContactDetected = Flags(rawValue: 1 << 1)
    static let sensorContactSupported = Flags(rawValue: 1 << 2)
    static let energyExpended = Flags(rawValue: 1 << 3)
    static let rrIntervals = Flags(rawValue: 1 << 4)
}
