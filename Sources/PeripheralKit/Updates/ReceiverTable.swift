/// What is on its way to each receiver, and how much each can get at a time.
///
/// There are few, so that it looks through them.
struct ReceiverTable {
    private struct Entry {
        let receiver: TransmitQueues.Receiver
        var inFlight = 0
        var maximumLength: Int?
    }

    private var entries: [Entry] = []

    /// How many values are on their way to a receiver.
    func inFlight(to receiver: TransmitQueues.Receiver) -> Int {
        index(of: receiver).map { entries[$0].inFlight } ?? 0
    }

    /// Every central gets that much.
    private static let safeLength = 20

    /// How long an update to all of them may be.
    func maximumLength(for receivers: [TransmitQueues.Receiver]) -> Int {
        let lengths = receivers.lazy.map { receiver in
            index(of: receiver).flatMap { entries[$0].maximumLength } ?? Self.safeLength
        }
        return lengths.min() ?? Self.safeLength
    }

    /// Takes note that a value is on its way to a receiver.
    mutating func began(to receiver: TransmitQueues.Receiver) {
        entries[place(of: receiver)].inFlight += 1
    }

    /// Takes note that a value is no longer on its way to a receiver.
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

    /// Where a receiver stands, which is made to when it does not.
    private mutating func place(of receiver: TransmitQueues.Receiver) -> Int {
        if let index = index(of: receiver) { return index }
        entries.append(Entry(receiver: receiver))
        return entries.count - 1
    }
}
