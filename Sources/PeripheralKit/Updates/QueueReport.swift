internal import PeripheralCore

/// The counted updates of a queue, or of all queues of a characteristic.
struct QueueReport {
    var characteristic: AttributeHandle
    /// `nil` for all subscribers together.
    var central: Central.ID?
    var counters: UpdateCounters

    /// Returns the queues that have been used since their subscriptions began, in the order of their handles.
    static func ofEachQueue(in queues: TransmitQueues) -> [QueueReport] {
        used(
            queues.queues.places.map { place in
                let queue = queues.queues[place]
                var report = QueueReport(
                    characteristic: queue.characteristic,
                    central: queue.central,
                    counters: queue.counters
                )
                report.counters.queued = queue.entries.count + queues.confirmedTurns.count(of: place)
                report.counters.inFlight = queues.updatesInFlight.all.count { $0.queue == place }
                return report
            }
        )
    }

    /// Returns the characteristics whose queues have been used, in the order of their handles.
    ///
    /// The numbers include values to former subscribers.
    static func ofEachCharacteristic(in queues: TransmitQueues) -> [QueueReport] {
        var reports = queues.queues.characteristics.map {
            QueueReport(characteristic: $0.characteristic, counters: $0.past)
        }
        for place in queues.queues.places {
            let queue = queues.queues[place]
            reports[queue.characteristicIndex].counters.queued +=
                queue.entries.count + queues.confirmedTurns.count(of: place)
            reports[queue.characteristicIndex].counters.add(queue.counters)
        }
        for update in queues.updatesInFlight.all where !update.isGivenUp {
            reports[update.characteristicIndex].counters.inFlight += 1
        }
        return used(reports)
    }

    private static func used(_ reports: [QueueReport]) -> [QueueReport] {
        reports.filter { $0.counters != UpdateCounters() }
            .inOrder { $0.characteristic.rawValue < $1.characteristic.rawValue }
    }
}
