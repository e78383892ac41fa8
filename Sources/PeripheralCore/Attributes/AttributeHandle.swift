/// The number by which an attribute is named on the air: 0x0001 to 0xFFFF (Core Specification, Vol 3, Part F,
/// 3.2.2).
public struct AttributeHandle: RawRepresentable, Hashable, Sendable, Comparable {
    /// The number.
    public let rawValue: UInt16

    /// Makes a handle from its number.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// Orders by number.
    public static func < (lhs: AttributeHandle, rhs: AttributeHandle) -> Bool {
        lhs.rawValue < rhs.rawValue
    }
}

extension AttributeHandle: ExpressibleByIntegerLiteral {
    /// Makes a handle from its number.
    public init(integerLiteral number: UInt16) {
        rawValue = number
    }
}

extension AttributeHandle: CustomStringConvertible {
    /// The number in the usual form, such as `0x002a`.
    public var description: String {
        let digits = String(rawValue, radix: 16)
        return "0x" + String(repeating: "0", count: 4 - digits.count) + digits
    }
}
