public import PeripheralKit

/// What a training has come to: the value of the Training Status, 0x2AD3 (Fitness Machine Service 1.0, section 4.10).
public struct TrainingStatus: Equatable, Sendable {
    /// What the user is about to do.
    public struct Phase: Equatable, Sendable {
        /// The phase as it is on the air; values from 16 on are reserved.
        public var rawValue: UInt8

        /// Makes a phase, known to the specification or not.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// Something else.
        public static let other = Phase(rawValue: 0x00)
        /// Nothing.
        public static let idle = Phase(rawValue: 0x01)
        /// Warming up.
        public static let warmingUp = Phase(rawValue: 0x02)
        /// An interval of low intensity.
        public static let lowIntensityInterval = Phase(rawValue: 0x03)
        /// An interval of high intensity.
        public static let highIntensityInterval = Phase(rawValue: 0x04)
        /// An interval to recover.
        public static let recoveryInterval = Phase(rawValue: 0x05)
        /// Isometric exercise.
        public static let isometric = Phase(rawValue: 0x06)
        /// The heart rate is controlled.
        public static let heartRateControl = Phase(rawValue: 0x07)
        /// A test of fitness.
        public static let fitnessTest = Phase(rawValue: 0x08)
        /// The speed is too low to be controlled.
        public static let speedTooLow = Phase(rawValue: 0x09)
        /// The speed is too high to be controlled.
        public static let speedTooHigh = Phase(rawValue: 0x0A)
        /// Cooling down.
        public static let coolDown = Phase(rawValue: 0x0B)
        /// The power is controlled.
        public static let wattControl = Phase(rawValue: 0x0C)
        /// The user sets everything: quick start.
        public static let manualMode = Phase(rawValue: 0x0D)
        /// Before the training.
        public static let preWorkout = Phase(rawValue: 0x0E)
        /// After the training.
        public static let postWorkout = Phase(rawValue: 0x0F)
    }

    /// What the user is about to do.
    public var phase: Phase

    /// More of it, in words; `nil` for nothing.
    ///
    /// At most 510 bytes are kept. What does not fit a notification is cut off there, and read by centrals.
    public private(set) var text: String?

    /// Whether there is more of the text than a notification has room for.
    public private(set) var isExtended = false

    /// Makes a status.
    ///
    /// - Parameters:
    ///   - phase: What the user is about to do.
    ///   - text: More of it, in words; what is beyond 510 bytes is left out.
    public init(_ phase: Phase, text: String? = nil) {
        self.phase = phase
        self.text = text
        while let count = self.text?.utf8.count, count > Self.maximumTextSize { self.text?.removeLast() }
    }

    /// What there is room for in the longest value of a characteristic.
    private static let maximumTextSize = 510

    /// Idle, without a text.
    static let idle = TrainingStatus(.idle)

    /// The status for a central whose notifications have so many bytes.
    func told(upTo size: Int) -> TrainingStatus {
        var status = self
        status.isExtended = 2 + (text?.utf8.count ?? 0) > size
        return status
    }
}

extension TrainingStatus: GATTValue {
    /// Reads a status; flags that are reserved are ignored.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let flags: UInt8 = try reader.read()
        phase = Phase(rawValue: try reader.read())
        text = flags & 0x01 != 0 ? String(decoding: reader.readRemaining(), as: UTF8.self) : nil
        isExtended = flags & 0x02 != 0
    }

    /// Appends flags, phase and text.
    public func encode(into writer: inout ByteWriter) {
        writer.write([(text == nil ? 0 : 0x01) | (isExtended ? 0x02 : 0), phase.rawValue])
        if let text { writer.write(Array(text.utf8)) }
    }
}
