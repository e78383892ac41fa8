internal import PeripheralCore

/// Which indication is outstanding for whom, and which wait for their turn.
///
/// A server sends a central the next indication when the one before is confirmed (Core Specification, Vol 3, Part F,
/// 3.3.2). Indications to different centrals do not wait for each other. A pure value: events in, what is to be sent
/// or has ended out.
struct IndicationQueues {
    private struct Queue {
        var outstanding: Update?
        var waiting: [Update] = []
    }

    private var queues: [Update.Recipients: Queue] = [:]

    /// Takes an indication, and gives it back when it may be sent at once.
    mutating func submit(_ update: Update) -> Update? {
        var queue = queues[update.recipients] ?? Queue()
        defer { queues[update.recipients] = queue }
        guard queue.outstanding == nil else {
            queue.waiting.append(update)
            return nil
        }
        queue.outstanding = update
        return update
    }

    /// Takes note that an indication has ended, and gives the next one to send.
    mutating func ended(_ id: Update.ID) -> Update? {
        guard let key = queues.first(where: { $0.value.outstanding?.id == id })?.key,
            var queue = queues.removeValue(forKey: key), !queue.waiting.isEmpty
        else { return nil }
        let next = queue.waiting.removeFirst()
        queue.outstanding = next
        queues[key] = queue
        return next
    }

    /// Takes an indication back, if it still waits; one that is outstanding keeps its place until it has ended.
    mutating func withdraw(_ id: Update.ID) {
        for (key, queue) in queues {
            guard let index = queue.waiting.firstIndex(where: { $0.id == id }) else { continue }
            queues[key]?.waiting.remove(at: index)
            return
        }
    }

    /// Drops all that was meant for a central, and tells what that was.
    mutating func disconnected(_ central: Central.ID) -> [Update.ID] {
        guard let queue = queues.removeValue(forKey: .central(central)) else { return [] }
        return ([queue.outstanding].compactMap(\.self) + queue.waiting).map(\.id)
    }
}
