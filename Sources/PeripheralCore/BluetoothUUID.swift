/// A Bluetooth UUID, which identifies the type of a service, a characteristic or a descriptor.
///
/// Every UUID has a 128-bit form. The Bluetooth SIG derives assigned UUIDs from the Bluetooth Base UUID,
/// `xxxxxxxx-0000-1000-8000-00805f9b34fb`. An assigned UUID has a short form of 16 or 32 bits. The short form
/// and the 128-bit form denote the same UUID. Two UUIDs are equal if their 128-bit forms are equal (Core
/// Specification Vol 3, Part B, 2.5.1).
///
/// ```swift
/// let heartRate: BluetoothUUID = 0x180D
/// let lamp: BluetoothUUID = "5c3a0001-7c1e-4b39-9d3e-0a4d2f6b8c11"
/// let typed = BluetoothUUID(textFromTheUser)    // nil if the text is not a UUID
/// ```
///
/// A literal with a typing error, such as `"18OF"` or `0x12345`, does not stop the program. It equals no
/// UUID. Its ``description`` is `"18OF" (not a UUID)`. A peripheral or an advertisement that contains it is
/// invalid.
///
/// The order of UUIDs is the numerical order of their 128-bit forms.
public struct BluetoothUUID: Sendable {
    private enum Form {
        // Two integers are used, because a UInt128 that an asynchronous function returns loses its upper half
        // in unoptimized arm64 code (https://github.com/swiftlang/swift/issues/89842, in Swift 6.2 and 6.3).
        case number(upperBits: UInt64, lowerBits: UInt64)
        /// A literal that is not a UUID.
        case malformed(StaticString)
        /// An integer literal of 5 to 7 hexadecimal digits.
        case malformedNumber(UInt32)
    }

    private let form: Form

    /// The 128 bits, most significant digit of the text first; 0 for a malformed literal.
    var bits: UInt128 {
        guard case .number(let upperBits, let lowerBits) = form else { return 0 }
        return UInt128(upperBits) << 64 | UInt128(lowerBits)
    }

    /// A literal that is not a UUID; `nil` for a UUID.
    ///
    /// A text is as in the source. The source's form of a number is unknown, so it has the form of the
    /// documentation, such as `0x12A19`.
    package var malformedLiteral: String? {
        switch form {
        case .number: nil
        case .malformed(let text): "\"\(text)\""
        case .malformedNumber(let number): "0x" + String(number, radix: 16, uppercase: true)
        }
    }

    /// `00000000-0000-1000-8000-00805f9b34fb`.
    private static let base: UInt128 = 0x0000_0000_0000_1000_8000_0080_5f9b_34fb
    private static let assignedNumberShift: UInt128 = 96

    init(bits: UInt128) {
        form = .number(
            upperBits: UInt64(truncatingIfNeeded: bits >> 64),
            lowerBits: UInt64(truncatingIfNeeded: bits)
        )
    }

    init(malformed text: StaticString) {
        form = .malformed(text)
    }

    init(malformed number: UInt32) {
        form = .malformedNumber(number)
    }

    /// Creates a UUID from a 16-bit number that the Bluetooth SIG assigned.
    public init(_ assigned: UInt16) {
        self.init(UInt32(assigned))
    }

    /// Creates a UUID from a 32-bit number that the Bluetooth SIG assigned.
    public init(_ assigned: UInt32) {
        self.init(bits: Self.base | UInt128(assigned) << Self.assignedNumberShift)
    }

    /// The UUID's assigned number of 16 or 32 bits.
    ///
    /// The assigned number is `nil` if the UUID does not derive from the Bluetooth Base UUID. Vendor-specific
    /// UUIDs do not derive from the Bluetooth Base UUID.
    public var assignedNumber: UInt32? {
        let number = UInt32(truncatingIfNeeded: bits >> Self.assignedNumberShift)
        return BluetoothUUID(number) == self ? number : nil
    }
}

extension BluetoothUUID: Hashable {
    /// Returns whether the 128-bit forms of two UUIDs are equal.
    ///
    /// A malformed literal equals only a malformed literal with the same text.
    public static func == (left: BluetoothUUID, right: BluetoothUUID) -> Bool {
        left.bits == right.bits && left.malformedLiteral == right.malformedLiteral
    }

    /// Hashes the 128-bit form.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(bits)
        if let malformedLiteral { hasher.combine(malformedLiteral) }
    }
}

extension BluetoothUUID: Comparable {
    /// Orders UUIDs numerically by their 128-bit forms.
    public static func < (left: BluetoothUUID, right: BluetoothUUID) -> Bool {
        guard left.bits == right.bits else { return left.bits < right.bits }
        return left.malformedLiteral ?? "" < right.malformedLiteral ?? ""
    }
}

// MARK: - On the air

extension BluetoothUUID {
    /// Creates a UUID from bytes, with the least significant byte first.
    ///
    /// If the collection does not contain 2, 4 or 16 bytes, the initializer returns `nil`.
    public init?(littleEndian bytes: some Collection<UInt8>) {
        let value = bytes.reversed().reduce(0 as UInt128) { $0 << 8 | UInt128($1) }
        switch bytes.count {
        case 2, 4: self.init(UInt32(truncatingIfNeeded: value))
        case 16: self.init(bits: value)
        default: return nil
        }
    }

    /// The 2, 4 or 16 bytes of the UUID's shortest form.
    ///
    /// The least significant byte is first.
    ///
    /// Advertising data has separate lists for 16-bit, 32-bit and 128-bit UUIDs. Attribute protocol PDUs
    /// cannot contain 32-bit UUIDs. For attribute protocol PDUs, use ``attBytes``.
    ///
    /// The array is empty for a malformed literal.
    public var littleEndianBytes: [UInt8] {
        guard malformedLiteral == nil else { return [] }
        guard let number = assignedNumber else {
            return bits.littleEndianBytes
        }
        return UInt16(exactly: number)?.littleEndianBytes ?? number.littleEndianBytes
    }

    /// The 2 or 16 bytes that represent the UUID in the attribute protocol.
    ///
    /// The least significant byte is first.
    ///
    /// The property converts a 32-bit UUID to the 128-bit form (Core Specification Vol 3, Part F, 3.2.1).
    ///
    /// The array is empty for a malformed literal.
    public var attBytes: [UInt8] {
        guard malformedLiteral == nil else { return [] }
        guard let number = assignedNumber, let short = UInt16(exactly: number) else {
            return bits.littleEndianBytes
        }
        return short.littleEndianBytes
    }
}
