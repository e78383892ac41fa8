public import PeripheralKit

/// The time source and the accuracy of a clock.
///
/// This type represents the value of the Reference Time Information characteristic, 0x2A14 (Current Time
/// Service 1.1, section 3.3).
public struct ReferenceTimeInformation: Hashable, Sendable {
    /// The time source that last set the clock.
    public struct Source: Hashable, Sendable {
        /// The number that identifies the time source.
        ///
        /// Numbers of 8 and above are reserved.
        public var rawValue: UInt8

        /// Creates a source.
        ///
        /// The initializer also accepts numbers that the specification does not define.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// Unknown.
        public static let unknown = Source(rawValue: 0)
        /// The Network Time Protocol.
        public static let networkTimeProtocol = Source(rawValue: 1)
        /// Satellites.
        public static let gps = Source(rawValue: 2)
        /// A radio time signal.
        public static let radioTimeSignal = Source(rawValue: 3)
        /// A person.
        public static let manual = Source(rawValue: 4)
        /// An atomic clock.
        public static let atomicClock = Source(rawValue: 5)
        /// The cellular network.
        public static let cellularNetwork = Source(rawValue: 6)
        /// The clock is not synchronized with a time source.
        public static let notSynchronized = Source(rawValue: 7)
    }

    /// The maximum deviation of the clock from its time source.
    public enum Accuracy: Hashable, Sendable {
        /// The maximum deviation in units of 1/8 second.
        ///
        /// The number of units ranges from 0 to 253.
        case eighthsOfSecond(UInt8)
        /// A deviation of more than 31.625 s.
        case outOfRange
        /// Unknown.
        case unknown
    }

    /// The time source that last set the clock.
    public var source: Source

    /// The maximum deviation of the clock from its time source.
    public var accuracy: Accuracy

    /// The time since the last update of the clock, in hours.
    ///
    /// The maximum of 6120 hours (255 days) also represents longer times.
    public let hoursSinceUpdate: Int

    /// Creates the information about the time source of the clock.
    ///
    /// - Parameters:
    ///   - source: The time source that last set the clock.
    ///   - accuracy: The maximum deviation of the clock from its time source.
    ///   - hoursSinceUpdate: The time since the last update of the clock, in hours. The initializer
    ///     replaces a negative number with 0, and a number above 6120 with 6120.
    public init(_ source: Source, accuracy: Accuracy = .unknown, hoursSinceUpdate: Int) {
        self.source = source
        self.accuracy = accuracy
        self.hoursSinceUpdate = max(0, min(hoursSinceUpdate, 255 * 24))
    }
}

extension ReferenceTimeInformation: GATTValue {
    /// Reads four bytes.
    ///
    /// - Throws: A `GATTDecodingError`, for example if the hour field is more than 23 or does not match the
    ///   day field.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        source = Source(rawValue: try reader.read())
        let deviation: UInt8 = try reader.read()
        accuracy =
            switch deviation {
            case 255: .unknown
            case 254: .outOfRange
            default: .eighthsOfSecond(deviation)
            }
        let days: UInt8 = try reader.read()
        let hours: UInt8 = try reader.read()
        guard days == 255 ? hours == 255 : hours < 24 else {
            throw .invalidValue("\(days) days and \(hours) hours are not a valid time since the last update")
        }
        hoursSinceUpdate = days == 255 ? 255 * 24 : Int(days) * 24 + Int(hours)
    }

    /// Appends four bytes.
    public func encode(into writer: inout ByteWriter) {
        writer.write(source.rawValue)
        switch accuracy {
        case .eighthsOfSecond(let eighths): writer.write(min(eighths, 253))
        case .outOfRange: writer.write(254 as UInt8)
        case .unknown: writer.write(255 as UInt8)
        }
        let days = UInt8(clamping: hoursSinceUpdate / 24)
        writer.write(days)
        writer.write(days == 255 ? 255 : UInt8(clamping: hoursSinceUpdate % 24))
    }
}
