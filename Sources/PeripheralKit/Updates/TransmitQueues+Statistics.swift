internal import PeripheralCore

extension TransmitQueues {
    /// The present state of a queue.
    struct Report {
        var characteristic: AttributeHandle
        /// `nil` for the queue to all subscribers together.
        var central: Central.ID?
        var queued: Int
        var inFlight: Int
        var counters: UpdateCounters
    }

    /// The queues that have been used since their subscriptions began, in the order of their handles.
    var reports: [Report] {
        lanes.places.compactMap { place in
            let (lane, indications) = (lanes[place], indications { $0.lane == place })
            guard lane.isUsed || indications != (0, 0) else { return nil }
            return Report(
                characteristic: lane.characteristic,
                central: lane.central,
                queued: lane.entries.count + indications.queued,
                inFlight: lane.inFlight + indications.inFlight,
                counters: lane.counters
            )
        }
        .inOrder { $0.characteristic.rawValue < $1.characteristic.rawValue }
    }

    private var usedLanes: [SubscriberQueue] { lanes.places.map { lanes[$0] }.filter(\.isUsed) }

    /// The totals of a characteristic, including values to former subscribers.
    struct Total {
        var characteristic: AttributeHandle
        var queued = 0
        var inFlight = 0
        var counters = UpdateCounters()
    }

    /// The characteristics whose queues have been used, in the order of their handles.
    var totals: [Total] {
        var totals = outlets.map { Total(characteristic: $0.characteristic, counters: $0.past) }
        for lane in usedLanes {
            totals[lane.outlet].queued += lane.entries.count
            totals[lane.outlet].counters.add(lane.counters)
        }
        for flight in flights.all { totals[flight.outlet].inFlight += 1 }
        for indication in countedIndications {
            totals[indication.outlet].queued += indication.isHandedOn ? 0 : 1
            totals[indication.outlet].inFlight += indication.isHandedOn ? 1 : 0
        }
        return totals.filter { $0.queued > 0 || $0.inFlight > 0 || $0.counters != UpdateCounters() }
            .inOrder { $0.characteristic.rawValue < $1.characteristic.rawValue }
    }
}
