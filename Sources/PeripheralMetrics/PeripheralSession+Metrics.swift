#if Metrics
    public import CoreMetrics
    public import PeripheralKit

    extension PeripheralSession {
        /// Reports update metrics to a metrics system until the task is cancelled.
        ///
        /// ```swift
        /// try await peripheral.run(on: .bluez) { session in
        ///     async let _: Void = session.reportMetrics()
        ///     for await beat in sensor.beats {
        ///         try await session.notify(heartRate.measurement, HeartRateMeasurement(bpm: beat.bpm))
        ///     }
        /// }
        /// ```
        ///
        /// The metrics come from ``/PeripheralKit/PeripheralSession/updateTotals``. Each metric has the
        /// dimension `characteristic`, which is a UUID. There is no dimension for centrals, because the
        /// number of addresses of centrals is unlimited.
        ///
        /// | Label | Kind | Meaning |
        /// |---|---|---|
        /// | `peripheral_updates_queued` | meter | values in queues |
        /// | `peripheral_updates_in_flight` | meter | values in flight |
        /// | `peripheral_updates_sent` | counter | values that completed or were confirmed |
        /// | `peripheral_updates_given_up` | counter | values not confirmed, or with unknown completion |
        /// | `peripheral_updates_dropped` | counter | values that were queued but not sent |
        /// | `peripheral_updates_refused` | counter | values refused because a queue was full |
        /// | `peripheral_updates_waits` | counter | calls that waited for room or for their turn |
        /// | `peripheral_updates_longest_wait_seconds` | meter | the longest wait in a queue |
        ///
        /// The method reports immediately, then after each interval, and a last time when the task is
        /// cancelled. At the end, the method sets the meters of queued values and of values in flight to 0.
        /// For each factory, only one call of this method may run at a time. Two simultaneous calls would
        /// count every value twice.
        ///
        /// This method is available with the package trait `Metrics`.
        ///
        /// - Parameters:
        ///   - interval: The time between two reports, at least one second.
        ///   - factory: The factory that creates the metrics. The default is the program's factory.
        ///   - clock: The clock that measures the interval.
        public func reportMetrics(
            every interval: Duration = .seconds(10),
            to factory: any MetricsFactory = MetricsSystem.factory,
            clock: any Clock<Duration> = ContinuousClock()
        ) async {
            var metrics = UpdateMetrics(factory: factory)
            repeat {
                metrics.report(updateTotals)
            } while await clock.hasSlept(for: max(interval, .seconds(1)))
            metrics.report(updateTotals)
            metrics.end()
        }
    }

    extension Clock where Duration == Swift.Duration {
        /// Sleeps and returns whether the full duration has passed.
        fileprivate func hasSlept(for duration: Duration) async -> Bool {
            do {
                try await sleep(for: duration)
                return true
            } catch {
                return false
            }
        }
    }
#endif
