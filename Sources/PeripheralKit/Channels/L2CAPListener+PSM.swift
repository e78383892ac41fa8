extension L2CAPListener {
    /// The number by which centrals find a listener, which the declaration requests.
    ///
    /// The numbers from 0x80 to 0xFF are free for programs. The numbers from 0x25 to 0x7F belong to the
    /// Bluetooth SIG; on Linux, a program needs the capability `CAP_NET_BIND_SERVICE` for them. All other
    /// numbers are errors of the declaration (Core Specification, Vol 3, Part A, 4.22).
    public struct PSM: Hashable, Sendable, CustomStringConvertible {
        /// The requested number; `nil` if the Bluetooth stack chooses one.
        public let number: UInt16?
        /// Whether the listener uses another number if the requested one is taken.
        public let canMove: Bool

        /// A number that the Bluetooth stack chooses.
        ///
        /// During a run, the listener keeps its number if it can. With a restoration identifier, it also
        /// keeps the number for the next run, as long as the order of the listeners stays the same.
        public static let any = PSM(number: nil, canMove: true)

        /// A number that the listener uses unless another program has taken it.
        ///
        /// Otherwise, the Bluetooth stack chooses a number, which ``L2CAPListener/psm`` reports.
        public static func preferred(_ number: UInt16) -> PSM { PSM(number: number, canMove: true) }

        /// A number that the listener must have.
        ///
        /// If another program has taken the number, the peripheral cannot be published.
        public static func fixed(_ number: UInt16) -> PSM { PSM(number: number, canMove: false) }

        /// The request as text, such as `0x80`.
        public var description: String {
            guard let number else { return "any PSM" }
            return "0x\(String(number, radix: 16, uppercase: true))\(canMove ? " if free" : "")"
        }

        /// The numbers that programs can request.
        package static let valid: ClosedRange<UInt16> = 0x25...0xFF
        /// The numbers that every program can request.
        package static let dynamic: ClosedRange<UInt16> = 0x80...0xFF
    }
}
