/// What a central may do with a characteristic's value.
///
/// The low byte holds the properties of the characteristic declaration (Core Specification Vol 3, Part G,
/// 3.3.1.1), the high byte those of the Characteristic Extended Properties descriptor (3.3.3.1). The
/// declaration's *Extended Properties* bit is no option: it says that the descriptor is there, and follows
/// from the high byte.
public struct CharacteristicProperties: OptionSet, Hashable, Sendable {
    /// The properties in the low byte, the extended properties in the high byte.
    public let rawValue: UInt16

    /// Creates a set of its bits; those that stand for no option here are dropped.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue & 0x037F
    }

    /// The value can be broadcast.
    public static let broadcast = CharacteristicProperties(rawValue: 0x0001)
    /// The value can be read.
    public static let read = CharacteristicProperties(rawValue: 0x0002)
    /// The value can be written by a command, which is never answered, not even when it fails.
    public static let writeWithoutResponse = CharacteristicProperties(rawValue: 0x0004)
    /// The value can be written by a request, which is answered.
    public static let write = CharacteristicProperties(rawValue: 0x0008)
    /// The value can be sent to subscribers, who do not confirm it.
    public static let notify = CharacteristicProperties(rawValue: 0x0010)
    /// The value can be sent to subscribers, who confirm it.
    public static let indicate = CharacteristicProperties(rawValue: 0x0020)
    /// The value can be written by a signed command, with a key that the central has got by pairing.
    ///
    /// BlueZ from 5.73 on checks the signature; no central that signs has been at hand to test that.
    public static let authenticatedSignedWrites = CharacteristicProperties(rawValue: 0x0040)
    /// The value can be written together with others, by prepared writes that are read back before they take effect.
    ///
    /// BlueZ has them written one after the other, and stops at the first that is refused: those before it are written.
    public static let reliableWrite = CharacteristicProperties(rawValue: 0x0100)
    /// The Characteristic User Description descriptor can be written.
    public static let writableAuxiliaries = CharacteristicProperties(rawValue: 0x0200)
}

extension CharacteristicProperties {
    /// Creates the properties that a central has discovered.
    ///
    /// - Parameters:
    ///   - declaration: The byte of the characteristic declaration.
    ///   - extended: The value of the Characteristic Extended Properties descriptor, 0 where there is none.
    public init(declaration: UInt8, extended: UInt16 = 0) {
        self.init(rawValue: UInt16(declaration) | extended << 8)
    }

    /// The byte that the characteristic declaration carries, with its Extended Properties bit where it
    /// belongs.
    public var declarationByte: UInt8 {
        UInt8(truncatingIfNeeded: rawValue) | (hasExtendedProperties ? 0x80 : 0)
    }

    /// The value of the Characteristic Extended Properties descriptor.
    public var extended: UInt16 {
        rawValue >> 8
    }

    /// Whether a Characteristic Extended Properties descriptor belongs to the characteristic.
    public var hasExtendedProperties: Bool {
        extended != 0
    }

    /// Whether centrals can subscribe, so that a Client Characteristic Configuration descriptor belongs to
    /// the characteristic.
    public var allowsSubscription: Bool {
        !isDisjoint(with: [.notify, .indicate])
    }

    /// Whether centrals can write the value in any way.
    public var canWrite: Bool {
        !isDisjoint(with: [.write, .writeWithoutResponse, .authenticatedSignedWrites, .reliableWrite])
    }
}

extension CharacteristicProperties: CustomStringConvertible {
    private static let names: [(CharacteristicProperties, String)] = [
        (.broadcast, "broadcast"),
        (.read, "read"),
        (.writeWithoutResponse, "writeWithoutResponse"),
        (.write, "write"),
        (.notify, "notify"),
        (.indicate, "indicate"),
        (.authenticatedSignedWrites, "authenticatedSignedWrites"),
        (.reliableWrite, "reliableWrite"),
        (.writableAuxiliaries, "writableAuxiliaries"),
    ]

    /// The options by name, in the order of their bits: `[read, notify]`.
    public var description: String {
        "[" + Self.names.filter { contains($0.0) }.map(\.1).joined(separator: ", ") + "]"
    }
}
