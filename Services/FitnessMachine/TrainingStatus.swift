public import PeripheralKit

/// The status of a workout.
///
/// This type represents the value of the Training Status characteristic, 0x2AD3 (Fitness Machine Service 1.0,
/// section 4.10).
public struct TrainingStatus: Equatable, Sendable {
    /// The current phase of a workout.
    public struct Phase: Equatable, Sendable {
        /// The encoded phase.
        ///
        /// Values of 16 and above are reserved.
        public var rawValue: UInt8

        /// Creates a phase.
        ///
        /// The initializer accepts phases that the Fitness Machine Service specification does not define.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// Another phase.
        public static let other = Phase(rawValue: 0x00)
        /// Idle.
        public static let idle = Phase(rawValue: 0x01)
        /// Warming up.
        public static let warmingUp = Phase(rawValue: 0x02)
        /// An interval of low intensity.
        public static let lowIntensityInterval = Phase(rawValue: 0x03)
        /// An interval of high intensity.
        public static let highIntensityInterval = Phase(rawValue: 0x04)
        /// A recovery interval.
        public static let recoveryInterval = Phase(rawValue: 0x05)
        /// Isometric exercise.
        public static let isometric = Phase(rawValue: 0x06)
        /// Heart rate control.
        public static let heartRateControl = Phase(rawValue: 0x07)
        /// A fitness test.
        public static let fitnessTest = Phase(rawValue: 0x08)
        /// The speed is below the controllable range.
        public static let speedTooLow = Phase(rawValue: 0x09)
        /// The speed is above the controllable range.
        public static let speedTooHigh = Phase(rawValue: 0x0A)
        /// Cooling down.
        public static let coolDown = Phase(rawValue: 0x0B)
        /// Power control.
        public static let wattControl = Phase(rawValue: 0x0C)
        /// Manual mode, also called quick start.
        public static let manualMode = Phase(rawValue: 0x0D)
        /// Before the workout.
        public static let preWorkout = Phase(rawValue: 0x0E)
        /// After the workout.
        public static let postWorkout = Phase(rawValue: 0x0F)
    }

    /// The current phase of the workout.
    public var phase: Phase

    /// Text that describes the phase in more detail, or `nil` for no text.
    ///
    /// The text is at most 510 bytes long. If the text does not fit into a notification, the notification
    /// contains only the beginning of the text. Centrals can read the whole text from the Training Status
    /// characteristic.
    public private(set) var text: String?

    /// Whether the text is too long for one notification.
    public private(set) var isExtended = false

    /// Creates a status.
    ///
    /// - Parameters:
    ///   - phase: The current phase of the workout.
    ///   - text: Text that describes the phase in more detail. The initializer truncates text that is longer
    ///     than 510 bytes.
    public init(_ phase: Phase, text: String? = nil) {
        self.phase = phase
        self.text = text
        while let count = self.text?.utf8.count, count > Self.maximumTextSize { self.text?.removeLast() }
    }

    /// The maximum length of the text in the longest value of a characteristic.
    private static let maximumTextSize = 510

    /// Idle, without a text.
    static let idle = TrainingStatus(.idle)

    /// The status for a central with notifications of the given length.
    func truncated(to size: Int) -> TrainingStatus {
        var status = self
        status.isExtended = 2 + (text?.utf8.count ?? 0) > size
        return status
    }
}

extension TrainingStatus: GATTValue {
    /// Decodes a training status and ignores reserved flags.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let flags: UInt8 = try reader.read()
        phase = Phase(rawValue: try reader.read())
        text = flags & 0x01 != 0 ? String(decoding: reader.readRemaining(), as: UTF8.self) : nil
        isExtended = flags & 0x02 != 0
    }

    /// Appends the flags, the phase and the text of the training status.
    public func encode(into writer: inout ByteWriter) {
        writer.write([(text == nil ? 0 : 0x01) | (isExtended ? 0x02 : 0), phase.rawValue])
        if let text { writer.write(Array(text.utf8)) }
    }
}
