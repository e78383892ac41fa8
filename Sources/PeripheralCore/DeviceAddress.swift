/// The 48-bit address of a Bluetooth device.
///
/// The text form of an address, such as `AA:BB:CC:DD:EE:FF`, begins with the most significant byte. An
/// address is either public or random. The 48 bits do not indicate whether an address is public or random.
/// Devices transmit the kind of an address separately (Core Specification Vol 6, Part B, 1.3). Two values of
/// type `DeviceAddress` are equal if they have the same 48 bits.
public struct DeviceAddress: RawRepresentable, Hashable, Sendable {
    /// The kind of an address: public or random.
    public enum Kind: Hashable, Sendable {
        /// A public address, from the address block that the IEEE assigned to the manufacturer.
        ///
        /// A public address never changes.
        case `public`
        /// A random address, which the device itself generated.
        ///
        /// The property ``DeviceAddress/randomKind`` indicates the lifetime of a random address.
        case random
    }

    /// The kind of a random address, which determines the lifetime of the address.
    public enum RandomKind: Hashable, Sendable {
        /// A static address, which remains the same at least until the device restarts.
        case `static`
        /// A resolvable private address, which changes every few minutes.
        ///
        /// A bonded device can resolve a resolvable private address to the identity address of the sender.
        case resolvable
        /// A non-resolvable private address, which changes every few minutes.
        ///
        /// No device can resolve a non-resolvable private address to an identity address.
        case nonResolvable
    }

    /// The address as an integer, in the low 48 bits.
    ///
    /// The first byte in the address's text form is the most significant byte of the value.
    public let rawValue: UInt64

    /// Creates an address from its 48 bits.
    ///
    /// The first byte in the address's text form is the most significant byte of the value. The initializer
    /// returns `nil` if the value has more than 48 bits.
    public init?(rawValue: UInt64) {
        guard rawValue >> 48 == 0 else {
            return nil
        }
        self.rawValue = rawValue
    }

    /// Creates an address from six bytes in transmission order, with the least significant byte first.
    ///
    /// The initializer returns `nil` if the collection does not contain exactly six bytes.
    public init?(littleEndian bytes: some Collection<UInt8>) {
        guard bytes.count == 6 else {
            return nil
        }
        rawValue = bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The six bytes of the address in transmission order, with the least significant byte first.
    public var littleEndianBytes: [UInt8] {
        Array(rawValue.littleEndianBytes.prefix(6))
    }

    /// The kind of random address that the two most significant bits indicate.
    ///
    /// The property `randomKind` has no meaning for a public address. If the two most significant bits have
    /// the reserved pattern `10`, the property is `nil`.
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
    /// Orders addresses alphabetically by their text forms.
    public static func < (left: DeviceAddress, right: DeviceAddress) -> Bool {
        left.rawValue < right.rawValue
    }
}

extension DeviceAddress: LosslessStringConvertible {
    /// Creates an address from text in upper or lower case.
    ///
    /// The text must consist of six pairs of hexadecimal digits separated by colons. For any other text, the
    /// initializer returns `nil`.
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

    /// The address's text form in upper case, such as `AA:BB:CC:DD:EE:FF`.
    public var description: String {
        littleEndianBytes.reversed()
            .map { $0.hexadecimalDigits(count: 2).uppercased() }
            .joined(separator: ":")
    }
}
