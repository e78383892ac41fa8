#if Metrics
    public import CoreMetrics
    public import PeripheralKit

    extension PeripheralSession {
        /// Reports update statistics to a metrics system until the task is cancelled.
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
        /// The source of the metrics is ``/PeripheralKit/PeripheralSession/updateTotals``. Each metric has
        /// the dimension `characteristic`, whose value is the UUID of a characteristic. The address of a
        /// central is not a dimension of the metrics, because the number of possible addresses is unlimited.
        ///
        /// | Label | Kind | Meaning |
        /// |---|---|---|
        /// | `peripheral_updates_queued` | meter | values and indications that are waiting in queues |
        /// | `peripheral_updates_in_flight` | meter | values that the Bluetooth stack is still sending |
        /// | `peripheral_updates_sent` | counter | values that were sent successfully |
        /// | `peripheral_updates_given_up` | counter | values with an unknown outcome |
        /// | `peripheral_updates_dropped` | counter | values that left a queue without being sent |
        /// | `peripheral_updates_refused` | counter | values that `update` refused because a queue was full |
        /// | `peripheral_updates_waits` | counter | calls that waited for queue space or for an indication |
        /// | `peripheral_updates_longest_wait_seconds` | meter | the longest wait of a value in a queue |
        ///
        /// The method reports metrics when it is called, after each interval, and once more when the task is
        /// cancelled. Before the method returns, the method resets two meters to 0:
        /// `peripheral_updates_queued` and `peripheral_updates_in_flight`. For each metrics factory, make
        /// only one call to `reportMetrics` at a time. If two calls run at the same time, the metrics count
        /// every value twice.
        ///
        /// The method `reportMetrics` requires the package trait `Metrics`.
        ///
        /// - Parameters:
        ///   - interval: The time between two reports, which must be at least one second.
        ///   - factory: The metrics factory that creates the metrics. The default is the global factory of
        ///     swift-metrics.
        ///   - clock: The clock that measures the time between two reports.
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
