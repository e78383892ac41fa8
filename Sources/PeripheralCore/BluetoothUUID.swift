/// A Bluetooth UUID: an attribute type, or the identity of a service.
///
/// Every UUID is 128 bits wide. UUIDs assigned by the Bluetooth SIG are derived from the Bluetooth Base UUID,
/// `xxxxxxxx-0000-1000-8000-00805f9b34fb`. An assigned UUID has a short form of 16 or 32 bits, which denotes
/// the same UUID. Two values are equal when their 128 bits are equal (Core Specification Vol 3, Part B,
/// 2.5.1).
///
/// ```swift
/// let heartRate: BluetoothUUID = 0x180D
/// let lamp: BluetoothUUID = "5c3a0001-7c1e-4b39-9d3e-0a4d2f6b8c11"
/// let typed = BluetoothUUID(textFromTheUser)    // nil if the text is not a UUID
/// ```
///
/// UUIDs are ordered by their 128 bits, most significant first.
public struct BluetoothUUID: Hashable, Sendable {
    // Two integers are used, because a UInt128 that an asynchronous function returns loses its upper half in
    // unoptimized arm64 code (https://github.com/swiftlang/swift/issues/89842, in Swift 6.2 and 6.3).
    private let upperBits: UInt64
    private let lowerBits: UInt64

    /// The 128 bits, most significant digit of the text first.
    var bits: UInt128 { UInt128(upperBits) << 64 | UInt128(lowerBits) }

    /// `00000000-0000-1000-8000-00805f9b34fb`.
    private static let base: UInt128 = 0x0000_0000_0000_1000_8000_0080_5f9b_34fb
    private static let assignedNumberShift: UInt128 = 96

    init(bits: UInt128) {
        upperBits = UInt64(truncatingIfNeeded: bits >> 64)
        lowerBits = UInt64(truncatingIfNeeded: bits)
    }

    /// Creates a UUID from a 16-bit number assigned by the Bluetooth SIG.
    public init(_ assigned: UInt16) {
        self.init(UInt32(assigned))
    }

    /// Creates a UUID from a 32-bit number assigned by the Bluetooth SIG.
    public init(_ assigned: UInt32) {
        self.init(bits: Self.base | UInt128(assigned) << Self.assignedNumberShift)
    }

    /// The 16-bit or 32-bit number that identifies this UUID.
    ///
    /// The number is `nil` for a UUID that is not derived from the Bluetooth Base UUID, such as a
    /// vendor-specific UUID.
    public var assignedNumber: UInt32? {
        let number = UInt32(truncatingIfNeeded: bits >> Self.assignedNumberShift)
        return BluetoothUUID(number) == self ? number : nil
    }
}

extension BluetoothUUID: Comparable {
    /// Orders UUIDs by their 128 bits, most significant first.
    public static func < (left: BluetoothUUID, right: BluetoothUUID) -> Bool {
        left.bits < right.bits
    }
}

// MARK: - On the air

extension BluetoothUUID {
    /// Creates a UUID from bytes, least significant first.
    ///
    /// Returns `nil` unless there are 2, 4 or 16 bytes.
    public init?(littleEndian bytes: some Collection<UInt8>) {
        let value = bytes.reversed().reduce(0 as UInt128) { $0 << 8 | UInt128($1) }
        switch bytes.count {
        case 2, 4: self.init(UInt32(truncatingIfNeeded: value))
        case 16: self.init(bits: value)
        default: return nil
        }
    }

    /// The shortest form, least significant byte first: 2, 4 or 16 bytes.
    ///
    /// Advertising data has a separate list of UUIDs for each of the three widths. Attribute protocol data
    /// units have no 32-bit form. Use ``attBytes`` for attribute protocol data units.
    public var littleEndianBytes: [UInt8] {
        guard let number = assignedNumber else {
            return bits.littleEndianBytes
        }
        return UInt16(exactly: number)?.littleEndianBytes ?? number.littleEndianBytes
    }

    /// The form in attribute protocol data units, least significant byte first: 2 or 16 bytes.
    ///
    /// A 32-bit UUID is widened to 128 bits (Core Specification Vol 3, Part F, 3.2.1).
    public var attBytes: [UInt8] {
        guard let number = assignedNumber, let short = UInt16(exactly: number) else {
            return bits.littleEndianBytes
        }
        return short.littleEndianBytes
    }
}
