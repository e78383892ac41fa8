internal import PeripheralCore

/// The connected centrals and their subscriptions, as far as the backend reports them.
struct CentralRegister {
    /// The connected centrals, in the order of their connections.
    private(set) var centrals: [Central] = []
    /// The subscriptions, in the order in which they began.
    private(set) var subscriptions: [Subscription] = []

    func subscriptions(to characteristic: AttributeHandle) -> [Subscription] {
        subscriptions.filter { $0.handle == characteristic }
    }

    func hasSubscribers(_ characteristic: AttributeHandle) -> Bool {
        subscriptions.contains { $0.handle == characteristic }
    }

    /// Records a central that has connected or changed.
    mutating func connected(_ central: Central) -> [SessionEvent] {
        guard let index = centrals.firstIndex(of: central) else {
            centrals.append(central)
            return [.connected(central)]
        }
        guard !central.isSameIn(all: centrals[index]) else { return [] }
        centrals[index] = central
        for index in subscriptions.indices where subscriptions[index].central == central {
            subscriptions[index] = subscriptions[index].with(central)
        }
        return [.changed(central)]
    }

    /// Removes a central that has disconnected.
    mutating func disconnected(_ id: Central.ID, because reason: DisconnectionReason) -> [SessionEvent] {
        let ended = end { $0.central?.id == id }
        guard let index = centrals.firstIndex(where: { $0.id == id }) else { return ended }
        return ended + [.disconnected(centrals.remove(at: index), reason: reason)]
    }

    /// Records a subscription.
    ///
    /// A subscription ends an earlier subscription of the same central to the same characteristic.
    ///
    /// All subscribers that the backend does not identify count as one subscriber.
    mutating func subscribed(_ subscription: Subscription) -> [SessionEvent] {
        let isKnown = subscription.central == nil && subscriptions.contains(subscription)
        guard !isKnown else { return [] }
        let ended = unsubscribed(subscription.handle, by: subscription.central?.id)
        subscriptions.append(subscription)
        return ended + [.subscribed(subscription)]
    }

    /// Records a change of a subscription.
    mutating func changed(_ subscription: Subscription) -> [SessionEvent] {
        let index = subscriptions.firstIndex {
            $0.handle == subscription.handle && $0.central == subscription.central
        }
        guard let index, subscriptions[index].kind != subscription.kind else { return [] }
        subscriptions[index] = subscription
        return [.subscribed(subscription)]
    }

    /// Removes a subscription; `nil` represents all subscribers that the backend does not identify.
    mutating func unsubscribed(_ characteristic: AttributeHandle, by central: Central.ID?) -> [SessionEvent] {
        end { $0.handle == characteristic && $0.central?.id == central }
    }

    /// Removes all subscriptions to the characteristics of a removed service.
    mutating func removed(_ handles: ClosedRange<AttributeHandle>) -> [SessionEvent] {
        end { handles.contains($0.handle) }
    }

    /// Removes all centrals and subscriptions.
    mutating func reset() -> [SessionEvent] {
        let ended = end { _ in true }
        defer { centrals = [] }
        return ended + centrals.map { .disconnected($0, reason: .unknown) }
    }

    private mutating func end(_ isOver: (Subscription) -> Bool) -> [SessionEvent] {
        let ended = subscriptions.filter(isOver)
        subscriptions.removeAll(where: isOver)
        return ended.map { .unsubscribed($0) }
    }
}

extension Subscription {
    fileprivate func with(_ central: Central) -> Subscription {
        Subscription(characteristic: characteristic, central: central, kind: kind, handle: handle)
    }
}

extension Central {
    /// Whether all properties are equal; `==` does not compare all of them.
    fileprivate func isSameIn(all other: Central) -> Bool {
        self == other && address == other.address && addressKind == other.addressKind
            && isBonded == other.isBonded && mtu == other.mtu
            && connectionParameters == other.connectionParameters
    }
}
