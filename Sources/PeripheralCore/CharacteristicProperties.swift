/// What centrals may do with a characteristic's value.
///
/// The lower eight bits are those of the characteristic's declaration (Core Specification, Vol 3, Part G,
/// 3.3.1.1), the upper ones those of its extended properties (3.3.3.1). That there are extended properties is
/// not declared but follows.
public struct CharacteristicProperties: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt16

    /// Makes properties from their bits.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// The value may be broadcast in advertisements.
    public static let broadcast = CharacteristicProperties(rawValue: 0x01)
    /// The value can be read.
    public static let read = CharacteristicProperties(rawValue: 0x02)
    /// The value can be written without a response.
    public static let writeWithoutResponse = CharacteristicProperties(rawValue: 0x04)
    /// The value can be written with a response.
    public static let write = CharacteristicProperties(rawValue: 0x08)
    /// Centrals can subscribe to the value, without confirming its updates.
    public static let notify = CharacteristicProperties(rawValue: 0x10)
    /// Centrals can subscribe to the value, and confirm each update.
    public static let indicate = CharacteristicProperties(rawValue: 0x20)
    /// The value can be written with a signature instead of encryption.
    public static let authenticatedSignedWrites = CharacteristicProperties(rawValue: 0x40)
    /// The value can be written reliably: prepared, verified, then executed.
    public static let reliableWrite = CharacteristicProperties(rawValue: 0x0100)
    /// The user description can be written.
    public static let writableAuxiliaries = CharacteristicProperties(rawValue: 0x0200)

    /// Whether there are extended properties, and with them the descriptor that holds them.
    public var hasExtendedProperties: Bool {
        rawValue & 0xFF00 != 0
    }

    /// Whether centrals can subscribe.
    public var allowsSubscription: Bool {
        !isDisjoint(with: [.notify, .indicate])
    }

    /// The byte in the characteristic's declaration on the air.
    public var declarationByte: UInt8 {
        UInt8(truncatingIfNeeded: rawValue) | (hasExtendedProperties ? 0x80 : 0)
    }
}

extension CharacteristicProperties: CustomStringConvertible {
    /// The names, such as `[read, notify]`.
    public var description: String {
        let names: [(CharacteristicProperties, String)] = [
            (.broadcast, "broadcast"), (.read, "read"), (.writeWithoutResponse, "writeWithoutResponse"),
            (.write, "write"), (.notify, "notify"), (.indicate, "indicate"),
            (.authenticatedSignedWrites, "authenticatedSignedWrites"), (.reliableWrite, "reliableWrite"),
            (.writableAuxiliaries, "writableAuxiliaries"),
        ]
        return "[" + names.filter { contains($0.0) }.map(\.1).joined(separator: ", ") + "]"
    }
}
