public import PeripheralKit

/// How often a wheel has turned, and when it last did.
public struct WheelRevolutions: Hashable, Sendable {
    /// How often the wheel has turned since a central has last set the count.
    ///
    /// It does not begin anew by itself, and may decrease when the bicycle rolls back, but not below 0 (Cycling Speed and
    /// Cadence Service 1.0.1, section 3.1.1.2; Cycling Power Service 1.1, section 3.2.1.5).
    public var count: UInt32

    /// When the last turn was complete, since whenever the sensor counts its time from.
    ///
    /// On the air it is the nearest step of 1/1024 second, and begins anew every 64 seconds; in the Cycling Power service,
    /// it is a step of 1/2048 second, and begins anew every 32 seconds. Less than 0 is sent as 0.
    public var lastEventTime: Duration

    /// Makes a count with its time.
    ///
    /// - Parameters:
    ///   - count: How often the wheel has turned.
    ///   - lastEventTime: When the last turn was complete.
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

/// How often a crank has turned, and when it last did.
public struct CrankRevolutions: Hashable, Sendable {
    /// How often the crank has turned; the count begins anew after 65 535.
    public var count: UInt16

    /// When the last turn was complete, since whenever the sensor counts its time from.
    ///
    /// On the air it is the nearest step of 1/1024 second, and begins anew every 64 seconds. Less than 0 is sent as 0.
    public var lastEventTime: Duration

    /// Makes a count with its time.
    ///
    /// - Parameters:
    ///   - count: How often the crank has turned.
    ///   - lastEventTime: When the last turn was complete.
    public init(_ count: UInt16, at lastEventTime: Duration) {
        self.count = count
        self.lastEventTime = lastEventTime
    }

    /// Makes a count with its time, of a count that goes on after 65 535.
    ///
    /// `UInt16(count)` would trap after so many turns, of some hours.
    ///
    /// - Parameters:
    ///   - count: How often the crank has turned; its lower 16 bits are taken.
    ///   - lastEventTime: When the last turn was complete.
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

    /// The nearest step of a clock that begins anew after 65 535.
    fileprivate func steps(perSecond: Int) -> UInt16 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let attosecondsPerStep = 1_000_000_000_000_000_000 / Int64(perSecond)
        let steps = (attoseconds + attosecondsPerStep / 2) / attosecondsPerStep
        return UInt16(truncatingIfNeeded: seconds &* Int64(perSecond) &+ steps)
    }
}
