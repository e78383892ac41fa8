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
            let (queue, indications) = (queues.queues[place], queues.indications { $0.queue == place })
            guard queue.isUsed || indications != (0, 0) else { return nil }
            return QueueReport(
                characteristic: queue.characteristic,
                central: queue.central,
                queued: queue.entries.count + indications.queued,
                inFlight: queue.inFlight + indications.inFlight,
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
        for queue in queues.queues.places.map({ queues.queues[$0] }) where queue.isUsed {
            totals[queue.characteristicIndex].queued += queue.entries.count
            totals[queue.characteristicIndex].counters.add(queue.counters)
        }
        for inFlightUpdate in queues.updatesInFlight.all {
            totals[inFlightUpdate.characteristicIndex].inFlight += 1
        }
        for indication in queues.countedIndications {
            totals[indication.characteristicIndex].queued += indication.isHandedOn ? 0 : 1
            totals[indication.characteristicIndex].inFlight += indication.isHandedOn ? 1 : 0
        }
        return totals.filter { $0.queued > 0 || $0.inFlight > 0 || $0.counters != UpdateCounters() }
            .inOrder { $0.characteristic.rawValue < $1.characteristic.rawValue }
    }
}
