public import PeripheralCore

/// What a backend reports to its ``PeripheralHost``.
///
/// What happens to connections and subscriptions is reported one after the other, in its order.
/// ``updateTaken(_:)`` and ``updateEnded(_:_:)`` keep no order with these, nor with those of other updates:
/// they may come later than what has happened after them, and at the same time from another thread.
public enum BackendEvent: Sendable {
    /// The database is registered and the advertisement is on the air; updates go through the link.
    ///
    /// It comes again after each ``suspended``.
    case published(PublishedPeripheral)

    /// The peripheral is off the air, and its database is gone, until it is published again.
    ///
    /// It comes also when a publication fails halfway, since centrals may have come by then. All centrals are
    /// gone and all subscriptions have ended, also those of bonded centrals, without an event for each; what
    /// becomes of updates that were submitted is not reported any more.
    case suspended

    /// The state has changed; a backend that has never reported one is on the air while it is published.
    case stateChanged(PeripheralState)

    /// The stack has given an attribute of ``Publication/table`` a handle on the air.
    case handleAssigned(AttributeHandle, onAir: AttributeHandle)

    /// The backend has something to preserve for its next run, in place of what it has reported before.
    ///
    /// ``Publication/backendState`` returns it. A text of more than 4,096 bytes is not preserved.
    case backendStateChanged(String)

    /// The time of an advertisement is over, by its place among those that were demanded last; it does not
    /// come back by itself.
    case advertisementEnded(Int)

    /// A central has connected, or what is known of a connected one has changed.
    case connected(Central)

    /// A central is no longer connected.
    ///
    /// Its subscriptions end with that, without an event for each. Those that the stack keeps for a bonded
    /// central are reported anew when it returns.
    case disconnected(Central.ID)

    /// The stack does not know a central any more, whoever has removed it: a bond that there was is gone.
    case forgotten(Central.ID)

    /// A central has subscribed to a characteristic; one that was subscribed has done so anew.
    ///
    /// Subscribers whom the stack does not name count as one.
    case subscribed(BackendSubscription)

    /// What is known of a subscription that stands has changed: how its central can be reached, or what it
    /// has asked for.
    case subscriptionChanged(BackendSubscription)

    /// A central has ended its subscription to the characteristic with this value handle.
    ///
    /// With no central named, no unidentified central is subscribed any more.
    case unsubscribed(AttributeHandle, by: Central.ID?)

    /// The stack has lost a connected central's subscription to the characteristic with this value handle.
    ///
    /// The central has not unsubscribed, and has to subscribe anew. What is kept for it of durable updates
    /// stays until then.
    case subscriptionLost(AttributeHandle, by: Central.ID)

    /// The stack has taken an update that was submitted, which has not left this device yet.
    ///
    /// Reported at most once, before ``updateEnded(_:_:)``, for an update that awaits no confirmation:
    /// whoever sent it goes on, while the update still counts as one that is submitted.
    case updateTaken(Update.ID)

    /// An update that was submitted has come to its end; reported exactly once for each, unless the run ends
    /// before.
    case updateEnded(Update.ID, UpdateOutcome)

    /// Several updates have ended, in this order; the same as ``updateEnded(_:_:)`` for each.
    ///
    /// Who waits for room is woken up once then, and finds room for as many.
    case updatesEnded([(Update.ID, UpdateOutcome)])
}

/// What a backend tells once it has published a peripheral.
public struct PublishedPeripheral: Sendable {
    /// The way to the backend.
    public var link: any BackendLink

    /// How the backend knows what has left, which it reports by ``BackendEvent/updateEnded(_:_:)``.
    public var pacing: UpdatePacing

    /// How many updates for each recipient are submitted at a time that await no confirmation and have not
    /// ended; 1 or more.
    public var window: Int

    /// The address of the adapter; `nil` where the stack does not tell.
    public var adapter: DeviceAddress?

    /// Makes the report.
    public init(
        link: any BackendLink,
        pacing: UpdatePacing = .unknown,
        window: Int = 16,
        adapter: DeviceAddress? = nil
    ) {
        self.link = link
        self.pacing = pacing
        self.window = window
        self.adapter = adapter
    }
}

/// A central's subscription to a characteristic, as a backend sees it.
public struct BackendSubscription: Hashable, Sendable {
    /// The characteristic, by its value handle in ``Publication/table``.
    public var characteristic: AttributeHandle

    /// Who has subscribed; `nil` where the stack does not tell.
    public var central: Central?

    /// What the central has asked for; `nil` where the stack does not tell.
    public var kind: UpdateKind?

    /// Whether an update can go to this central alone, if it is not empty.
    public var isAddressable: Bool

    /// Whether an update for all subscribers is to be submitted once, for all of them, although each can be
    /// reached alone.
    public var sharesUpdatesForAll: Bool

    /// Makes a subscription.
    public init(
        characteristic: AttributeHandle,
        central: Central?,
        kind: UpdateKind? = nil,
        isAddressable: Bool = true,
        sharesUpdatesForAll: Bool = false
    ) {
        self.characteristic = characteristic
        self.central = central
        self.kind = kind
        self.isAddressable = isAddressable
        self.sharesUpdatesForAll = sharesUpdatesForAll
    }
}
