#if Metrics
    public import CoreMetrics
    public import PeripheralKit

    extension PeripheralSession {
        /// Reports what becomes of updates to a metrics system, until the task is cancelled.
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
        /// These are ``/PeripheralKit/PeripheralSession/updateTotals``, each with the dimension `characteristic`, a UUID. There is
        /// none for centrals: their addresses have no bound.
        ///
        /// | Label | Kind | |
        /// |---|---|---|
        /// | `peripheral_updates_queued` | meter | values that wait in queues |
        /// | `peripheral_updates_in_flight` | meter | values on their way |
        /// | `peripheral_updates_sent` | counter | values that have left, or were confirmed |
        /// | `peripheral_updates_given_up` | counter | values of which nobody knows, or that were not confirmed |
        /// | `peripheral_updates_dropped` | counter | values that were queued and not sent |
        /// | `peripheral_updates_refused` | counter | values that found a queue full |
        /// | `peripheral_updates_waits` | counter | calls that have waited for room, or for their turn |
        /// | `peripheral_updates_longest_wait_seconds` | meter | the longest wait in a queue, since the session began |
        ///
        /// It reports at once, at intervals, and when it is cancelled: then for the last time, and that nothing waits any more.
        /// Report only once at a time in a program for each factory: two would count twice.
        ///
        /// It is there with the package's trait `Metrics`.
        ///
        /// - Parameters:
        ///   - interval: The time between two reports; a second at least.
        ///   - factory: What makes the metrics; that of the program, if none is given.
        ///   - clock: What measures the interval.
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
        /// Sleeps, and tells whether that was not cut short.
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
