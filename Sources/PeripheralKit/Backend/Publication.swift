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

    /// What to advertise, with everything that is derived from the services filled in; at least one.
    public let advertisements: [Advertisement]

    /// How centrals may pair; the questions that come up go to ``PeripheralHost/answer(_:)``.
    public let pairing: PairingMethod

    package init(
        name: String,
        table: AttributeTable,
        advertisements: [Advertisement],
        pairing: PairingMethod = .none
    ) {
        self.name = name
        self.table = table
        self.pairing = pairing
        self.advertisements = advertisements
    }
}
