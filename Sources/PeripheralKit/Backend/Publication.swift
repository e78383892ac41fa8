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

    /// Where attributes of ``table`` stood on the air before the program ended, by their handles in it.
    ///
    /// A backend puts them there again if it can: all of a service, or nothing of it. What cannot stand there goes where there is
    /// room; what is not named here goes behind all that is.
    public let preservedHandles: [AttributeHandle: AttributeHandle]

    /// What to advertise, with everything that is derived from the services filled in; at least one.
    public let advertisements: [Advertisement]

    /// How centrals may pair; the questions that come up go to ``PeripheralHost/answer(_:)``.
    public let pairing: PairingMethod

    package init(
        name: String,
        table: AttributeTable,
        advertisements: [Advertisement],
        pairing: PairingMethod = .none,
        preservedHandles: [AttributeHandle: AttributeHandle] = [:]
    ) {
        self.name = name
        self.table = table
        self.pairing = pairing
        self.preservedHandles = preservedHandles
        self.advertisements = advertisements
    }

    /// The same, with its attributes where they stood on the air before.
    func preserving(_ handles: [AttributeHandle: AttributeHandle]) -> Publication {
        Publication(
            name: name,
            table: table,
            advertisements: advertisements,
            pairing: pairing,
            preservedHandles: handles
        )
    }
}
