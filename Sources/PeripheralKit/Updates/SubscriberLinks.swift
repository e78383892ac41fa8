/// The number of values in flight to each subscriber, with its limit, and the maximum length of its updates.
///
/// There are few subscribers, so a linear search is enough.
struct SubscriberLinks {
    private struct Entry {
        let subscriber: TransmitQueues.SubscriberID
        var inFlight = 0
        /// The number of these values that were sent to the subscriber alone.
        var alone = 0
        /// The number of values that may be in flight; `nil` for the usual number.
        var window: Int?
        var maximumLength: Int?
    }

    /// The number of values to a subscriber alone for which there is always room beside values for all.
    private static let ownPlaces = 2

    private var entries: [Entry] = []
    /// The number of values in flight that were sent to single subscribers.
    private var alone = 0

    /// Returns whether one more value may be in flight to a subscriber alone.
    ///
    /// - A value for all together may have left for this subscriber already. Therefore such values do not use
    ///   up all places of the subscriber.
    /// - Twice the usual window is the limit for all single subscribers together. One value is always
    ///   allowed, so that stalled links do not stop the others.
    func hasPlace(for subscriber: TransmitQueues.SubscriberID, in usual: Int) -> Bool {
        guard let index = index(of: subscriber) else { return usual > 0 }
        let (entry, window) = (entries[index], limit(of: subscriber, among: usual))
        return entry.alone < window
            && (entry.alone < Self.ownPlaces || entry.inFlight < window)
            && (entry.alone == 0 || alone < 2 * usual)
    }

    /// Returns whether one more value for all together may be in flight to these subscribers.
    ///
    /// The slowest subscriber sets the pace. The others wait for it, so their windows may be small.
    func hasPlace(forAll subscribers: [TransmitQueues.SubscriberID], in usual: Int) -> Bool {
        let window = subscribers.map { limit(of: $0, among: usual) }.max() ?? usual
        return subscribers.allSatisfy { subscriber in
            (index(of: subscriber).map { entries[$0].inFlight } ?? 0) < window
        }
    }

    private func limit(of subscriber: TransmitQueues.SubscriberID, among usual: Int) -> Int {
        min(index(of: subscriber).flatMap { entries[$0].window } ?? usual, usual)
    }

    /// The length that every central can receive.
    private static let safeLength = 20

    /// Returns the maximum length of an update to all of these subscribers.
    func maximumLength(for subscribers: [TransmitQueues.SubscriberID]) -> Int {
        let lengths = subscribers.lazy.map { subscriber in
            index(of: subscriber).flatMap { entries[$0].maximumLength } ?? Self.safeLength
        }
        return lengths.min() ?? Self.safeLength
    }

    /// Records that a value is in flight to a subscriber, alone or together with others.
    mutating func began(to subscriber: TransmitQueues.SubscriberID, isAlone: Bool) {
        let index = place(of: subscriber)
        entries[index].inFlight += 1
        guard isAlone else { return }
        entries[index].alone += 1
        alone += 1
    }

    /// Records that a value is no longer in flight to a subscriber.
    mutating func ended(to subscriber: TransmitQueues.SubscriberID, isAlone: Bool) {
        guard let index = index(of: subscriber) else { return }
        entries[index].inFlight -= 1
        guard isAlone else { return }
        entries[index].alone -= 1
        alone -= 1
    }

    mutating func setWindow(_ window: Int, for subscriber: TransmitQueues.SubscriberID) {
        entries[place(of: subscriber)].window = window
    }

    mutating func setMaximumLength(_ length: Int, for subscriber: TransmitQueues.SubscriberID) {
        entries[place(of: subscriber)].maximumLength = length
    }

    mutating func remove(_ subscriber: TransmitQueues.SubscriberID) {
        guard let index = index(of: subscriber) else { return }
        alone -= entries.remove(at: index).alone
    }

    mutating func removeAll() {
        (entries, alone) = ([], 0)
    }

    private func index(of subscriber: TransmitQueues.SubscriberID) -> Int? {
        entries.firstIndex { $0.subscriber == subscriber }
    }

    /// Returns the index of a subscriber, and adds the subscriber if necessary.
    private mutating func place(of subscriber: TransmitQueues.SubscriberID) -> Int {
        if let index = index(of: subscriber) { return index }
        entries.append(Entry(subscriber: subscriber))
        return entries.count - 1
    }
}
