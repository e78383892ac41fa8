public import PeripheralCore

/// The validated declaration of a peripheral for a backend, without the handlers.
public struct BackendPublication: Hashable, Sendable {
    /// The name of the peripheral.
    public let name: String

    /// The attributes that the backend registers, in order.
    ///
    /// The host and the backend identify each attribute by its handle in this table. For each published
    /// attribute, the backend chooses the handle that centrals use. This handle can differ from the handle in
    /// this table.
    public let table: AttributeTable

    /// The constant user descriptions, by the value handles of their characteristics in ``table``.
    ///
    /// Issues and messages name the characteristics by them.
    package let userDescriptions: [AttributeHandle: String]

    /// The maximum lengths that the declaration states, by the value handles of their characteristics in
    /// ``table``.
    package let maximumLengths: [AttributeHandle: Int]

    /// The preferred on-air handle of each attribute.
    ///
    /// Each key is the handle of an attribute in ``table``. Each value is the handle on the air that the
    /// framework prefers for this attribute.
    ///
    /// The dictionary is empty if the peripheral has no restoration identifier. If an attribute existed in an
    /// earlier run, its preferred handle is the handle from that run. If the service of an attribute is in
    /// ``newServices``, the framework chooses a preferred handle that the peripheral did not use in earlier
    /// runs.
    ///
    /// If possible, a backend registers all attributes of a service at their preferred handles. If any
    /// preferred handle of a service is not available, the backend registers the whole service at free
    /// handles. A service with neither preferred nor pinned handles follows all services with such handles.
    public let preservedHandles: [AttributeHandle: AttributeHandle]

    /// The indices of the services that no central has discovered yet.
    ///
    /// Each index is a position in the list of services of ``table``.
    ///
    /// If a service of another program uses the preferred handles of a new service, the backend moves the new
    /// service. Free handles remain between the new services and after the last new service. The framework
    /// reserves the free handles for services that the program declares in later runs.
    public let newServices: Set<Int>

    /// The last text that the backend reported in an earlier run.
    ///
    /// The text is empty if the backend reported no text.
    ///
    /// A backend reports a text with ``BackendEvent/backendStateChanged(_:)``. The framework preserves the
    /// text under the restoration identifier of the peripheral. If the peripheral has no restoration
    /// identifier, the framework keeps the text only until the process ends. If a peripheral without a
    /// restoration identifier has several concurrent runs, only one run receives the text.
    public internal(set) var backendState: String

    /// The number of handles to leave free after a service.
    ///
    /// The free handles are enough for ten characteristics that notify.
    package static let handleGap = 32

    /// The number of handles that the backend reserves for services that the program adds during the run.
    ///
    /// A backend can ignore the number if its stack needs no reservation.
    public let reservedHandles: Int

    /// One or more advertisements to send.
    ///
    /// Each advertisement includes the data that is derived from the services.
    public let advertisements: [Advertisement]

    /// The listeners for L2CAP channels.
    public let listeners: [BackendListener]

    /// The method by which centrals can pair.
    ///
    /// The backend passes pairing questions from the stack to ``PeripheralHost/answer(_:)``.
    public let pairing: PairingMethod

    /// Whether the program decides about a bonded central that pairs again by Just Works.
    package let asksBeforeReplacingBonds: Bool

    package init(
        name: String,
        table: AttributeTable,
        userDescriptions: [AttributeHandle: String] = [:],
        maximumLengths: [AttributeHandle: Int] = [:],
        advertisements: [Advertisement],
        listeners: [BackendListener] = [],
        pairing: PairingMethod = .none,
        asksBeforeReplacingBonds: Bool = false,
        preservedHandles: [AttributeHandle: AttributeHandle] = [:],
        newServices: Set<Int> = [],
        reservedHandles: Int = 0,
        backendState: String = ""
    ) {
        self.reservedHandles = reservedHandles
        self.name = name
        self.table = table
        self.userDescriptions = userDescriptions
        self.maximumLengths = maximumLengths
        self.listeners = listeners
        self.pairing = pairing
        self.asksBeforeReplacingBonds = asksBeforeReplacingBonds
        self.preservedHandles = preservedHandles
        self.newServices = newServices
        self.backendState = backendState
        self.advertisements = advertisements
    }

    /// Returns a copy with the given order of services, preferred handles, and backend state.
    func placing(
        _ table: AttributeTable,
        userDescriptions: [AttributeHandle: String],
        maximumLengths: [AttributeHandle: Int],
        at handles: [AttributeHandle: AttributeHandle],
        newServices: Set<Int>,
        backendState: String
    ) -> BackendPublication {
        BackendPublication(
            name: name,
            table: table,
            userDescriptions: userDescriptions,
            maximumLengths: maximumLengths,
            advertisements: advertisements,
            listeners: listeners,
            pairing: pairing,
            asksBeforeReplacingBonds: asksBeforeReplacingBonds,
            preservedHandles: handles,
            newServices: newServices,
            reservedHandles: reservedHandles,
            backendState: backendState
        )
    }
}
