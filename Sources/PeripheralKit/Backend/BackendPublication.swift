public import PeripheralCore

/// The validated declaration that a backend publishes, without its handlers.
public struct BackendPublication: Hashable, Sendable {
    /// The name of the peripheral.
    public let name: String

    /// The attributes to register, in order.
    ///
    /// The host and the backend identify attributes by the handles in this table. The backend chooses the
    /// handles on the air. The handles on the air can differ from the handles in the table.
    public let table: AttributeTable

    /// The preferred handles on the air, by the handles in ``table``.
    ///
    /// The dictionary is empty unless the peripheral has a restoration identifier. The preferred handle of an
    /// earlier attribute is its handle before the program ended. The preferred handle of an attribute in
    /// ``newServices`` was not in use before.
    ///
    /// If possible, a backend uses the preferred handles of a service, either all of them or none. If a
    /// service cannot use its preferred handles, the backend places the service at free handles. Attributes
    /// that the dictionary does not contain follow all other attributes.
    public let preservedHandles: [AttributeHandle: AttributeHandle]

    /// The indices of the services in ``table`` whose handles no central knows yet.
    ///
    /// If the services of another program use these handles, the backend moves the new services. The gaps
    /// between and after the new services are room for later services.
    public let newServices: Set<Int>

    /// The last text that the backend reported in an earlier run; empty if it reported no text.
    ///
    /// The backend reports the text with ``BackendEvent/backendStateChanged(_:)``. The text is preserved
    /// under the restoration identifier. Without an identifier, the text lasts until the process ends, and
    /// only one of several concurrent runs receives the text.
    public internal(set) var backendState: String

    /// The number of handles to leave free after a service.
    ///
    /// The free handles are enough for ten characteristics that notify.
    package static let handleGap = 32

    /// The advertisements to send, including the data that is derived from the services; at least one.
    public let advertisements: [Advertisement]

    /// How centrals can pair.
    ///
    /// The backend passes questions of the stack to ``PeripheralHost/answer(_:)``.
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

    /// Returns a copy with the given order of services, preferred handles, and backend state.
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
