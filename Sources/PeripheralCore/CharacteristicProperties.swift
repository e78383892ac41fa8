/// The operations that a characteristic offers to centrals.
///
/// The low byte holds the properties of the characteristic declaration (Core Specification Vol 3, Part G,
/// 3.3.1.1). The high byte holds the properties of the Characteristic Extended Properties descriptor
/// (3.3.3.1). The *Extended Properties* bit of the declaration is not an option. This bit marks the presence
/// of the descriptor and follows from the high byte.
public struct CharacteristicProperties: OptionSet, Hashable, Sendable {
    /// The bits of the properties (low byte) and of the extended properties (high byte).
    public let rawValue: UInt16

    /// Creates a set from its bits and drops undefined bits.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue & 0x037F
    }

    /// The value can be broadcast.
    public static let broadcast = CharacteristicProperties(rawValue: 0x0001)
    /// The value can be read.
    public static let read = CharacteristicProperties(rawValue: 0x0002)
    /// The value can be written by a command.
    ///
    /// The central receives no response, even if the write fails.
    public static let writeWithoutResponse = CharacteristicProperties(rawValue: 0x0004)
    /// The value can be written by a request.
    ///
    /// The central receives a response.
    public static let write = CharacteristicProperties(rawValue: 0x0008)
    /// The value can be sent to subscribers as a notification.
    ///
    /// Subscribers do not confirm a notification.
    public static let notify = CharacteristicProperties(rawValue: 0x0010)
    /// The value can be sent to subscribers as an indication.
    ///
    /// Each subscriber confirms an indication.
    public static let indicate = CharacteristicProperties(rawValue: 0x0020)
    /// The value can be written by a signed command.
    ///
    /// The central signs the command with a key from pairing. BlueZ 5.73 and later checks the signature.
    /// Signed commands have not been tested with a central that signs.
    public static let authenticatedSignedWrites = CharacteristicProperties(rawValue: 0x0040)
    /// The value can be written as part of a reliable write.
    ///
    /// The central checks the peripheral's copy of the prepared values before the writes take effect. BlueZ
    /// performs the writes one after another and stops at the first refusal. The writes before the refused
    /// write stay in effect.
    public static let reliableWrite = CharacteristicProperties(rawValue: 0x0100)
    /// The Characteristic User Description descriptor can be written.
    public static let writableAuxiliaries = CharacteristicProperties(rawValue: 0x0200)
}

extension CharacteristicProperties {
    /// Creates the properties that a central has discovered.
    ///
    /// - Parameters:
    ///   - declaration: The property byte of the characteristic declaration.
    ///   - extended: The value of the Characteristic Extended Properties descriptor, or 0 if there is none.
    public init(declaration: UInt8, extended: UInt16 = 0) {
        self.init(rawValue: UInt16(declaration) | extended << 8)
    }

    /// The property byte of the characteristic declaration, including its Extended Properties bit.
    public var declarationByte: UInt8 {
        UInt8(truncatingIfNeeded: rawValue) | (hasExtendedProperties ? 0x80 : 0)
    }

    /// The value of the Characteristic Extended Properties descriptor.
    public var extended: UInt16 {
        rawValue >> 8
    }

    /// Whether the characteristic has a Characteristic Extended Properties descriptor.
    public var hasExtendedProperties: Bool {
        extended != 0
    }

    /// Whether centrals can subscribe.
    ///
    /// A characteristic that allows subscriptions has a Client Characteristic Configuration descriptor.
    public var allowsSubscription: Bool {
        !isDisjoint(with: [.notify, .indicate])
    }

    /// Whether centrals can write the value with at least one of the operations.
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

    /// The names of the options in bit order: `[read, notify]`.
    public var description: String {
        "[" + Self.names.filter { contains($0.0) }.map(\.1).joined(separator: ", ") + "]"
    }
}
