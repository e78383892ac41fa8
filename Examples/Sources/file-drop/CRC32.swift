/// The checksum CRC-32 of IEEE 802.3, as in zip and PNG.
///
/// It detects damage, not manipulation: the encryption of the link protects against that.
struct CRC32: Hashable, Sendable {
    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 0 ? value >> 1 : value >> 1 ^ 0xEDB8_8320 }
    }

    private var register: UInt32 = .max

    /// The checksum of all bytes so far.
    var value: UInt32 { ~register }

    init(_ bytes: some Sequence<UInt8> = []) {
        append(bytes)
    }

    mutating func append(_ bytes: some Sequence<UInt8>) {
        for byte in bytes {
            register = register >> 8 ^ Self.table[Int(UInt8(truncatingIfNeeded: register) ^ byte)]
        }
    }

    /// A checksum as text, such as `cbf43926`.
    static func text(_ value: UInt32) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}
