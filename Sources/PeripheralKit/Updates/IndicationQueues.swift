internal import PeripheralCore

/// The outstanding and the waiting indications.
///
/// A central receives the next indication when it has confirmed the previous indication (Core Specification,
/// Vol 3, Part F, 3.3.2). An indication waits for earlier outstanding or waiting indications that reach one
/// of the same centrals. If a document is being sent to one of these centrals over the same characteristic,
/// the indication waits until the document has ended. Indications of other characteristics are sent
/// meanwhile.
///
/// The queues are a pure value: events in, due and ended indications out.
struct IndicationQueues {
    /// A resource that only one indication uses at a time.
    private enum Lane: Equatable {
        case central(Central.ID)
        /// The queue that all subscribers of a characteristic share.
        case subscribers(AttributeHandle)
    }

    private struct Entry {
        var update: BackendUpdate
        var queues: [Lane]
        /// The position in the order of arrival.
        ///
        /// A part of a document has the position at which the document began.
        var place: UInt64
        var isOfDocument = false
        var isOutstanding = false
        /// Whether an outstanding indication has been handed to the stack.
        var hasBegun = false

        /// Returns whether the other indication must wait for the end of this indication or its document.
        func precedes(_ other: Entry) -> Bool {
            place < other.place && sharesWay(with: other)
        }

        func sharesWay(with other: Entry) -> Bool {
            update.characteristic == other.update.characteristic
                && queues.contains { other.queues.contains($0) }
        }
    }

    /// In the order of arrival.
    private var entries: [Entry] = []
    private var nextPlace: UInt64 = 0

    var isEmpty: Bool { entries.isEmpty }

    /// The indications that may be sent and have not been sent.
    var due: [BackendUpdate] { entries.filter { $0.isOutstanding && !$0.hasBegun }.map(\.update) }

    /// Adds an indication.
    ///
    /// - Parameters:
    ///   - update: The indication.
    ///   - centrals: The centrals that the indication reaches, as far as is known.
    /// - Returns: The indication, if it may be sent at once.
    mutating func submit(_ update: BackendUpdate, reaching centrals: [Central.ID]) -> BackendUpdate? {
        submit(makeEntry(update, reaching: centrals))
    }

    /// Adds a part of a document.
    ///
    /// The next part is added before this part has ended.
    ///
    /// - Returns: The indication, if it may be sent at once.
    mutating func submit(_ part: TransmitQueues.Indication) -> BackendUpdate? {
        var entry = makeEntry(part.update, reaching: part.centrals)
        entry.isOfDocument = true
        let before = entries.first { $0.isOfDocument && $0.sharesWay(with: entry) }
        if let before, !part.isFirst { entry.place = before.place }
        return submit(entry)
    }

    private mutating func makeEntry(_ update: BackendUpdate, reaching centrals: [Central.ID]) -> Entry {
        var queues = centrals.map(Lane.central)
        if update.recipients == .subscribers { queues.append(.subscribers(update.characteristic)) }
        defer { nextPlace += 1 }
        return Entry(update: update, queues: queues, place: nextPlace)
    }

    private mutating func submit(_ entry: Entry) -> BackendUpdate? {
        entries.append(entry)
        return takeNext().first
    }

    /// Records that an indication is being handed to the stack.
    ///
    /// - Returns: Whether the indication may still be sent.
    mutating func begin(_ id: BackendUpdate.ID) -> Bool {
        let index = entries.firstIndex { $0.update.id == id && $0.isOutstanding && !$0.hasBegun }
        guard let index else { return false }
        entries[index].hasBegun = true
        return true
    }

    /// Records that an indication has ended and returns the next indications.
    mutating func ended(_ id: BackendUpdate.ID) -> [BackendUpdate] {
        guard let index = entries.firstIndex(where: { $0.update.id == id && $0.isOutstanding }) else {
            return []
        }
        entries.remove(at: index)
        return takeNext()
    }

    /// Returns whether an indication waits for its turn.
    func isWaiting(_ id: BackendUpdate.ID) -> Bool {
        entries.contains { $0.update.id == id && !$0.isOutstanding }
    }

    /// Withdraws an indication that still waits.
    ///
    /// An outstanding indication keeps its position until it has ended.
    ///
    /// - Returns: The next indications to send.
    mutating func withdraw(_ id: BackendUpdate.ID) -> [BackendUpdate] {
        guard let index = entries.firstIndex(where: { $0.update.id == id && !$0.isOutstanding }) else {
            return []
        }
        entries.remove(at: index)
        return takeNext()
    }

    /// Withdraws the parts of ended documents that have not been handed to the stack.
    ///
    /// - Returns: The withdrawn parts, and the next indications to send.
    mutating func withdrawDocuments(
        where isOver: (BackendUpdate.ID) -> Bool
    ) -> (withdrawn: [BackendUpdate.ID], next: [BackendUpdate]) {
        let over = entries.filter { $0.isOfDocument && !$0.hasBegun && isOver($0.update.id) }.map(\.update.id)
        guard !over.isEmpty else { return ([], []) }
        entries.removeAll { over.contains($0.update.id) }
        return (over, takeNext())
    }

    /// Drops all indications for a single central.
    ///
    /// - Returns: The dropped indications, and the next indications to send.
    mutating func disconnected(_ central: Central.ID) -> (dropped: [BackendUpdate.ID], next: [BackendUpdate])
    {
        let dropped = entries.filter { $0.update.recipients == .central(central) }.map(\.update.id)
        entries.removeAll { $0.update.recipients == .central(central) }
        for index in entries.indices { entries[index].queues.removeAll { $0 == .central(central) } }
        return (dropped, takeNext())
    }

    private mutating func takeNext() -> [BackendUpdate] {
        // The queues include those of indications behind an indication that has waited for a document.
        var taken = entries.filter(\.isOutstanding).flatMap(\.queues)
        var next: [BackendUpdate] = []
        // An indication that waits for a document uses no queue. No later indication of its characteristic
        // overtakes it.
        var holding = entries.filter(\.isOfDocument)
        for index in entries.indices {
            let entry = entries[index]
            if entry.isOutstanding { continue }
            if holding.contains(where: { $0.precedes(entry) }) {
                holding.append(entry)
                continue
            }
            if !entry.queues.contains(where: { taken.contains($0) }) {
                entries[index].isOutstanding = true
                next.append(entry.update)
            }
            taken += entry.queues
        }
        return next
    }
}
