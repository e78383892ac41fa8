/// Decides when a run sets `Pairable` of its adapter again, after another program or bluetoothd changed it.
///
/// Two programs can want different values. To prevent that they change the adapter without end, a run sets
/// the value only a few times in each period. The run of a peripheral that lets centrals pair may set it more
/// often, so this run prevails. The other run does not need the property, because its agent refuses.
struct PairableCorrections {
    /// The consequence of a change.
    enum Action: Equatable {
        /// Set the value.
        case set(Bool)
        /// Wait for the end of the period.
        case wait
    }

    /// The period in which the number of corrections is limited.
    static let period: Duration = .seconds(10)

    private var value: Bool?
    private var count = 0

    /// Records a new value of the adapter.
    mutating func changed(to value: Bool, wanted: Bool) -> Action? {
        self.value = value
        guard value != wanted else { return nil }
        guard count < Self.limit(for: wanted) else { return .wait }
        count += 1
        return .set(wanted)
    }

    /// Records the end of a period.
    mutating func periodEnded(wanted: Bool) -> Action? {
        count = 0
        return value.flatMap { changed(to: $0, wanted: wanted) }
    }

    /// The shortest `PairableTimeout` is one second.
    private static func limit(for wanted: Bool) -> Int { wanted ? 12 : 3 }
}
