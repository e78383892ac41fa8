/// The type of a service, characteristic or descriptor.
///
/// The 16- and 32-bit forms that the Bluetooth SIG assigns are short for UUIDs of 128 bits; a UUID equals itself
/// in whichever form it was given. See Core Specification, Vol 3, Part B, 2.5.1.
///
/// ```swift
/// let heartRate: BluetoothUUID = 0x180D
/// let lamp: BluetoothUUID = "5c3a0001-7e3c-4b6e-9d29-b3f1c0a1d001"
/// ```
public struct BluetoothUUID: Hashable, Sendable {
    /// The 128 bits, the most significant first.
    private let high: UInt64
    private let low: UInt64

    /// The Bluetooth Base UUID, 00000000-0000-1000-8000-00805f9b34fb.
    private static let baseHigh: UInt64 = 0x0000_0000_0000_1000
    private static let baseLow: UInt64 = 0x8000_0080_5f9b_34fb

    private init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Makes a UUID from the 16 bits that the Bluetooth SIG has assigned.
    public init(_ assigned: UInt16) {
        self.init(UInt32(assigned))
    }

    /// Makes a UUID from the 32 bits that the Bluetooth SIG has assigned.
    public init(_ assigned: UInt32) {
        self.init(high: UInt64(assigned) << 32 | Self.baseHigh, low: Self.baseLow)
    }

    /// Makes a UUID from its bytes as they are on the air, the least significant first.
    ///
    /// - Parameter bytes: 2, 4 or 16 bytes; with any other number the result is `nil`.
    public init?(littleEndian bytes: some Collection<UInt8>) {
        switch bytes.count {
        case 2, 4:
            self.init(bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) })
        case 16:
            let big = Array(bytes.reversed())
            self.init(
                high: big[..<8].reduce(0) { $0 << 8 | UInt64($1) },
                low: big[8...].reduce(0) { $0 << 8 | UInt64($1) }
            )
        default:
            return nil
        }
    }

    /// The 16 or 32 bits that are short for this UUID, or `nil` when there is no short form.
    public var assignedNumber: UInt32? {
        guard low == Self.baseLow, high & 0xffff_ffff == Self.baseHigh else { return nil }
        return UInt32(high >> 32)
    }

    /// The bytes as they are on the air, the least significant first, in the shortest form: 2, 4 or 16 bytes.
    ///
    /// ATT packets know no form of 4 bytes: use ``attBytes`` there.
    public var littleEndianBytes: [UInt8] {
        guard let short = assignedNumber else { return fullBytes }
        let count = short > 0xffff ? 4 : 2
        return (0..<count).map { UInt8(truncatingIfNeeded: short >> (8 * $0)) }
    }

    /// The bytes as they are in ATT packets, the least significant first: 2 or 16 bytes (Core Specification,
    /// Vol 3, Part F, 3.2.1).
    public var attBytes: [UInt8] {
        let short = littleEndianBytes
        return short.count == 4 ? fullBytes : short
    }

    private var fullBytes: [UInt8] {
        [low, high].flatMap { half in
            (0..<8).map { UInt8(truncatingIfNeeded: half >> (8 * $0)) }
        }
    }
}

// MARK: - Text

extension BluetoothUUID: LosslessStringConvertible {
    /// Makes a UUID from its text: 4, 8 or 36 characters, in either case.
    ///
    /// Anything else gives `nil`.
    public init?(_ description: String) {
        let text = description.utf8
        var digits: [UInt8] = []
        digits.reserveCapacity(32)
        for (index, character) in text.enumerated() {
            if text.count == 36, [8, 13, 18, 23].contains(index) {
                guard character == UInt8(ascii: "-") else { return nil }
            } else if let digit = Self.hexadecimalValue(of: character), digits.count < 32 {
                digits.append(digit)
            } else {
                return nil
            }
        }
        switch text.count {
        case 4, 8:
            self.init(digits.reduce(0) { $0 << 4 | UInt32($1) })
        case 36:
            self.init(
                high: digits[..<16].reduce(0) { $0 << 4 | UInt64($1) },
                low: digits[16...].reduce(0) { $0 << 4 | UInt64($1) }
            )
        default:
            return nil
        }
    }

    /// The canonical text: the shortest form in lower case, such as `180d`, `12345678`, or 36 characters.
    public var description: String {
        guard let short = assignedNumber else { return fullDescription }
        return Self.hexadecimal(UInt64(short), digits: short > 0xffff ? 8 : 4)
    }

    /// The text with all 128 bits: 36 characters, in lower case.
    public var fullDescription: String {
        [
            Self.hexadecimal(high >> 32, digits: 8),
            Self.hexadecimal(high >> 16 & 0xffff, digits: 4),
            Self.hexadecimal(high & 0xffff, digits: 4),
            Self.hexadecimal(low >> 48, digits: 4),
            Self.hexadecimal(low & 0xffff_ffff_ffff, digits: 12),
        ].joined(separator: "-")
    }

    private static func hexadecimal(_ value: UInt64, digits: Int) -> String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: digits - text.count) + text
    }

    private static func hexadecimalValue(of character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

extension BluetoothUUID: Comparable {
    /// Orders by the 128 bits.
    public static func < (lhs: BluetoothUUID, rhs: BluetoothUUID) -> Bool {
        (lhs.high, lhs.low) < (rhs.high, rhs.low)
    }
}

// MARK: - Literals

extension BluetoothUUID: ExpressibleByIntegerLiteral {
    /// Makes a UUID from assigned bits, such as `0x180D`; more than 32 bits do not compile.
    public init(integerLiteral assigned: UInt32) {
        self.init(assigned)
    }
}

extension BluetoothUUID: ExpressibleByStringLiteral {
    /// Makes a UUID from a literal of 4, 8 or 36 characters.
    ///
    /// A literal is part of the program: one that is no UUID stops it. For text that comes from outside, use
    /// ``init(_:)``, which gives `nil`.
    public init(stringLiteral text: String) {
        guard let uuid = BluetoothUUID(text) else {
            preconditionFailure(
                "\"\(text)\" is no Bluetooth UUID; write 4, 8 or 36 characters, as in "
                    + "\"180d\" or \"5c3a0001-7e3c-4b6e-9d29-b3f1c0a1d001\""
            )
        }
        self = uuid
    }
}
