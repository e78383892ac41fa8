internal import PeripheralCore

/// Which indications are outstanding, and which wait for their turn.
///
/// A server sends a central the next indication when the one before is confirmed (Core Specification, Vol 3, Part F,
/// 3.3.2). An indication waits for those before it that reach one of the same centrals, be it only in their turn; for
/// others it does not. One by whose characteristic a document is being sent to one of them waits until that has ended, and
/// those of other characteristics go meanwhile. A pure value: events in, what is to be sent or has ended out.
struct IndicationQueues {
    /// What only one indication takes at a time.
    private enum Lane: Equatable {
        case central(Central.ID)
        /// That of those who have subscribed to it, whoever they are.
        case subscribers(AttributeHandle)
    }

    private struct Entry {
        var update: Update
        var lanes: [Lane]
        /// When it came, among the others; for a part of a document, when that began.
        var place: UInt64
        var isOfDocument = false
        var isOutstanding = false
        /// Whether it has been handed on, since it is outstanding.
        var hasBegun = false

        /// Whether another is not to come before the end of this one, or of the document that this is a part of.
        func precedes(_ other: Entry) -> Bool {
            place < other.place && sharesWay(with: other)
        }

        func sharesWay(with other: Entry) -> Bool {
            update.characteristic == other.update.characteristic
                && lanes.contains { other.lanes.contains($0) }
        }
    }

    /// In the order in which they came.
    private var entries: [Entry] = []
    private var nextPlace: UInt64 = 0

    var isEmpty: Bool { entries.isEmpty }

    /// Those that may be sent and have not been.
    var due: [Update] { entries.filter { $0.isOutstanding && !$0.hasBegun }.map(\.update) }

    /// Takes an indication, and gives it back when it may be sent at once.
    ///
    /// - Parameters:
    ///   - update: The indication.
    ///   - centrals: Whom it reaches, as far as is known.
    /// - Returns: The indication, when it may be sent at once.
    mutating func submit(_ update: Update, reaching centrals: [Central.ID]) -> Update? {
        submit(makeEntry(update, reaching: centrals))
    }

    /// Takes a part of a document; the next is to come before this one has ended.
    ///
    /// - Returns: The indication, when it may be sent at once.
    mutating func submit(_ part: TransmitQueues.Indication) -> Update? {
        var entry = makeEntry(part.update, reaching: part.centrals)
        entry.isOfDocument = true
        let before = entries.first { $0.isOfDocument && $0.sharesWay(with: entry) }
        if let before, !part.isFirst { entry.place = before.place }
        return submit(entry)
    }

    private mutating func makeEntry(_ update: Update, reaching centrals: [Central.ID]) -> Entry {
        var lanes = centrals.map(Lane.central)
        if update.recipients == .subscribers { lanes.append(.subscribers(update.characteristic)) }
        defer { nextPlace += 1 }
        return Entry(update: update, lanes: lanes, place: nextPlace)
    }

    private mutating func submit(_ entry: Entry) -> Update? {
        entries.append(entry)
        return takeNext().first
    }

    /// Takes note that an indication is being handed on.
    ///
    /// - Returns: Whether it still may be.
    mutating func begin(_ id: Update.ID) -> Bool {
        let index = entries.firstIndex { $0.update.id == id && $0.isOutstanding && !$0.hasBegun }
        guard let index else { return false }
        entries[index].hasBegun = true
        return true
    }

    /// Takes note that an indication has ended, and gives those to send next.
    mutating func ended(_ id: Update.ID) -> [Update] {
        guard let index = entries.firstIndex(where: { $0.update.id == id && $0.isOutstanding }) else {
            return []
        }
        entries.remove(at: index)
        return takeNext()
    }

    /// Whether an indication waits for its turn.
    func isWaiting(_ id: Update.ID) -> Bool {
        entries.contains { $0.update.id == id && !$0.isOutstanding }
    }

    /// Takes an indication back, if it still waits; one that is outstanding keeps its place until it has ended.
    ///
    /// - Returns: Those to send next.
    mutating func withdraw(_ id: Update.ID) -> [Update] {
        guard let index = entries.firstIndex(where: { $0.update.id == id && !$0.isOutstanding }) else {
            return []
        }
        entries.remove(at: index)
        return takeNext()
    }

    /// Takes back what has not been handed on of documents and is not to be any more, and tells what that was, and what is
    /// to be sent next.
    mutating func withdrawDocuments(
        where isOver: (Update.ID) -> Bool
    ) -> (withdrawn: [Update.ID], next: [Update]) {
        let over = entries.filter { $0.isOfDocument && !$0.hasBegun && isOver($0.update.id) }.map(\.update.id)
        guard !over.isEmpty else { return ([], []) }
        entries.removeAll { over.contains($0.update.id) }
        return (over, takeNext())
    }

    /// Drops all that was meant for a central alone, and tells what that was, and what is to be sent next.
    mutating func disconnected(_ central: Central.ID) -> (dropped: [Update.ID], next: [Update]) {
        let dropped = entries.filter { $0.update.recipients == .central(central) }.map(\.update.id)
        entries.removeAll { $0.update.recipients == .central(central) }
        for index in entries.indices { entries[index].lanes.removeAll { $0 == .central(central) } }
        return (dropped, takeNext())
    }

    private mutating func takeNext() -> [Update] {
        // Also by those behind one that has waited for a document.
        var taken = entries.filter(\.isOutstanding).flatMap(\.lanes)
        var next: [Update] = []
        // What waits for a document takes no lane, but nothing of its characteristic overtakes it either.
        var holding = entries.filter(\.isOfDocument)
        for index in entries.indices {
            let entry = entries[index]
            if entry.isOutstanding { continue }
            if holding.contains(where: { $0.precedes(entry) }) {
                holding.append(entry)
                continue
            }
            if !entry.lanes.contains(where: { taken.contains($0) }) {
                entries[index].isOutstanding = true
                next.append(entry.update)
            }
            taken += entry.lanes
        }
        return next
    }
}
