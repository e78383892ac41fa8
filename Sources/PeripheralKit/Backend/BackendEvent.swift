public import PeripheralCore

/// An event that a backend reports to its ``PeripheralHost``.
///
/// A backend reports connection events and subscription events one after another, in order. The order of
/// ``updateTaken(_:)`` and ``updateEnded(_:_:)`` relative to connection events, subscription events and the
/// events of other updates is undefined. A backend can report ``updateTaken(_:)`` and ``updateEnded(_:_:)``
/// with a delay. During this delay, the backend can report newer events. A backend can also report
/// ``updateTaken(_:)`` and ``updateEnded(_:_:)`` from a second thread, at the same time as other events.
public enum BackendEvent: Sendable {
    /// The GATT database is registered, and the advertisement is on the air.
    ///
    /// After this event, the host can submit updates to the link.
    ///
    /// After each ``suspended`` event, the backend reports ``published(_:)`` again as soon as the peripheral
    /// is on the air again.
    case published(PublishedPeripheral)

    /// The peripheral is off the air, and its GATT database has been removed.
    ///
    /// If the backend publishes the peripheral again, the backend reports ``published(_:)``.
    ///
    /// The backend also reports ``suspended`` after a publication that fails halfway, because centrals can
    /// already be connected. After ``suspended``, no central is connected and no subscription exists. The
    /// subscriptions of bonded centrals have also ended. The backend does not report separate events for the
    /// ends of these connections and subscriptions. After ``suspended``, the backend no longer reports the
    /// ends of submitted updates.
    case suspended

    /// The state of the peripheral has changed.
    ///
    /// If a backend never reports a state, the framework derives the state from other events. After
    /// ``published(_:)``, the state is that the peripheral is registered and advertises. After ``suspended``,
    /// the state is that the peripheral is not registered and does not advertise.
    case stateChanged(PeripheralState)

    /// The stack has assigned an over-the-air handle to an attribute.
    ///
    /// The attribute is in ``BackendPublication/table``.
    case handleAssigned(AttributeHandle, onAir: AttributeHandle)

    /// The text that the framework preserves for the next run of the backend.
    ///
    /// Each text replaces the previous text.
    ///
    /// In the next run, ``BackendPublication/backendState`` contains this text. The framework does not
    /// preserve text that is longer than 4,096 bytes.
    case backendStateChanged(String)

    /// The duration of an advertisement has elapsed.
    ///
    /// The backend does not restart the advertisement automatically.
    ///
    /// The associated value is the index of the advertisement in the array of advertisements. The host passed
    /// this array in the last call to ``BackendLink/advertise(_:restarting:)``.
    case advertisementEnded(Int)

    /// A central has connected, or a property of a connected central has changed.
    case connected(Central)

    /// A central is no longer connected.
    ///
    /// The subscriptions of the central end with the connection. The backend reports no separate events for
    /// these subscriptions. If the stack preserves the subscriptions of a bonded central, the backend reports
    /// these subscriptions again when the central reconnects.
    case disconnected(Central.ID)

    /// The stack has removed a central and its bond.
    ///
    /// The backend also reports ``forgotten(_:)`` for a central without a bond. Any program on the device can
    /// remove a central.
    case forgotten(Central.ID)

    /// A central has subscribed to a characteristic for the first time or again.
    ///
    /// The stack might not identify every subscriber. All unidentified subscribers count as one subscriber.
    case subscribed(BackendSubscription)

    /// A property of an existing subscription has changed.
    ///
    /// The event ``subscriptionChanged(_:)`` reports a change in the route to the central. The event also
    /// reports a change in the kind of update that the central requests.
    case subscriptionChanged(BackendSubscription)

    /// A central has unsubscribed from the characteristic with this value handle.
    ///
    /// All unidentified centrals count as one subscriber. If the associated central is `nil`, this subscriber
    /// has unsubscribed.
    case unsubscribed(AttributeHandle, by: Central.ID?)

    /// The stack has lost the subscription of a connected central.
    ///
    /// The event identifies the characteristic by its value handle.
    ///
    /// The central did not unsubscribe, but must subscribe again. The framework preserves the durable updates
    /// for the central until the central subscribes again.
    case subscriptionLost(AttributeHandle, by: Central.ID)

    /// The stack has accepted a submitted update, but the update has not yet left the device.
    ///
    /// The backend reports ``updateTaken(_:)`` at most once for an update, before ``updateEnded(_:_:)``. The
    /// backend does not report ``updateTaken(_:)`` for an update that awaits confirmation. After
    /// ``updateTaken(_:)``, the sender of the update resumes. The update still counts as submitted.
    case updateTaken(BackendUpdate.ID)

    /// A submitted update has ended.
    ///
    /// The backend reports ``updateEnded(_:_:)`` exactly once for each update, unless the run of the
    /// peripheral ends first.
    case updateEnded(BackendUpdate.ID, BackendUpdateOutcome)

    /// Several submitted updates have ended.
    ///
    /// The array lists the updates in the order in which they ended. One ``updatesEnded(_:)`` event is
    /// equivalent to one ``updateEnded(_:_:)`` event for each update in the array.
    ///
    /// Senders can wait for room in a queue. The host resumes waiting senders after each event. With
    /// ``updatesEnded(_:)``, the host resumes waiting senders only once for all updates in the array.
    case updatesEnded([(BackendUpdate.ID, BackendUpdateOutcome)])
}

/// The properties that a backend reports after it has published a peripheral.
public struct PublishedPeripheral: Sendable {
    /// The link to the backend.
    public var link: any BackendLink

    /// How the backend determines that an update has left the device.
    ///
    /// ``BackendEvent/updateEnded(_:_:)`` reports that an update has ended.
    public var completionReporting: CompletionReporting

    /// The maximum number of updates that can be in flight to each recipient at the same time.
    ///
    /// The value is at least 1.
    ///
    /// An update is in flight from its submission until ``BackendEvent/updateEnded(_:_:)``. Updates that
    /// await confirmation are not included in the number.
    public var window: Int

    /// The address of the adapter, or `nil` if the stack does not report the address.
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

/// A central's subscription to a characteristic, as reported by a backend.
public struct BackendSubscription: Hashable, Sendable {
    /// The value handle of the characteristic in ``BackendPublication/table``.
    public var characteristic: AttributeHandle

    /// The subscriber, or `nil` if the stack does not identify the subscriber.
    public var central: Central?

    /// The kind of update that the central requests, or `nil` if the stack does not report the kind.
    public var kind: UpdateKind?

    /// Whether the stack can send a non-empty update to this central alone.
    public var isAddressable: Bool

    /// Whether the host submits a single update for all subscribers.
    ///
    /// If the value is `true`, the host submits a single update for all subscribers, even if the stack can
    /// send updates to each subscriber individually.
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
