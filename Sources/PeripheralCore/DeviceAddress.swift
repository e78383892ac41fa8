/// The 48-bit address of a Bluetooth device.
///
/// Its text is `AA:BB:CC:DD:EE:FF`, most significant byte first. Whether an address is public or random is
/// told beside it, never by its bits (Core Specification Vol 6, Part B, 1.3); addresses of the same bits are
/// equal.
public struct DeviceAddress: RawRepresentable, Hashable, Sendable {
    /// Who assigned an address.
    public enum Kind: Hashable, Sendable {
        /// Assigned to the manufacturer by the IEEE: it never changes.
        case `public`
        /// Chosen by the device: see ``DeviceAddress/randomKind`` for how long it lasts.
        case random
    }

    /// How long a random address lasts, and who recognizes it.
    public enum RandomKind: Hashable, Sendable {
        /// The same until the device restarts, at least.
        case `static`
        /// Changes every few minutes; a bonded device resolves it to an identity.
        case resolvable
        /// Changes every few minutes; nobody can resolve it.
        case nonResolvable
    }

    /// The 48 bits, the first byte of the text most significant.
    public let rawValue: UInt64

    /// Creates an address of its 48 bits, the first byte of the text most significant.
    ///
    /// `nil` when more than 48 bits are in use.
    public init?(rawValue: UInt64) {
        guard rawValue >> 48 == 0 else {
            return nil
        }
        self.rawValue = rawValue
    }

    /// Creates an address of six bytes, least significant first, as on the air.
    ///
    /// `nil` unless there are six.
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

    /// What the two highest bits say of a random address.
    ///
    /// Meaningless for a public address; `nil` for the pattern that is reserved.
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
    /// Orders addresses as their texts are.
    public static func < (left: DeviceAddress, right: DeviceAddress) -> Bool {
        left.rawValue < right.rawValue
    }
}

extension DeviceAddress: LosslessStringConvertible {
    /// Creates the address that the text spells, in any case.
    ///
    /// `nil` unless the text is six pairs of hexadecimal digits with a colon between each two.
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
