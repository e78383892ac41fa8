public import PeripheralCore

/// An event that a backend reports to its ``PeripheralHost``.
///
/// A backend reports connection events and subscription events one after another, in order. A backend can
/// report ``updateTaken(_:)`` and ``updateEnded(_:_:)`` before or after connection events and subscription
/// events. The events of different updates have no fixed order. A backend can report ``updateTaken(_:)`` and
/// ``updateEnded(_:_:)`` with a delay. If the backend delays an event, the backend can report newer events
/// first. A backend can also report ``updateTaken(_:)`` and ``updateEnded(_:_:)`` from a second thread, at
/// the same time as other events.
public enum BackendEvent: Sendable {
    /// The GATT database is registered, and the advertisement is on the air.
    ///
    /// After ``published(_:)``, the host can submit updates to the link.
    ///
    /// When the backend publishes a suspended peripheral, the backend reports another ``published(_:)``
    /// event.
    case published(PublishedPeripheral)

    /// The peripheral no longer advertises, and the GATT database is no longer registered.
    ///
    /// If the backend publishes the peripheral again, the backend reports ``published(_:)``.
    ///
    /// Centrals can connect before a publication is complete. If a publication fails halfway, the backend
    /// therefore reports ``suspended``. After ``suspended``, no central is connected and no subscription
    /// exists. The ``suspended`` event ends the subscriptions of bonded centrals, too. The backend reports no
    /// additional events about the ended connections and subscriptions. After ``suspended``, the backend does
    /// not report ``updateEnded(_:_:)`` for updates that were submitted earlier.
    case suspended

    /// The state of the peripheral has changed.
    ///
    /// If a backend never reports a state, the framework derives the state from other events. The event
    /// ``published(_:)`` implies that the peripheral is registered and advertised. The event ``suspended``
    /// implies that the peripheral is neither registered nor advertised.
    case stateChanged(PeripheralState)

    /// The stack has assigned a handle to an attribute.
    ///
    /// The first associated value is the handle of the attribute in ``BackendPublication/table``. The value
    /// `onAir` is the handle that the stack has assigned.
    case handleAssigned(AttributeHandle, onAir: AttributeHandle)

    /// The backend asks the framework to preserve a text for the next run.
    ///
    /// Each text replaces the previous text.
    ///
    /// In the next run, ``BackendPublication/backendState`` contains this text. The framework does not
    /// preserve text that is longer than 4,096 bytes.
    case backendStateChanged(String)

    /// The stack accepts channels for a listener of ``BackendPublication/listeners``.
    ///
    /// The first associated value is the index of the listener. The second associated value is its PSM. The
    /// backend reports the event for each listener before ``published(_:)``.
    case listening(Int, psm: UInt16)

    /// The ``Advertisement/timeout`` of an advertisement has passed.
    ///
    /// The backend does not restart the advertisement automatically.
    ///
    /// The associated value is the index of the advertisement in the array of current advertisements. Each
    /// call to ``BackendLink/advertise(_:restarting:)`` replaces the array of current advertisements.
    case advertisementEnded(Int)

    /// A central has connected, or a property of a connected central has changed.
    case connected(Central)

    /// A central is no longer connected.
    ///
    /// When a central disconnects, all subscriptions of the central end. The backend does not report
    /// ``unsubscribed(_:by:)`` for these subscriptions. If the stack preserves the subscriptions of a bonded
    /// central, the backend reports these subscriptions again when the central reconnects.
    case disconnected(Central.ID, reason: DisconnectionReason = .unknown)

    /// The stack has removed a central and its bond.
    ///
    /// The backend also reports ``forgotten(_:)`` for a central without a bond. Any program on the device can
    /// remove a central.
    case forgotten(Central.ID)

    /// The bond of a central was removed.
    ///
    /// The associated value describes the central before the removal, connected or not connected. The backend
    /// reports the event in addition to ``forgotten(_:)`` and to changes of the central.
    case bondRemoved(Central)

    /// A central has subscribed to a characteristic.
    ///
    /// The backend reports the event for each new subscription and for each repeated subscription.
    ///
    /// A stack cannot always identify a subscriber. All unidentified subscribers count as one subscriber.
    case subscribed(BackendSubscription)

    /// A property of an existing subscription has changed.
    ///
    /// The changed property is ``BackendSubscription/kind``, ``BackendSubscription/isAddressable`` or
    /// ``BackendSubscription/sharesUpdatesForAll``.
    case subscriptionChanged(BackendSubscription)

    /// A central has unsubscribed from the characteristic with the given value handle.
    ///
    /// All unidentified centrals count as one subscriber. The associated value `nil` stands for all
    /// unidentified centrals.
    case unsubscribed(AttributeHandle, by: Central.ID?)

    /// The stack has lost the subscription of a connected central.
    ///
    /// The event identifies the characteristic by its value handle.
    ///
    /// The central did not unsubscribe, but must subscribe again. The framework preserves the durable updates
    /// for the central until the central subscribes again.
    case subscriptionLost(AttributeHandle, by: Central.ID)

    /// The maximum number of updates in flight to a central has changed.
    ///
    /// The second associated value is the new maximum number. The new maximum number is at least 1, and at
    /// most ``PublishedPeripheral/window``. The new maximum number applies until the central disconnects. A
    /// backend can report a smaller number for a central with a slow link. Then the updates for that central
    /// do not use the room that other links need.
    case windowChanged(Central.ID, Int)

    /// The stack has accepted a submitted update, which has not yet left the device.
    ///
    /// The backend reports ``updateTaken(_:)`` at most once for an update, before ``updateEnded(_:_:)``. The
    /// backend does not report ``updateTaken(_:)`` for an update that awaits confirmation. After
    /// ``updateTaken(_:)``, the task that sends the update can continue. The update remains in flight until
    /// the backend reports ``updateEnded(_:_:)``.
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
    /// Tasks that send updates can wait for space in a queue. After each event, the host resumes the waiting
    /// tasks. The host resumes the waiting tasks one time for each ``updatesEnded(_:)`` event, and not one
    /// time for each update in the array.
    case updatesEnded([(BackendUpdate.ID, BackendUpdateOutcome)])
}

/// The properties that a backend reports after it has published a peripheral.
public struct PublishedPeripheral: Sendable {
    /// The link to the backend.
    public var link: any BackendLink

    /// How the backend determines that an update has left the device.
    ///
    /// The backend reports the end of each update with ``BackendEvent/updateEnded(_:_:)``.
    public var completionReporting: CompletionReporting

    /// The maximum number of updates in flight to each recipient.
    ///
    /// The maximum number is at least 1. ``BackendEvent/windowChanged(_:_:)`` changes the maximum number for
    /// one central. Twice the maximum number is the limit for the updates to single recipients in flight
    /// together. Beyond this limit, each recipient can have one update in flight.
    ///
    /// An update is in flight from its submission until ``BackendEvent/updateEnded(_:_:)``. The maximum
    /// number does not include updates that await confirmation.
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

    /// The number of the subscription.
    ///
    /// Each subscription has a higher number than all earlier subscriptions to the peripheral since the last
    /// publication. A central that subscribes again receives a new number. A changed subscription keeps its
    /// number. The subscription receives an update only if ``BackendUpdate/lastSubscription`` of the update
    /// is at least the number of the subscription.
    public var number: UInt64

    /// The kind of update that the central requests, or `nil` if the kind is unknown.
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
        number: UInt64 = 0,
        kind: UpdateKind? = nil,
        isAddressable: Bool = true,
        sharesUpdatesForAll: Bool = false
    ) {
        self.characteristic = characteristic
        self.central = central
        self.number = number
        self.kind = kind
        self.isAddressable = isAddressable
        self.sharesUpdatesForAll = sharesUpdatesForAll
    }
}
