/// The indications of one connection.
///
/// One indication is in flight until the central confirms it; the others wait (Core Specification, Vol 3,
/// Part F, 3.3.2).
struct IndicationQueue: Sendable {
    /// An indication and the handler of its outcome.
    struct Entry: Sendable {
        var delivery: ATTServerState.Delivery
        var completion: @Sendable (VirtualUpdateOutcome) -> Void
        /// Distinguishes the wait for this confirmation from others.
        var number: Int
    }

    /// The indication in flight, with the task that ends the wait for its confirmation.
    private(set) var outstanding: Entry?
    private var waiting: [Entry] = []
    private var timer: Task<Void, Never>?

    mutating func append(_ entry: Entry) {
        waiting.append(entry)
    }

    /// Removes and returns the next indication that may be sent.
    mutating func takeNext() -> Entry? {
        guard outstanding == nil, !waiting.isEmpty else { return nil }
        return waiting.removeFirst()
    }

    /// Waits for the confirmation of an indication that was sent.
    mutating func wait(for entry: Entry, timer: Task<Void, Never>) {
        outstanding = entry
        self.timer = timer
    }

    /// Removes and returns the indication in flight.
    mutating func takeOutstanding() -> Entry? {
        timer?.cancel()
        timer = nil
        defer { outstanding = nil }
        return outstanding
    }

    /// Removes and returns all indications in order.
    mutating func takeAll() -> [Entry] {
        defer { waiting = [] }
        return (takeOutstanding().map { [$0] } ?? []) + waiting
    }
}
