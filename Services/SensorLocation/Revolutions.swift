public import PeripheralKit

/// The number of turns of a wheel, and the time of the last turn.
public struct WheelRevolutions: Hashable, Sendable {
    /// The cumulative number of wheel turns.
    ///
    /// If a central sets the count, the count continues from the new value.
    ///
    /// The count does not wrap around. If the bicycle rolls backward, the count can decrease, but not below 0
    /// (Cycling Speed and Cadence Service 1.0.1, section 3.1.1.2; Cycling Power Service 1.1, section
    /// 3.2.1.5).
    public var count: UInt32

    /// The time at which the last turn was completed.
    ///
    /// The time is relative to a moment that the sensor chooses. The encoder rounds the time to the nearest
    /// 1/1024 second. The encoded time wraps around every 64 seconds. In the Cycling Power service, the
    /// encoder rounds the time to the nearest 1/2048 second. In the Cycling Power service, the encoded time
    /// wraps around every 32 seconds. The encoder replaces a negative time with 0.
    public var lastEventTime: Duration

    /// Creates a count of turns, with the time of the last turn.
    ///
    /// - Parameters:
    ///   - count: The number of turns.
    ///   - lastEventTime: The time at which the last turn was completed.
    public init(_ count: UInt32, at lastEventTime: Duration) {
        self.count = count
        self.lastEventTime = lastEventTime
    }

    /// Reads six bytes, with the time in steps of a fraction of a second.
    package init(
        decoding reader: inout ByteReader,
        stepsPerSecond: Int
    ) throws(GATTDecodingError) {
        count = try reader.read()
        lastEventTime = Duration(steps: try reader.read(), perSecond: stepsPerSecond)
    }

    /// Appends six bytes, with the time in steps of a fraction of a second.
    package func encode(into writer: inout ByteWriter, stepsPerSecond: Int) {
        writer.write(count)
        writer.write(lastEventTime.steps(perSecond: stepsPerSecond))
    }
}

/// The number of turns of a crank, and the time of the last turn.
public struct CrankRevolutions: Hashable, Sendable {
    /// The number of turns.
    ///
    /// The number of turns wraps around to 0 after 65 535.
    public var count: UInt16

    /// The time at which the last turn was completed.
    ///
    /// The time is relative to a moment that the sensor chooses. The encoder rounds the time to the nearest
    /// 1/1024 second. The encoded time wraps around every 64 seconds. The encoder replaces a negative time
    /// with 0.
    public var lastEventTime: Duration

    /// Creates a count of turns, with the time of the last turn.
    ///
    /// - Parameters:
    ///   - count: The number of turns.
    ///   - lastEventTime: The time at which the last turn was completed.
    public init(_ count: UInt16, at lastEventTime: Duration) {
        self.count = count
        self.lastEventTime = lastEventTime
    }

    /// Creates a count of turns from a number that can exceed 65 535.
    ///
    /// The number of crank turns exceeds 65 535 after several hours of pedaling. The conversion
    /// `UInt16(count)` traps if the number exceeds 65 535.
    ///
    /// - Parameters:
    ///   - count: The number of turns. The initializer uses only the lower 16 bits of the number.
    ///   - lastEventTime: The time at which the last turn was completed.
    public init(truncatingIfNeeded count: some BinaryInteger, at lastEventTime: Duration) {
        self.init(UInt16(truncatingIfNeeded: count), at: lastEventTime)
    }
}

extension CrankRevolutions: GATTValue {
    private static let stepsPerSecond = 1024

    /// Reads four bytes.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        count = try reader.read()
        lastEventTime = Duration(steps: try reader.read(), perSecond: Self.stepsPerSecond)
    }

    /// Appends four bytes.
    public func encode(into writer: inout ByteWriter) {
        writer.write(count)
        writer.write(lastEventTime.steps(perSecond: Self.stepsPerSecond))
    }
}

extension Duration {
    fileprivate init(steps: UInt16, perSecond: Int) {
        self = .seconds(Int64(steps)) / perSecond
    }

    /// Returns the nearest step of a clock that wraps around after 65 535.
    fileprivate func steps(perSecond: Int) -> UInt16 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let attosecondsPerStep = 1_000_000_000_000_000_000 / Int64(perSecond)
        let steps = (attoseconds + attosecondsPerStep / 2) / attosecondsPerStep
        return UInt16(truncatingIfNeeded: seconds &* Int64(perSecond) &+ steps)
    }
}
