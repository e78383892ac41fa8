/// The key of encrypted BTHome packets, which the device and its receivers share.
///
/// The text form is the *bind key* that Home Assistant asks for: 32 hexadecimal digits.
public struct BTHomeKey: Hashable, Sendable {
    let bytes: [UInt8]

    /// Creates a key from 16 bytes; `nil` if the number of bytes is different.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    /// Creates a key from 32 hexadecimal digits; `nil` for any other text.
    public init?(_ digits: String) {
        let values = digits.compactMap(\.hexDigitValue)
        guard digits.count == 32, values.count == 32 else { return nil }
        bytes = stride(from: 0, to: 32, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
    }

    /// Creates a key from the random numbers of the system.
    public static func random() -> BTHomeKey {
        BTHomeKey(bytes: (0..<16).map { _ in UInt8.random(in: 0...255) })
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The 32 hexadecimal digits, to show to the owner of the device.
    public var digits: String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 0xF, radix: 16) }.joined()
    }
}

extension BTHomeKey: CustomStringConvertible {
    /// A text that does not reveal the key, because descriptions appear in logs.
    public var description: String { "BTHome key" }
}
