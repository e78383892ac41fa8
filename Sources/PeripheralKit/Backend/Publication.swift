public import PeripheralCore

/// What a backend publishes: the validated outcome of a declaration, without its handlers.
public struct Publication: Hashable, Sendable {
    /// The name of the peripheral.
    public let name: String

    /// The attributes to register, in their order.
    ///
    /// The handles in this table name the attributes between host and backend; the handles on the air are the
    /// backend's affair and may differ.
    public let table: AttributeTable

    /// Where attributes of ``table`` are to stand on the air, by their handles in it, when the peripheral has a restoration
    /// identifier: where they stood before the program ended, or, of ``newServices``, where nothing of them was.
    ///
    /// A backend puts them there if it can: all of a service, or nothing of it. What cannot stand there goes where there is
    /// room; what is not named here goes behind all that is.
    public let preservedHandles: [AttributeHandle: AttributeHandle]

    /// The services, by their places in ``table``, of which no central knows yet where they stand.
    ///
    /// Where another program is in the way, these are the ones to move. The gaps between them and behind them are there to grow.
    public let newServices: Set<Int>

    /// What the backend has reported last by ``BackendEvent/backendStateChanged(_:)``, in an earlier run; empty for nothing.
    ///
    /// It is preserved under the restoration identifier. A peripheral without one keeps it until the process ends. Of runs of
    /// such a peripheral at the same time, only one gets it.
    public internal(set) var backendState: String

    /// How many handles are to be left free behind a service: for ten characteristics that notify.
    package static let handleGap = 32

    /// What to advertise, with everything that is derived from the services filled in; at least one.
    public let advertisements: [Advertisement]

    /// How centrals may pair; the questions that come up go to ``PeripheralHost/answer(_:)``.
    public let pairing: PairingMethod

    package init(
        name: String,
        table: AttributeTable,
        advertisements: [Advertisement],
        pairing: PairingMethod = .none,
        preservedHandles: [AttributeHandle: AttributeHandle] = [:],
        newServices: Set<Int> = [],
        backendState: String = ""
    ) {
        self.name = name
        self.table = table
        self.pairing = pairing
        self.preservedHandles = preservedHandles
        self.newServices = newServices
        self.backendState = backendState
        self.advertisements = advertisements
    }

    /// The same with the services in this order, at these handles on the air, and with what the backend has preserved.
    func placing(
        _ table: AttributeTable,
        at handles: [AttributeHandle: AttributeHandle],
        newServices: Set<Int>,
        backendState: String
    ) -> Publication {
        Publication(
            name: name,
            table: table,
            advertisements: advertisements,
            pairing: pairing,
            preservedHandles: handles,
            newServices: newServices,
            backendState: backendState
        )
    }
}
