internal import PeripheralCore

/// The present state of a queue.
struct QueueReport {
    var characteristic: AttributeHandle
    /// `nil` for the queue to all subscribers together.
    var central: Central.ID?
    var queued: Int
    var inFlight: Int
    var counters: UpdateCounters

    /// Returns the queues that have been used since their subscriptions began, in the order of their handles.
    static func all(in queues: TransmitQueues) -> [QueueReport] {
        queues.queues.places.compactMap { place in
            let queue = queues.queues[place]
            let queued = queue.entries.count + queues.confirmedTurns.count(of: place)
            let inFlight = queues.updatesInFlight.all.count { $0.queue == place }
            guard queued > 0 || inFlight > 0 || queue.counters != UpdateCounters() else { return nil }
            return QueueReport(
                characteristic: queue.characteristic,
                central: queue.central,
                queued: queued,
                inFlight: inFlight,
                counters: queue.counters
            )
        }
        .inOrder { $0.characteristic.rawValue < $1.characteristic.rawValue }
    }
}

/// The totals of a characteristic, including values to former subscribers.
struct CharacteristicTotal {
    var characteristic: AttributeHandle
    var queued = 0
    var inFlight = 0
    var counters = UpdateCounters()

    /// Returns the characteristics whose queues have been used, in the order of their handles.
    static func all(in queues: TransmitQueues) -> [CharacteristicTotal] {
        var totals = queues.characteristics.map {
            CharacteristicTotal(characteristic: $0.characteristic, counters: $0.past)
        }
        for place in queues.queues.places {
            let queue = queues.queues[place]
            totals[queue.characteristicIndex].queued +=
                queue.entries.count + queues.confirmedTurns.count(of: place)
            totals[queue.characteristicIndex].counters.add(queue.counters)
        }
        for update in queues.updatesInFlight.all where !update.isGivenUp {
            totals[update.characteristicIndex].inFlight += 1
        }
        return totals.filter { $0.queued > 0 || $0.inFlight > 0 || $0.counters != UpdateCounters() }
            .inOrder { $0.characteristic.rawValue < $1.characteristic.rawValue }
    }
}
