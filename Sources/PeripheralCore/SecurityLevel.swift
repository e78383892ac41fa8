/// What a link must offer before a central may use an attribute.
///
/// Each level includes those below it (Core Specification Vol 3, Part C, 10.2.1, LE security mode 1).
public enum SecurityLevel: UInt8, Hashable, Sendable, CaseIterable {
    /// Nothing: any central may.
    case open
    /// An encrypted link; the pairing may have been without authentication.
    case encrypted
    /// An encrypted link, paired with protection against a man in the middle.
    case authenticated
    /// As ``authenticated``, and paired by LE Secure Connections.
    case secureConnections
}

extension SecurityLevel: Comparable {
    /// Orders levels by what they demand, the least first.
    public static func < (left: SecurityLevel, right: SecurityLevel) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// The security that an attribute demands, for each kind of access.
public struct AttributeSecurity: Hashable, Sendable {
    /// What reading demands.
    public var read: SecurityLevel
    /// What writing demands.
    public var write: SecurityLevel
    /// What subscribing to notifications or indications demands, and each value that is sent.
    ///
    /// A bonded central stays subscribed while it is away. When it returns, it gets no value before its link has this
    /// security again (Core Specification, Vol 3, Part C, 10.3.1.1).
    public var notify: SecurityLevel

    /// Creates the demands of an attribute; what is not named is open.
    public init(read: SecurityLevel = .open, write: SecurityLevel = .open, notify: SecurityLevel = .open) {
        self.read = read
        self.write = write
        self.notify = notify
    }

    /// Creates the same demand for every kind of access.
    public init(_ level: SecurityLevel) {
        self.init(read: level, write: level, notify: level)
    }

    /// Any central may.
    public static let open = AttributeSecurity(.open)
    /// Every access demands an encrypted link.
    public static let encrypted = AttributeSecurity(.encrypted)
    /// Every access demands a link that is authenticated against a man in the middle.
    public static let authenticated = AttributeSecurity(.authenticated)
    /// Every access demands an authenticated link, paired by LE Secure Connections.
    public static let secureConnections = AttributeSecurity(.secureConnections)
}
