extension PresentationFormat {
    /// A description that distinguishes values of the same kind (Assigned Numbers, 2.4.2).
    public struct Description: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral {
        /// The number of the description.
        ///
        /// The numbers from 1 to 255 are ordinal numbers.
        public let rawValue: UInt16

        /// Creates a description from its number.
        public init(rawValue: UInt16) {
            self.rawValue = rawValue
        }

        /// Creates a description from its number.
        public init(integerLiteral number: UInt16) {
            self.init(rawValue: number)
        }

        /// The value has no description.
        public static let unknown: Description = 0x0000
        /// The first of several values of the same kind.
        public static let first: Description = 0x0001
        /// The second of several values of the same kind.
        public static let second: Description = 0x0002
        /// The third of several values of the same kind.
        public static let third: Description = 0x0003
        /// The value on the front side.
        public static let front: Description = 0x0100
        /// The value on the back side.
        public static let back: Description = 0x0101
        /// The value on the top side.
        public static let top: Description = 0x0102
        /// The value on the bottom side.
        public static let bottom: Description = 0x0103
        /// The upper value.
        public static let upper: Description = 0x0104
        /// The lower value.
        public static let lower: Description = 0x0105
        /// The main value.
        public static let main: Description = 0x0106
        /// The backup value, which is used when the main value is not available.
        public static let backup: Description = 0x0107
        /// An auxiliary value.
        public static let auxiliary: Description = 0x0108
        /// The inside value, such as an indoor temperature.
        public static let inside: Description = 0x010B
        /// The outside value, such as an outdoor temperature.
        public static let outside: Description = 0x010C
        /// The value on the left side.
        public static let left: Description = 0x010D
        /// The value on the right side.
        public static let right: Description = 0x010E
        /// The internal value, which originates inside the device.
        public static let `internal`: Description = 0x010F
        /// The external value, which originates outside the device.
        public static let external: Description = 0x0110
    }
}
