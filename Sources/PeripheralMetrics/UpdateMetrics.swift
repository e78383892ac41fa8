#if Metrics
    internal import CoreMetrics
    internal import PeripheralCore
    internal import PeripheralKit

    /// The metrics of the updates of a session, and the values already reported.
    struct UpdateMetrics {
        /// The metrics of a characteristic.
        private struct Instruments {
            let queued, inFlight, longestWait: Meter
            let sent, givenUp, dropped, refused, waits: Counter

            init(_ characteristic: BluetoothUUID, factory: any MetricsFactory) {
                let dimensions = [("characteristic", "\(characteristic)")]
                func meter(_ name: String) -> Meter {
                    Meter(label: "peripheral_updates_\(name)", dimensions: dimensions, factory: factory)
                }
                func counter(_ name: String) -> Counter {
                    Counter(label: "peripheral_updates_\(name)", dimensions: dimensions, factory: factory)
                }
                queued = meter("queued")
                inFlight = meter("in_flight")
                longestWait = meter("longest_wait_seconds")
                sent = counter("sent")
                givenUp = counter("given_up")
                dropped = counter("dropped")
                refused = counter("refused")
                waits = counter("waits")
            }
        }

        private let factory: any MetricsFactory
        private var instruments: [BluetoothUUID: Instruments] = [:]
        private var reported: [BluetoothUUID: UpdateCounters] = [:]

        init(factory: any MetricsFactory) {
            self.factory = factory
        }

        /// Reports the current values of meters and the increments of counters.
        mutating func report(_ totals: [UpdateStatistics]) {
            // Several characteristics may have the same UUID.
            var sums: [BluetoothUUID: UpdateCounters] = [:]
            for total in totals { sums[total.characteristic, default: UpdateCounters()].add(total.counters) }
            for (characteristic, sum) in sums {
                let metrics =
                    instruments[characteristic] ?? Instruments(characteristic, factory: factory)
                instruments[characteristic] = metrics
                let before = reported.updateValue(sum, forKey: characteristic) ?? UpdateCounters()
                metrics.queued.set(sum.queued)
                metrics.inFlight.set(sum.inFlight)
                metrics.longestWait.set(sum.longestWait / .seconds(1))
                metrics.sent.increment(by: sum.sent - before.sent)
                metrics.givenUp.increment(by: sum.givenUp - before.givenUp)
                metrics.dropped.increment(by: sum.dropped - before.dropped)
                metrics.refused.increment(by: sum.refused - before.refused)
                metrics.waits.increment(by: sum.waits - before.waits)
            }
        }

        /// Resets the meters `peripheral_updates_queued` and `peripheral_updates_in_flight` to 0.
        ///
        /// No later report would update these meters.
        func end() {
            for metrics in instruments.values {
                metrics.queued.set(0)
                metrics.inFlight.set(0)
            }
        }
    }
#endif
