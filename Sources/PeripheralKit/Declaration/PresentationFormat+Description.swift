extension PresentationFormat {
    /// Distinguishes several values of the same kind (Assigned Numbers, 2.4.2).
    public struct Description: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral {
        /// The number of the description; 1 to 255 are ordinal numbers.
        public let rawValue: UInt16

        /// Creates a description from its number.
        public init(rawValue: UInt16) {
            self.rawValue = rawValue
        }

        /// Creates a description from its number.
        public init(integerLiteral number: UInt16) {
            self.init(rawValue: number)
        }

        /// No description.
        public static let unknown: Description = 0x0000
        /// The first.
        public static let first: Description = 0x0001
        /// The second.
        public static let second: Description = 0x0002
        /// The third.
        public static let third: Description = 0x0003
        /// The one in front.
        public static let front: Description = 0x0100
        /// The one at the back.
        public static let back: Description = 0x0101
        /// The one on top.
        public static let top: Description = 0x0102
        /// The one at the bottom.
        public static let bottom: Description = 0x0103
        /// The upper one.
        public static let upper: Description = 0x0104
        /// The lower one.
        public static let lower: Description = 0x0105
        /// The main one.
        public static let main: Description = 0x0106
        /// The backup, used if the main one fails.
        public static let backup: Description = 0x0107
        /// An auxiliary one.
        public static let auxiliary: Description = 0x0108
        /// The one inside.
        public static let inside: Description = 0x010B
        /// The one outside.
        public static let outside: Description = 0x010C
        /// The left one.
        public static let left: Description = 0x010D
        /// The right one.
        public static let right: Description = 0x010E
        /// The one inside the device.
        public static let `internal`: Description = 0x010F
        /// The one outside the device.
        public static let external: Description = 0x0110
    }
}
