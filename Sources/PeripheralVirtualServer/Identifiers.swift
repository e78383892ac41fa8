/// Names one connection to a ``VirtualGATTServer``.
package struct ConnectionID: Hashable, Comparable, Sendable {
    let number: Int

    package static func < (lhs: ConnectionID, rhs: ConnectionID) -> Bool {
        lhs.number < rhs.number
    }
}

/// Names one application on a ``VirtualGATTServer``: a set of services that come and go together.
package struct ApplicationID: Hashable, Sendable {
    let number: Int
}
