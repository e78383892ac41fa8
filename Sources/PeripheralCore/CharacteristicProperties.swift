/// The operations that centrals can perform on a characteristic.
///
/// The low byte of the raw value contains the bits of the Characteristic Properties field (Core Specification
/// Vol 3, Part G, 3.3.1.1). The high byte of the raw value contains the properties in the Characteristic
/// Extended Properties descriptor (Core Specification Vol 3, Part G, 3.3.3.1). The raw value does not contain
/// the *Extended Properties* bit of the characteristic declaration. The property ``declarationByte`` contains
/// the *Extended Properties* bit. The *Extended Properties* bit is 1 if the high byte of the raw value is not
/// 0.
public struct CharacteristicProperties: OptionSet, Hashable, Sendable {
    /// The bits of the set, with the extended properties in the high byte.
    public let rawValue: UInt16

    /// Creates a set of properties from the given bits.
    ///
    /// The initializer ignores undefined bits.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue & 0x037F
    }

    /// The peripheral can broadcast the characteristic value in advertising data.
    public static let broadcast = CharacteristicProperties(rawValue: 0x0001)
    /// Centrals can read the characteristic value.
    public static let read = CharacteristicProperties(rawValue: 0x0002)
    /// Centrals can write the characteristic value with a Write Command.
    ///
    /// The peripheral sends no response to a Write Command, even if the write fails.
    public static let writeWithoutResponse = CharacteristicProperties(rawValue: 0x0004)
    /// Centrals can write the characteristic value with a Write Request.
    ///
    /// The peripheral sends a response to each Write Request.
    public static let write = CharacteristicProperties(rawValue: 0x0008)
    /// The peripheral can send the characteristic value to subscribers as a notification.
    ///
    /// A subscriber does not confirm a notification.
    public static let notify = CharacteristicProperties(rawValue: 0x0010)
    /// The peripheral can send the characteristic value to subscribers as an indication.
    ///
    /// Each subscriber confirms each indication.
    public static let indicate = CharacteristicProperties(rawValue: 0x0020)
    /// Centrals can write the characteristic value with a Signed Write Command.
    ///
    /// The central signs the command with a key that the devices exchanged during pairing. In the framework's
    /// tests, no central sends a Signed Write Command.
    public static let authenticatedSignedWrites = CharacteristicProperties(rawValue: 0x0040)
    /// Centrals can write the characteristic value with a reliable write.
    ///
    /// In a reliable write, the central first sends Prepare Write Requests. The peripheral returns a copy of
    /// each prepared value, and the central checks the copy. Then the central requests the execution of all
    /// prepared writes. BlueZ executes the prepared writes one after another, and stops when a write is
    /// refused. The writes before the refused write remain in effect.
    public static let reliableWrite = CharacteristicProperties(rawValue: 0x0100)
    /// Centrals can write the Characteristic User Description descriptor.
    public static let writableAuxiliaries = CharacteristicProperties(rawValue: 0x0200)
}

extension CharacteristicProperties {
    /// Creates a set of properties from the values that a central has discovered.
    ///
    /// - Parameters:
    ///   - declaration: The property byte of the characteristic declaration.
    ///   - extended: The value of the Characteristic Extended Properties descriptor, or 0 if the descriptor
    ///     does not exist.
    public init(declaration: UInt8, extended: UInt16 = 0) {
        self.init(rawValue: UInt16(declaration) | extended << 8)
    }

    /// The property byte of the characteristic declaration, including the *Extended Properties* bit.
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

    /// Whether centrals can subscribe to the characteristic.
    ///
    /// A characteristic has a Client Characteristic Configuration descriptor if centrals can subscribe to the
    /// characteristic.
    public var allowsSubscription: Bool {
        !isDisjoint(with: [.notify, .indicate])
    }

    /// Whether the set contains at least one write operation.
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

    /// The names of the properties in bit order, such as `[read, notify]`.
    public var description: String {
        "[" + Self.names.filter { contains($0.0) }.map(\.1).joined(separator: ", ") + "]"
    }
}
