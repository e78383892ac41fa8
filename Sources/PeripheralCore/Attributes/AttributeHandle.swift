/// The number that identifies an attribute in the attribute protocol: 0x0001 through 0xFFFF.
///
/// The handle 0x0000 is reserved (Core Specification Vol 3, Part F, 3.2.2). An attribute table never
/// allocates the handle 0x0000.
public struct AttributeHandle: RawRepresentable, Hashable, Sendable {
    /// The number.
    public let rawValue: UInt16

    /// Creates a handle from its number.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }
}

extension AttributeHandle: Comparable {
    /// Orders handles by their numbers.
    ///
    /// The attributes of an attribute table are in the order of their handles.
    public static func < (left: AttributeHandle, right: AttributeHandle) -> Bool {
        left.rawValue < right.rawValue
    }
}

extension AttributeHandle: ExpressibleByIntegerLiteral {
    /// Creates a handle from its number.
    public init(integerLiteral number: UInt16) {
        self.init(rawValue: number)
    }
}

extension AttributeHandle: CustomStringConvertible {
    /// The handle as a hexadecimal number, such as `0x0012`.
    public var description: String {
        "0x\(rawValue.hexadecimalDigits(count: 4))"
    }
}
