public import PeripheralCore

/// The validated declaration that a backend publishes, without its handlers.
public struct BackendPublication: Hashable, Sendable {
    /// The name of the peripheral.
    public let name: String

    /// The attributes to register, in order.
    ///
    /// The host and the backend identify attributes by the handles in this table. The backend chooses the
    /// handles on the air, which can differ.
    public let table: AttributeTable

    /// The preferred handles on the air of attributes in ``table``, by their handles in it.
    ///
    /// They are set if the peripheral has a restoration identifier. An attribute returns to where it was
    /// before the program ended; an attribute of ``newServices`` goes where there was none before. A backend
    /// uses these handles if it can, either for a whole service or for none of it. A service that cannot be
    /// there goes where there is room. Attributes that are not listed go after all others.
    public let preservedHandles: [AttributeHandle: AttributeHandle]

    /// The indices of services in ``table`` whose places no central knows yet.
    ///
    /// If another program's services are in the way, the backend moves these services. The gaps between and
    /// after them are room to grow.
    public let newServices: Set<Int>

    /// The last text that the backend reported in an earlier run; empty if there is none.
    ///
    /// ``BackendEvent/backendStateChanged(_:)`` reports it. It is preserved under the restoration identifier.
    /// Without an identifier, it lasts until the process ends, and only one of several concurrent runs
    /// receives it.
    public internal(set) var backendState: String

    /// How many handles to leave free after a service: enough for ten characteristics that notify.
    package static let handleGap = 32

    /// What to advertise, with everything that is derived from the services; at least one advertisement.
    public let advertisements: [Advertisement]

    /// How centrals can pair.
    ///
    /// Questions of the stack go to ``PeripheralHost/answer(_:)``.
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

    /// Returns a copy with another order of services, other preferred handles, and another backend state.
    func placing(
        _ table: AttributeTable,
        at handles: [AttributeHandle: AttributeHandle],
        newServices: Set<Int>,
        backendState: String
    ) -> BackendPublication {
        BackendPublication(
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
