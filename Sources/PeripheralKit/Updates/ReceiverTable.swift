/// The number of values in flight to each receiver, and the maximum length of its updates.
///
/// There are few receivers, so a linear search is enough.
struct ReceiverTable {
    private struct Entry {
        let receiver: TransmitQueues.Receiver
        var inFlight = 0
        var maximumLength: Int?
    }

    private var entries: [Entry] = []

    /// Returns the number of values in flight to a receiver.
    func inFlight(to receiver: TransmitQueues.Receiver) -> Int {
        index(of: receiver).map { entries[$0].inFlight } ?? 0
    }

    /// The length that every central can receive.
    private static let safeLength = 20

    /// Returns the maximum length of an update to all of these receivers.
    func maximumLength(for receivers: [TransmitQueues.Receiver]) -> Int {
        let lengths = receivers.lazy.map { receiver in
            index(of: receiver).flatMap { entries[$0].maximumLength } ?? Self.safeLength
        }
        return lengths.min() ?? Self.safeLength
    }

    /// Records that a value is in flight to a receiver.
    mutating func began(to receiver: TransmitQueues.Receiver) {
        entries[place(of: receiver)].inFlight += 1
    }

    /// Records that a value is no longer in flight to a receiver.
    mutating func ended(to receiver: TransmitQueues.Receiver) {
        guard let index = index(of: receiver) else { return }
        entries[index].inFlight -= 1
    }

    mutating func setMaximumLength(_ length: Int, for receiver: TransmitQueues.Receiver) {
        entries[place(of: receiver)].maximumLength = length
    }

    mutating func remove(_ receiver: TransmitQueues.Receiver) {
        entries.removeAll { $0.receiver == receiver }
    }

    mutating func removeAll() {
        entries = []
    }

    private func index(of receiver: TransmitQueues.Receiver) -> Int? {
        entries.firstIndex { $0.receiver == receiver }
    }

    /// Returns the index of a receiver, and adds the receiver if necessary.
    private mutating func place(of receiver: TransmitQueues.Receiver) -> Int {
        if let index = index(of: receiver) { return index }
        entries.append(Entry(receiver: receiver))
        return entries.count - 1
    }
}
