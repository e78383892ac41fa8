internal import PeripheralCore

extension TransmitQueues {
    /// A queue at this moment.
    struct Report {
        var key: TransmitLane.Key
        var queued: Int
        var inFlight: Int
        var counters: UpdateCounters
    }

    /// The queues that have been used since their subscriptions began, in the order of their handles.
    var reports: [Report] {
        lanes.map { key, lane in
            let inFlight = lane.inFlight
            return Report(key: key, queued: lane.entries.count, inFlight: inFlight, counters: lane.counters)
        }
        .inOrder { $0.key.characteristic.rawValue < $1.key.characteristic.rawValue }
    }

    /// All values of a characteristic, whatever has become of those whom they were for.
    struct Total {
        var characteristic: AttributeHandle
        var queued = 0
        var inFlight = 0
        var counters = UpdateCounters()
    }

    /// The characteristics whose queues have been used, in the order of their handles.
    var totals: [Total] {
        var totals = Dictionary(
            uniqueKeysWithValues: past.map { ($0, Total(characteristic: $0, counters: $1)) }
        )
        for (key, lane) in lanes {
            let characteristic = key.characteristic
            totals[characteristic, default: Total(characteristic: characteristic)].queued +=
                lane.entries.count
            totals[characteristic]?.counters.add(lane.counters)
        }
        for flight in flights.values { totals[flight.characteristic]?.inFlight += 1 }
        return totals.values.inOrder { $0.characteristic.rawValue < $1.characteristic.rawValue }
    }
}
