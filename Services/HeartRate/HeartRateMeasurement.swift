public import PeripheralKit

/// A measurement from a heart rate sensor.
///
/// This type represents the value of the Heart Rate Measurement characteristic, 0x2A37 (Heart Rate Service
/// 1.0, section 3.1).
///
/// ```swift
/// HeartRateMeasurement(bpm: 72)
/// HeartRateMeasurement(bpm: 72, sensorContact: .detected, rrIntervals: [RRInterval(.milliseconds(833))])
/// ```
public struct HeartRateMeasurement: Hashable, Sendable {
    /// The contact between the sensor and the skin.
    public enum SensorContact: Hashable, Sendable {
        /// The sensor cannot detect contact with the skin.
        case notSupported
        /// The sensor has poor contact or no contact with the skin.
        ///
        /// Without good contact, the heart rate is not reliable.
        case notDetected
        /// The sensor touches the skin.
        case detected
    }

    /// The heart rate in beats per minute.
    ///
    /// A heart rate of up to 255 is encoded as one byte. A heart rate above 255 is encoded as two bytes.
    public var bpm: UInt16

    /// Whether the sensor touches the skin.
    public var sensorContact: SensorContact

    /// The energy expended since the last reset, in kilojoules.
    ///
    /// When the energy reaches 65,535 kilojoules, the value must stay at 65,535 until a reset.
    ///
    /// A sensor can omit the energy from a measurement. The Heart Rate Service specification 1.0 suggests
    /// sending the energy in every tenth measurement. The property is `nil` if the measurement does not
    /// contain the energy.
    public var energyExpended: UInt16?

    /// The intervals between the heartbeats since the last measurement, oldest interval first.
    ///
    /// A measurement contains at most ``maximumRRIntervalCount`` intervals. If the array contains too many
    /// intervals, the encoded measurement omits the oldest intervals.
    public var rrIntervals: [RRInterval]

    /// Creates a measurement.
    ///
    /// - Parameters:
    ///   - bpm: The heart rate in beats per minute.
    ///   - sensorContact: Whether the sensor touches the skin.
    ///   - energyExpended: The energy expended since the last reset, in kilojoules.
    ///   - rrIntervals: The intervals between the heartbeats since the last measurement, oldest interval
    ///     first.
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

    /// The maximum number of RR intervals that the encoded measurement can contain.
    ///
    /// The maximum is 9 intervals. The field `energyExpended` takes the place of one interval. A heart rate
    /// above 255 also takes the place of one interval.
    ///
    /// A measurement with at most ``maximumRRIntervalCount`` intervals fits into one notification on every
    /// connection. The MTU of a connection is at least 23 bytes.
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
    /// The initializer reads RR intervals until no bytes are left.
    ///
    /// The initializer ignores reserved flags. The Heart Rate Service specification 1.0 requires centrals to
    /// ignore reserved flags.
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

    /// Appends at most 20 bytes: the flags, the heart rate and the optional fields.
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
