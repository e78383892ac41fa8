/// The 48-bit address of a Bluetooth device.
///
/// Whether it is public or random is told beside it; see Core Specification, Vol 6, Part B, 1.3.
public struct DeviceAddress: Hashable, Sendable {
    /// The address as a number, of which 48 bits are used.
    public let rawValue: UInt64

    /// Where an address comes from.
    public enum Kind: Hashable, Sendable {
        /// Assigned by the IEEE to the manufacturer.
        case `public`
        /// Chosen by the device.
        case random
    }

    /// What a random address says of itself, by its two most significant bits.
    public enum RandomKind: Hashable, Sendable {
        /// Stays the same, at least until the device is switched off.
        case `static`
        /// Changes; those who share a key with the device can recognise it.
        case resolvable
        /// Changes, and nobody can recognise the device.
        case nonResolvable
    }

    /// Makes an address from a number; `nil` when it has more than 48 bits.
    public init?(rawValue: UInt64) {
        guard rawValue >> 48 == 0 else { return nil }
        self.rawValue = rawValue
    }

    /// Makes an address from its 6 bytes as they are on the air, the least significant first.
    ///
    /// Any other number of bytes gives `nil`.
    public init?(littleEndian bytes: some Collection<UInt8>) {
        guard bytes.count == 6 else { return nil }
        rawValue = bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The 6 bytes as they are on the air, the least significant first.
    public var littleEndianBytes: [UInt8] {
        (0..<6).map { UInt8(truncatingIfNeeded: rawValue >> (8 * $0)) }
    }

    /// What this address says of itself, provided that it is random; `nil` for the reserved bits.
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
    /// Orders by number.
    public static func < (lhs: DeviceAddress, rhs: DeviceAddress) -> Bool {
        lhs.rawValue < rhs.rawValue
    }
}

extension DeviceAddress: LosslessStringConvertible {
    /// Makes an address from text such as `C0:FF:EE:00:00:01`, in either case; anything else gives `nil`.
    public init?(_ description: String) {
        let text = Array(description.utf8)
        guard text.count == 17 else { return nil }
        var value: UInt64 = 0
        for (index, character) in text.enumerated() {
            if index % 3 == 2 {
                guard character == UInt8(ascii: ":") else { return nil }
            } else if let digit = Character(Unicode.Scalar(character)).hexDigitValue {
                value = value << 4 | UInt64(digit)
            } else {
                return nil
            }
        }
        rawValue = value
    }

    /// The canonical text: six pairs of upper-case digits, such as `C0:FF:EE:00:00:01`.
    public var description: String {
        littleEndianBytes.reversed()
            .map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }
            .joined(separator: ":")
    }
}
