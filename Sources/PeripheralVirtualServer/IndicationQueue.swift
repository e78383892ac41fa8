/// The indications for one connection: one is on the air, until it is confirmed; the others wait (Core
/// Specification, Vol 3, Part F, 3.3.2).
struct IndicationQueue: Sendable {
    /// An indication, and who is told what becomes of it.
    struct Entry: Sendable {
        var delivery: ATTServerState.Delivery
        var completion: @Sendable (VirtualUpdateOutcome) -> Void
        /// Tells the wait for its confirmation from others.
        var number: Int
    }

    /// The one that waits for its confirmation, with the task that gives up on that.
    private(set) var outstanding: Entry?
    private var waiting: [Entry] = []
    private var timer: Task<Void, Never>?

    mutating func append(_ entry: Entry) {
        waiting.append(entry)
    }

    /// The next one that may be sent, if there is one.
    mutating func takeNext() -> Entry? {
        guard outstanding == nil, !waiting.isEmpty else { return nil }
        return waiting.removeFirst()
    }

    /// Waits for the confirmation of an indication that was sent.
    mutating func wait(for entry: Entry, timer: Task<Void, Never>) {
        outstanding = entry
        self.timer = timer
    }

    /// Takes the one that waits for its confirmation.
    mutating func takeOutstanding() -> Entry? {
        timer?.cancel()
        timer = nil
        defer { outstanding = nil }
        return outstanding
    }

    /// Takes all, in their order.
    mutating func takeAll() -> [Entry] {
        defer { waiting = [] }
        return (takeOutstanding().map { [$0] } ?? []) + waiting
    }
}
