extension UInt8 {
    /// The value of this ASCII character as a hexadecimal digit in either case.
    var hexadecimalDigitValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// The ASCII character of the low four bits.
    init(lowerCaseHexadecimalDigit value: UInt8) {
        let digit = value & 0x0F
        self = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
    }
}

extension FixedWidthInteger where Self: UnsignedInteger {
    /// Creates a number from ASCII hexadecimal digits, most significant first.
    ///
    /// The caller limits the number of digits.
    init?(hexadecimalDigits characters: some Sequence<UInt8>) {
        var number: Self = 0
        for character in characters {
            guard let digit = character.hexadecimalDigitValue else {
                return nil
            }
            number = number << 4 | Self(digit)
        }
        self = number
    }

    /// The lowest `count` hexadecimal digits, in lower case, with leading zeros.
    func hexadecimalDigits(count: Int) -> String {
        let characters = (0..<count).reversed().map { place in
            UInt8(lowerCaseHexadecimalDigit: UInt8(truncatingIfNeeded: self >> (place * 4)))
        }
        return String(decoding: characters, as: UTF8.self)
    }
}

extension FixedWidthInteger {
    /// The bytes of the number, least significant first.
    var littleEndianBytes: [UInt8] {
        stride(from: 0, to: Self.bitWidth, by: 8).map { UInt8(truncatingIfNeeded: self >> $0) }
    }
}
