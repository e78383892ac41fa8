internal import PeripheralCore

/// Which indications are outstanding, and which wait for their turn.
///
/// A server sends a central the next indication when the one before is confirmed (Core Specification, Vol 3, Part F,
/// 3.3.2). An indication waits for those before it that reach one of the same centrals, be it only in their turn; for
/// others it does not. A pure value: events in, what is to be sent or has ended out.
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
        var isOutstanding = false
    }

    /// In the order in which they came.
    private var entries: [Entry] = []

    var isEmpty: Bool { entries.isEmpty }

    /// Takes an indication, and gives it back when it may be sent at once.
    ///
    /// - Parameters:
    ///   - update: The indication.
    ///   - centrals: Whom it reaches, as far as is known.
    /// - Returns: The indication, when it may be sent at once.
    mutating func submit(_ update: Update, reaching centrals: [Central.ID]) -> Update? {
        var lanes = centrals.map(Lane.central)
        if update.recipients == .subscribers { lanes.append(.subscribers(update.characteristic)) }
        entries.append(Entry(update: update, lanes: lanes))
        return takeNext().first
    }

    /// Takes note that an indication has ended, and gives those to send next.
    mutating func ended(_ id: Update.ID) -> [Update] {
        guard let index = entries.firstIndex(where: { $0.update.id == id && $0.isOutstanding }) else {
            return []
        }
        entries.remove(at: index)
        return takeNext()
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

    /// Drops all that was meant for a central alone, and tells what that was, and what is to be sent next.
    mutating func disconnected(_ central: Central.ID) -> (dropped: [Update.ID], next: [Update]) {
        let dropped = entries.filter { $0.update.recipients == .central(central) }.map(\.update.id)
        entries.removeAll { $0.update.recipients == .central(central) }
        for index in entries.indices { entries[index].lanes.removeAll { $0 == .central(central) } }
        return (dropped, takeNext())
    }

    private mutating func takeNext() -> [Update] {
        var taken: [Lane] = []
        var next: [Update] = []
        for index in entries.indices {
            let isTaken = entries[index].lanes.contains { taken.contains($0) }
            if !entries[index].isOutstanding, !isTaken {
                entries[index].isOutstanding = true
                next.append(entries[index].update)
            }
            taken += entries[index].lanes
        }
        return next
    }
}
