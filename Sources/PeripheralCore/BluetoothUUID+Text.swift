extension BluetoothUUID: LosslessStringConvertible {
    /// Creates a UUID from text that is known only at run time, in upper or lower case.
    ///
    /// The text must contain 4, 8 or 32 hexadecimal digits. If there are 32 digits, hyphens must divide them
    /// into groups of 8, 4, 4, 4 and 12 digits. The text must not contain prefixes, braces or spaces. If the
    /// text does not have the form of a UUID, the initializer returns `nil`.
    public init?(_ description: String) {
        let digits = description.utf8
        switch digits.count {
        case 4, 8:
            guard let number = UInt32(hexadecimalDigits: digits) else {
                return nil
            }
            self.init(number)
        case 36:
            guard let value = Self.bits(ofGroups: digits) else {
                return nil
            }
            self.init(bits: value)
        default:
            return nil
        }
    }

    /// The shortest text form of the UUID, in lower case.
    ///
    /// Examples of the shortest form are `180d`, `12345678` and `5c3a0001-7c1e-4b39-9d3e-0a4d2f6b8c11`. For a
    /// malformed literal, the text is the literal and a remark: `"18OF" (not a UUID)`.
    public var description: String {
        guard let number = assignedNumber else {
            return fullDescription
        }
        return number.hexadecimalDigits(count: number <= UInt16.max ? 4 : 8)
    }

    /// The UUID's 36-character text in lower case, even if the UUID has a shorter form.
    ///
    /// For a malformed literal, the text is the same as the ``description``.
    public var fullDescription: String {
        if let malformedLiteral { return "\(malformedLiteral) (not a UUID)" }
        var rest = bits
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for position in 0..<36 {
            guard !Self.hyphenPositions.contains(position) else {
                text.append(UInt8(ascii: "-"))
                continue
            }
            text.append(UInt8(lowerCaseHexadecimalDigit: UInt8(truncatingIfNeeded: rest >> 124)))
            rest <<= 4
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static let hyphenPositions: [Int] = [8, 13, 18, 23]

    private static func bits(ofGroups text: String.UTF8View) -> UInt128? {
        var bits: UInt128 = 0
        for (position, character) in text.enumerated() {
            if hyphenPositions.contains(position) {
                guard character == UInt8(ascii: "-") else {
                    return nil
                }
            } else {
                guard let digit = character.hexadecimalDigitValue else {
                    return nil
                }
                bits = bits << 4 | UInt128(digit)
            }
        }
        return bits
    }
}

extension BluetoothUUID: ExpressibleByIntegerLiteral {
    /// Creates a UUID from an integer literal with an assigned number, such as `0x180D`.
    ///
    /// The compiler rejects an integer literal of more than 32 bits. A number of 16 bits has at most 4
    /// hexadecimal digits, and a number of 32 bits is written with 8 digits. A literal of 5 to 7 digits, such
    /// as `0x12345`, is malformed: the result equals no UUID, and a declaration that contains it is invalid.
    /// For a number of 32 bits that begins with zeros, use the string literal `"00012345"`.
    public init(integerLiteral number: UInt32) {
        let isMalformed = number > UInt16.max && number < 0x1000_0000
        self = isMalformed ? BluetoothUUID(malformed: number) : BluetoothUUID(number)
    }
}

extension BluetoothUUID: ExpressibleByStringLiteral {
    /// Creates a UUID from a string literal.
    ///
    /// The literal has the form that `init(_:)` accepts. If the literal is malformed, the result equals no
    /// UUID, and a declaration that contains it is invalid.
    ///
    /// If the text is known only at run time, use `init(_:)`. The initializer `init(_:)` returns `nil` if the
    /// text is malformed.
    public init(stringLiteral text: StaticString) {
        self = BluetoothUUID(text.description) ?? BluetoothUUID(malformed: text)
    }
}
