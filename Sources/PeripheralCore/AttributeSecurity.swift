/// What a link must offer before it may be used for an attribute (Core Specification, Vol 3, Part C, 10.2.1).
public enum SecurityLevel: UInt8, Hashable, Sendable, Comparable {
    /// Nothing.
    case open
    /// Encryption.
    case encrypted
    /// Encryption with a key that is protected against somebody in the middle.
    case authenticated
    /// The same, with a key from LE Secure Connections.
    case secureConnections

    /// Orders by strength.
    public static func < (lhs: SecurityLevel, rhs: SecurityLevel) -> Bool {
        lhs.rawValue < rhs.rawValue
    }
}

/// The security that each use of an attribute demands of the link.
public struct AttributeSecurity: Hashable, Sendable {
    /// What reading demands.
    public var read: SecurityLevel
    /// What writing demands.
    public var write: SecurityLevel
    /// What subscribing to notifications or indications demands.
    public var notify: SecurityLevel

    /// Makes the demands for each use.
    public init(
        read: SecurityLevel = .open,
        write: SecurityLevel = .open,
        notify: SecurityLevel = .open
    ) {
        self.read = read
        self.write = write
        self.notify = notify
    }

    /// No use demands anything.
    public static let open = AttributeSecurity()
    /// Each use demands encryption.
    public static let encrypted = AttributeSecurity(all: .encrypted)
    /// Each use demands encryption with an authenticated key.
    public static let authenticated = AttributeSecurity(all: .authenticated)
    /// Each use demands encryption with an authenticated key from LE Secure Connections.
    public static let secureConnections = AttributeSecurity(all: .secureConnections)

    private init(all level: SecurityLevel) {
        self.init(read: level, write: level, notify: level)
    }
}
