/// The number of values in flight to each subscriber, with its limit, and the maximum length of its updates.
///
/// There are few subscribers, so a linear search is enough.
struct SubscriberLinks {
    private struct Entry {
        let subscriber: TransmitQueues.SubscriberID
        var inFlight = 0
        /// The number of values that may be in flight; `nil` for the usual number.
        var window: Int?
        var maximumLength: Int?
    }

    private var entries: [Entry] = []
    /// The number of values in flight to all subscribers.
    private(set) var inFlight = 0

    /// Determines whether one more value may be in flight to a subscriber.
    ///
    /// - Parameters:
    ///   - subscriber: The subscriber.
    ///   - window: The usual number of values that may be in flight.
    /// - Returns: Whether there is a place.
    func hasPlace(for subscriber: TransmitQueues.SubscriberID, in window: Int) -> Bool {
        guard let index = index(of: subscriber) else { return window > 0 }
        return entries[index].inFlight < min(entries[index].window ?? window, window)
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

    /// Records that a value is in flight to a subscriber.
    mutating func began(to subscriber: TransmitQueues.SubscriberID) {
        entries[place(of: subscriber)].inFlight += 1
        inFlight += 1
    }

    /// Records that a value is no longer in flight to a subscriber.
    mutating func ended(to subscriber: TransmitQueues.SubscriberID) {
        guard let index = index(of: subscriber) else { return }
        entries[index].inFlight -= 1
        inFlight -= 1
    }

    mutating func setWindow(_ window: Int, for subscriber: TransmitQueues.SubscriberID) {
        entries[place(of: subscriber)].window = window
    }

    mutating func setMaximumLength(_ length: Int, for subscriber: TransmitQueues.SubscriberID) {
        entries[place(of: subscriber)].maximumLength = length
    }

    mutating func remove(_ subscriber: TransmitQueues.SubscriberID) {
        guard let index = index(of: subscriber) else { return }
        inFlight -= entries.remove(at: index).inFlight
    }

    mutating func removeAll() {
        (entries, inFlight) = ([], 0)
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
