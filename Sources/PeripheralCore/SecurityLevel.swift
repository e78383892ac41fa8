/// A level of link security that an attribute can require.
///
/// A link that satisfies one level also satisfies all weaker levels (Core Specification Vol 3, Part C,
/// 10.2.1, LE security mode 1).
public enum SecurityLevel: UInt8, Hashable, Sendable, CaseIterable {
    /// No link security, so any central can access the attribute.
    case open
    /// An encrypted link, with or without authentication during pairing.
    case encrypted
    /// An encrypted link after pairing with protection against man-in-the-middle attacks.
    case authenticated
    /// An authenticated link after pairing with LE Secure Connections.
    case secureConnections
}

extension SecurityLevel: Comparable {
    /// Orders security levels from the weakest level to the strongest level.
    public static func < (left: SecurityLevel, right: SecurityLevel) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// The security levels that an attribute requires for reads, writes and subscriptions.
public struct AttributeSecurity: Hashable, Sendable {
    /// The security level that a central needs to read the attribute.
    public var read: SecurityLevel
    /// The security level that a central needs to write the attribute.
    public var write: SecurityLevel
    /// The security level that a central needs to subscribe and to receive updates.
    ///
    /// A bonded central stays subscribed while the central is disconnected. After a bonded central
    /// reconnects, the central receives no updates until the link has the required security again (Core
    /// Specification, Vol 3, Part C, 10.3.1.1).
    public var notify: SecurityLevel

    /// Creates the security requirements of an attribute.
    ///
    /// For each kind of access, the default is ``SecurityLevel/open``.
    public init(read: SecurityLevel = .open, write: SecurityLevel = .open, notify: SecurityLevel = .open) {
        self.read = read
        self.write = write
        self.notify = notify
    }

    /// Creates security requirements with the same level for every kind of access.
    public init(_ level: SecurityLevel) {
        self.init(read: level, write: level, notify: level)
    }

    /// Any central can access the attribute.
    public static let open = AttributeSecurity(.open)
    /// Every access requires an encrypted link.
    public static let encrypted = AttributeSecurity(.encrypted)
    /// Every access requires an authenticated link.
    ///
    /// A link is authenticated if the link is encrypted, and the pairing was protected against
    /// man-in-the-middle attacks.
    public static let authenticated = AttributeSecurity(.authenticated)
    /// Every access requires an authenticated link after pairing with LE Secure Connections.
    public static let secureConnections = AttributeSecurity(.secureConnections)
}
