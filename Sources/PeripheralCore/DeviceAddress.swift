/// The 48-bit address of a Bluetooth device.
///
/// The text of an address is `AA:BB:CC:DD:EE:FF`, with the most significant byte first. The bits do not
/// contain the kind of the address, public or random. Devices transmit the kind separately (Core
/// Specification Vol 6, Part B, 1.3). Addresses with the same bits are equal.
public struct DeviceAddress: RawRepresentable, Hashable, Sendable {
    /// The origin of an address.
    public enum Kind: Hashable, Sendable {
        /// An address that the IEEE assigned to the manufacturer.
        ///
        /// A public address never changes.
        case `public`
        /// An address that the device chose.
        ///
        /// ``DeviceAddress/randomKind`` indicates the lifetime of a random address.
        case random
    }

    /// The lifetime of a random address, and whether other devices can resolve it.
    public enum RandomKind: Hashable, Sendable {
        /// An address that stays the same at least until the device restarts.
        case `static`
        /// An address that changes every few minutes.
        ///
        /// A bonded device can resolve the address to an identity.
        case resolvable
        /// An address that changes every few minutes and that no device can resolve.
        case nonResolvable
    }

    /// The 48 bits of the address.
    ///
    /// The first byte of the text is the most significant byte.
    public let rawValue: UInt64

    /// Creates an address from its 48 bits.
    ///
    /// The first byte of the text is the most significant byte. Returns `nil` if the value has more than 48
    /// bits.
    public init?(rawValue: UInt64) {
        guard rawValue >> 48 == 0 else {
            return nil
        }
        self.rawValue = rawValue
    }

    /// Creates an address from six bytes, least significant first, as on the air.
    ///
    /// Returns `nil` for any other number of bytes.
    public init?(littleEndian bytes: some Collection<UInt8>) {
        guard bytes.count == 6 else {
            return nil
        }
        rawValue = bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The six bytes, least significant first, as on the air.
    public var littleEndianBytes: [UInt8] {
        Array(rawValue.littleEndianBytes.prefix(6))
    }

    /// The kind of random address that the two highest bits indicate.
    ///
    /// The value is meaningless for a public address. The value is `nil` for the reserved bit pattern.
    public var randomKind: RandomKind? {
        switch rawValue >> 46 {
        case 0b11: .static
        case 0b01: .resolvable
        case 0b00: .nonResolvable
        default: nil
        }
    }
}

extension DeviceAddress: Comparable {
    /// Orders addresses in the same way as their texts.
    public static func < (left: DeviceAddress, right: DeviceAddress) -> Bool {
        left.rawValue < right.rawValue
    }
}

extension DeviceAddress: LosslessStringConvertible {
    /// Creates an address from text in upper or lower case.
    ///
    /// Returns `nil` unless the text is six pairs of hexadecimal digits, separated by colons.
    public init?(_ description: String) {
        let text = description.utf8
        guard text.count == 17 else {
            return nil
        }
        var bits: UInt64 = 0
        for (position, character) in text.enumerated() {
            if position % 3 == 2 {
                guard character == UInt8(ascii: ":") else {
                    return nil
                }
            } else {
                guard let digit = character.hexadecimalDigitValue else {
                    return nil
                }
                bits = bits << 4 | UInt64(digit)
            }
        }
        rawValue = bits
    }

    /// The canonical text, in upper case: `AA:BB:CC:DD:EE:FF`.
    public var description: String {
        littleEndianBytes.reversed()
            .map { $0.hexadecimalDigits(count: 2).uppercased() }
            .joined(separator: ":")
    }
}
