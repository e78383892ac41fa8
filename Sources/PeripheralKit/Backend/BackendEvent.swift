public import PeripheralCore

/// An event that a backend reports to its ``PeripheralHost``.
///
/// Events of connections and subscriptions are reported one after the other, in order. ``updateTaken(_:)``
/// and ``updateEnded(_:_:)`` have no order relative to these or to those of other updates. They can come
/// after later events, and concurrently from another thread.
public enum BackendEvent: Sendable {
    /// The database is registered and the advertisement is on the air. Updates can be submitted to the link.
    ///
    /// The event is reported again after each ``suspended``.
    case published(PublishedPeripheral)

    /// The peripheral is off the air and its database is gone, until it is published again.
    ///
    /// The event is also reported when a publication fails halfway, because centrals may have connected. All
    /// centrals are disconnected and all subscriptions have ended, including those of bonded centrals. There
    /// are no separate events for them. The ends of submitted updates are no longer reported.
    case suspended

    /// The state has changed.
    ///
    /// A backend that never reports a state is on the air while it is published.
    case stateChanged(PeripheralState)

    /// The stack has assigned a handle on the air to an attribute of ``BackendPublication/table``.
    case handleAssigned(AttributeHandle, onAir: AttributeHandle)

    /// A text to preserve for the backend's next run. It replaces the text reported before.
    ///
    /// ``BackendPublication/backendState`` returns it. A text of more than 4,096 bytes is not preserved.
    case backendStateChanged(String)

    /// The time of an advertisement is over. It does not return to the air automatically.
    ///
    /// The value is its index in the advertisements that were last passed to
    /// ``BackendLink/advertise(_:restarting:)``.
    case advertisementEnded(Int)

    /// A central has connected, or a property of a connected central has changed.
    case connected(Central)

    /// A central is no longer connected.
    ///
    /// Its subscriptions end with the connection, without separate events. If the stack preserves the
    /// subscriptions of a bonded central, they are reported again when the central returns.
    case disconnected(Central.ID)

    /// The stack has forgotten a central, and its bond if it had one. Any program can have removed it.
    case forgotten(Central.ID)

    /// A central has subscribed to a characteristic, possibly again.
    ///
    /// All subscribers that the stack does not identify count as one.
    case subscribed(BackendSubscription)

    /// A property of an existing subscription has changed.
    ///
    /// This is how its central can be reached, or the kind of update that it has asked for.
    case subscriptionChanged(BackendSubscription)

    /// A central has ended its subscription to the characteristic with this value handle.
    ///
    /// If the central is `nil`, the subscription of the unidentified centrals has ended.
    case unsubscribed(AttributeHandle, by: Central.ID?)

    /// The stack has lost a connected central's subscription to the characteristic with this value handle.
    /// The stack has lost a connected central's subscription to the characteristic with this value handle.
    ///
    /// The central has not unsubscribed, and has to subscribe again. The durable updates preserved for it
    /// stay until then.
    case subscriptionLost(AttributeHandle, by: Central.ID)

    /// The stack has taken a submitted update, which has not left the device yet.
    ///
    /// The event is reported at most once, before ``updateEnded(_:_:)``, and only for an update that does not
    /// await confirmation. The sender continues, while the update still counts as submitted.
    case updateTaken(BackendUpdate.ID)

    /// A submitted update has ended.
    ///
    /// The event is reported exactly once for each update, unless the run ends first.
    case updateEnded(BackendUpdate.ID, BackendUpdateOutcome)

    /// Several updates have ended, in this order. Equivalent to ``updateEnded(_:_:)`` for each of them.
    ///
    /// Senders that wait for room are resumed once for the whole batch.
    case updatesEnded([(BackendUpdate.ID, BackendUpdateOutcome)])
}

/// The properties that a backend reports once it has published a peripheral.
public struct PublishedPeripheral: Sendable {
    /// The link to the backend.
    public var link: any BackendLink

    /// How the backend determines that an update has left, which ``BackendEvent/updateEnded(_:_:)`` reports.
    public var completionReporting: CompletionReporting

    /// The maximum number of submitted updates for each recipient; 1 or more.
    ///
    /// It limits updates that have not ended and do not await confirmation.
    public var window: Int

    /// The address of the adapter; `nil` if the stack does not report it.
    public var adapter: DeviceAddress?

    /// Creates the report.
    public init(
        link: any BackendLink,
        completionReporting: CompletionReporting = .unknown,
        window: Int = 16,
        adapter: DeviceAddress? = nil
    ) {
        self.link = link
        self.completionReporting = completionReporting
        self.window = window
        self.adapter = adapter
    }
}

/// A central's subscription to a characteristic, as a backend sees it.
public struct BackendSubscription: Hashable, Sendable {
    /// The characteristic, by its value handle in ``BackendPublication/table``.
    public var characteristic: AttributeHandle

    /// The subscriber; `nil` if the stack does not report it.
    public var central: Central?

    /// The kind of update that the central asked for; `nil` if the stack does not report it.
    public var kind: UpdateKind?

    /// Whether an update that is not empty can be sent to this central alone.
    public var isAddressable: Bool

    /// Whether to submit an update for all subscribers only once.
    ///
    /// This applies even though each subscriber can be reached alone.
    public var sharesUpdatesForAll: Bool

    /// Creates a subscription.
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
