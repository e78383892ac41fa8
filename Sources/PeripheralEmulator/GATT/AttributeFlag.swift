internal import PeripheralCore

/// The meaning of one of the `Flags` of a characteristic or a descriptor in bluetoothd 5.66.
struct AttributeFlag {
    var properties: CharacteristicProperties = []
    var permissions: DescriptorPermissions = []
    var security = AttributeSecurity.open
    var authorizesWrites = false

    /// - Returns: `nil` for a flag that bluetoothd does not know, which makes the whole application invalid.
    init?(characteristic flag: String) {
        switch flag {
        case "broadcast": properties = .broadcast
        case "write-without-response": properties = .writeWithoutResponse
        case "authenticated-signed-writes": properties = .authenticatedSignedWrites
        case "reliable-write": properties = .reliableWrite
        case "writable-auxiliaries": properties = .writableAuxiliaries
        case "authorize": authorizesWrites = true
        case "extended-properties": break
        default:
            guard let (level, access) = Self.split(flag) else { return nil }
            switch access {
            case "read": (properties, security.read) = (.read, level)
            case "write": (properties, security.write) = (.write, level)
            case "notify": (properties, security.notify) = (.notify, level)
            case "indicate": (properties, security.notify) = (.indicate, level)
            default: return nil
            }
        }
    }

    /// - Returns: `nil` for a flag that bluetoothd does not know, which makes the whole application invalid.
    init?(descriptor flag: String) {
        if flag == "authorize" {
            authorizesWrites = true
            return
        }
        guard let (level, access) = Self.split(flag) else { return nil }
        switch access {
        case "read": (permissions, security.read) = (.read, level)
        case "write": (permissions, security.write) = (.write, level)
        default: return nil
        }
    }

    /// Returns the security that a prefix requires, and the access that requires it.
    private static func split(_ flag: String) -> (SecurityLevel, access: Substring)? {
        for (prefix, level) in prefixes where flag.hasPrefix(prefix) {
            return (level, flag.dropFirst(prefix.count))
        }
        return nil
    }

    /// The prefixes; a longer prefix precedes a shorter prefix that is its beginning.
    private static let prefixes: [(String, SecurityLevel)] = [
        ("encrypt-authenticated-", .authenticated), ("encrypt-", .encrypted), ("secure-", .secureConnections),
        ("", .open),
    ]
}

extension AttributeSecurity {
    /// Combines the security of several flags; the strictest security applies.
    mutating func tighten(by other: AttributeSecurity) {
        read = max(read, other.read)
        write = max(write, other.write)
        notify = max(notify, other.notify)
    }
}
