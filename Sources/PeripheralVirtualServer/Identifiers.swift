/// Identifies a connection to a ``VirtualGATTServer``.
package struct ConnectionID: Hashable, Comparable, Sendable {
    let number: Int

    package static func < (lhs: ConnectionID, rhs: ConnectionID) -> Bool {
        lhs.number < rhs.number
    }
}

/// Identifies an application on a ``VirtualGATTServer``: services that are added and removed together.
package struct ApplicationID: Hashable, Sendable {
    let number: Int
}

/// Identifies an observer of the connections to a ``VirtualGATTServer``.
package struct ConnectionObserverID: Hashable, Sendable {
    let number: Int
}
