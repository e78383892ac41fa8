/// The link security that an attribute requires.
///
/// Each level includes all weaker levels (Core Specification Vol 3, Part C, 10.2.1, LE security mode 1).
public enum SecurityLevel: UInt8, Hashable, Sendable, CaseIterable {
    /// No security: any central has access.
    case open
    /// An encrypted link, with or without authentication during pairing.
    case encrypted
    /// An encrypted link whose pairing was protected against a man in the middle.
    case authenticated
    /// An authenticated link whose pairing used LE Secure Connections.
    case secureConnections
}

extension SecurityLevel: Comparable {
    /// Orders levels by strength, the weakest first.
    public static func < (left: SecurityLevel, right: SecurityLevel) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// The security that an attribute requires for each kind of access.
public struct AttributeSecurity: Hashable, Sendable {
    /// The security required to read.
    public var read: SecurityLevel
    /// The security required to write.
    public var write: SecurityLevel
    /// The security required to subscribe and to receive each update.
    ///
    /// A bonded central stays subscribed while it is disconnected. After the central has reconnected, the
    /// central receives no update until its link has this security again (Core Specification, Vol 3, Part C,
    /// 10.3.1.1).
    public var notify: SecurityLevel

    /// Creates the requirements of an attribute, by default ``SecurityLevel/open`` for each kind of access.
    public init(read: SecurityLevel = .open, write: SecurityLevel = .open, notify: SecurityLevel = .open) {
        self.read = read
        self.write = write
        self.notify = notify
    }

    /// Creates the same requirement for every kind of access.
    public init(_ level: SecurityLevel) {
        self.init(read: level, write: level, notify: level)
    }

    /// Any central has access.
    public static let open = AttributeSecurity(.open)
    /// Every access requires an encrypted link.
    public static let encrypted = AttributeSecurity(.encrypted)
    /// Every access requires a link that is authenticated against a man in the middle.
    public static let authenticated = AttributeSecurity(.authenticated)
    /// Every access requires an authenticated link whose pairing used LE Secure Connections.
    public static let secureConnections = AttributeSecurity(.secureConnections)
}
