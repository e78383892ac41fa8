public import PeripheralCore

/// An event that a backend reports to its ``PeripheralHost``.
///
/// The backend reports the events of connections and subscriptions one after the other, in order.
/// ``updateTaken(_:)`` and ``updateEnded(_:_:)`` have no order relative to these events or to the events of
/// other updates. The backend can report these two events after later events, and concurrently from another
/// thread.
public enum BackendEvent: Sendable {
    /// The database is registered and the advertisement is on the air.
    ///
    /// From now on, updates can be submitted to the link.
    ///
    /// The event is reported again after each ``suspended``.
    case published(PublishedPeripheral)

    /// The peripheral is off the air and its database is removed, until the peripheral is published again.
    ///
    /// The event is also reported if a publication fails halfway, because centrals may have connected. All
    /// centrals are disconnected and all subscriptions have ended, including the subscriptions of bonded
    /// centrals. These disconnections and ends are not reported as separate events. The ends of submitted
    /// updates are no longer reported.
    case suspended

    /// The state of the peripheral has changed.
    ///
    /// If a backend never reports a state, the peripheral counts as on the air while it is published.
    case stateChanged(PeripheralState)

    /// The stack has assigned a handle on the air to an attribute of ``BackendPublication/table``.
    case handleAssigned(AttributeHandle, onAir: AttributeHandle)

    /// A text to preserve for the backend's next run.
    ///
    /// The text replaces the text reported before.
    ///
    /// In the next run, ``BackendPublication/backendState`` contains the text. A text of more than 4,096
    /// bytes is not preserved.
    case backendStateChanged(String)

    /// The time of an advertisement is over.
    ///
    /// The advertisement does not return to the air automatically.
    ///
    /// The associated value is the index of the advertisement in the array that was last passed to
    /// ``BackendLink/advertise(_:restarting:)``.
    case advertisementEnded(Int)

    /// A central has connected, or a property of a connected central has changed.
    case connected(Central)

    /// A central is no longer connected.
    ///
    /// The subscriptions of the central end with the connection, without separate events. If the stack
    /// preserves the subscriptions of a bonded central, the backend reports these subscriptions again when
    /// the central returns.
    case disconnected(Central.ID)

    /// The stack has forgotten a central, including its bond.
    ///
    /// The event is also reported for a central without a bond. Any program can cause the event.
    case forgotten(Central.ID)

    /// A central has subscribed to a characteristic for the first time or again.
    ///
    /// All subscribers that the stack does not identify count as one subscriber.
    case subscribed(BackendSubscription)

    /// A property of an existing subscription has changed.
    ///
    /// The event reports a change of how the central can be reached, or of the kind of update that it has
    /// requested.
    case subscriptionChanged(BackendSubscription)

    /// A central has ended its subscription to the characteristic with this value handle.
    ///
    /// If the central is `nil`, the subscription of the unidentified centrals has ended.
    case unsubscribed(AttributeHandle, by: Central.ID?)

    /// The stack has lost a connected central's subscription to the characteristic with this value handle.
    ///
    /// The central has not unsubscribed, but has to subscribe again. Until then, the durable updates for the
    /// central stay preserved.
    case subscriptionLost(AttributeHandle, by: Central.ID)

    /// The stack has accepted a submitted update, and the update has not left the device yet.
    ///
    /// The event is reported at most once, before ``updateEnded(_:_:)``, and only for an update that does not
    /// await confirmation. The sender continues, but the update still counts as submitted.
    case updateTaken(BackendUpdate.ID)

    /// A submitted update has ended.
    ///
    /// The event is reported exactly once for each update, unless the run ends first.
    case updateEnded(BackendUpdate.ID, BackendUpdateOutcome)

    /// Several updates have ended, in this order.
    ///
    /// The event is equivalent to ``updateEnded(_:_:)`` for each of these updates.
    ///
    /// Senders that wait for room are resumed once for the whole batch.
    case updatesEnded([(BackendUpdate.ID, BackendUpdateOutcome)])
}

/// The properties that a backend reports after it has published a peripheral.
public struct PublishedPeripheral: Sendable {
    /// The link to the backend.
    public var link: any BackendLink

    /// How the backend determines that an update has left the device.
    ///
    /// ``BackendEvent/updateEnded(_:_:)`` reports the end of the update.
    public var completionReporting: CompletionReporting

    /// The maximum number of submitted updates for each recipient; 1 or more.
    ///
    /// The maximum applies to updates that have not ended and do not await confirmation.
    public var window: Int

    /// The address of the adapter; `nil` if the stack does not report the address.
    public var adapter: DeviceAddress?

    /// Creates the properties of a published peripheral.
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

/// A central's subscription to a characteristic, as a backend reports it.
public struct BackendSubscription: Hashable, Sendable {
    /// The characteristic, by its value handle in ``BackendPublication/table``.
    public var characteristic: AttributeHandle

    /// The subscriber; `nil` if the stack does not identify the subscriber.
    public var central: Central?

    /// The kind of update that the central has requested; `nil` if the stack does not report the kind.
    public var kind: UpdateKind?

    /// Whether a non-empty update can be sent to this central alone.
    public var isAddressable: Bool

    /// Whether an update for all subscribers is submitted only once.
    ///
    /// If the value is `true`, an update for all subscribers is submitted once, even if each subscriber can
    /// be reached alone.
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
