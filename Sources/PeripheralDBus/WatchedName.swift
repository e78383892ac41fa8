/// The handle of a watch that ``BusConnection/watchName(_:_:)`` returns and ``BusConnection/unwatch(_:)``
/// ends.
package struct NameWatch: Sendable, Hashable {
    let name: BusName
    let identifier: UInt64
}

/// A name whose owner is watched.
struct WatchedName {
    var owner: BusName?
    /// Whether the bus has said who the owner is, or that there is none.
    var isOwnerKnown = false
    /// The number of watches, and of subscriptions with a rule that names this sender.
    var references = 0
    var handlers: [(identifier: UInt64, handler: NameHandler)] = []
}

/// Receives the owner of a name, or `nil` for none, on the loop in message order.
package typealias NameHandler = @Sendable (BusName?) -> Void
