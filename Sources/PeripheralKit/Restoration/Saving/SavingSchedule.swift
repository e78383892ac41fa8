/// Decides when changes are saved: events go in, steps come out.
///
/// Changes are numbered. A save covers all changes before it. Two saves do not begin within the interval,
/// unless a call waits for the second.
struct SavingSchedule {
    /// The next step.
    enum Step: Equatable {
        /// The caller must save the present state.
        ///
        /// After the save, the caller must call ``SavingSchedule/succeeded()`` or
        /// ``SavingSchedule/failed(at:)``.
        case save
        /// The caller must call ``SavingSchedule/next(at:)`` again at the given time.
        ///
        /// If an event occurs before the given time, the caller must call ``SavingSchedule/next(at:)``
        /// immediately after the event.
        case wait(until: Duration)
        /// The caller must call ``SavingSchedule/next(at:)`` again when an event has occurred.
        case rest
        /// The caller must stop saving.
        ///
        /// The schedule plans no further saves.
        case finish
    }

    /// The first delay after a failure.
    ///
    /// The delay doubles with each failure, independent of the interval.
    private static let firstDelay = Duration.seconds(1)
    /// The maximum delay between two attempts, unless the interval is longer.
    private static let longestDelay = Duration.seconds(60)
    /// The maximum time between two saves when a call waits for the second.
    ///
    /// A central that waits for the response to a write gives up after some seconds.
    static let longestDemand = Duration.milliseconds(500)

    private let interval: Duration
    /// The number of the last change.
    private(set) var latest: UInt64 = 0
    /// The number of the last saved change.
    private(set) var saved: UInt64 = 0
    /// The number of the last change that a call waits for.
    private var demanded: UInt64 = 0
    /// The number of the last change that is being saved.
    private var saving: UInt64?
    /// The time of the oldest unsaved change.
    private var firstChange: Duration?
    private var lastBeginning: Duration?
    private var failures = 0
    private var isStopping = false
    /// Whether the last attempt was made after the end of all changes.
    private var wasLast = false

    init(interval: Duration) {
        self.interval = interval
    }

    /// Records a change.
    mutating func changed(at now: Duration) {
        latest += 1
        if firstChange == nil { firstChange = now }
    }

    /// Records that a call waits until all changes so far are saved.
    ///
    /// - Returns: The number of the last of these changes.
    mutating func demand() -> UInt64 {
        demanded = latest
        return latest
    }

    /// Records that everything must be saved and that no more changes follow.
    mutating func stop() {
        isStopping = true
    }

    /// Returns the next step at this time.
    ///
    /// If the step is a save, the save has begun.
    mutating func next(at now: Duration) -> Step {
        guard saving == nil else { return .rest }
        guard saved < latest else { return isStopping ? .finish : .rest }
        // There is only one more attempt at the end, because a broken store must not block the end.
        if wasLast, failures > 0 { return .finish }
        let due = isStopping ? now : dueTime(now)
        guard due <= now else { return .wait(until: due) }
        saving = latest
        firstChange = nil
        lastBeginning = now
        wasLast = isStopping
        return .save
    }

    private func dueTime(_ now: Duration) -> Duration {
        if demanded > saved {
            return lastBeginning.map { $0 + min(interval, Self.longestDemand) } ?? now
        }
        let earliest = lastBeginning.map { $0 + interval } ?? now
        if failures > 0, let lastBeginning {
            // The limit prevents a shift by too many bits.
            let delay = Self.firstDelay * (1 << min(failures - 1, 16))
            return lastBeginning + max(interval, min(delay, Self.longestDelay))
        }
        return max(earliest, (firstChange ?? now) + interval)
    }

    /// Records that the save has succeeded.
    mutating func succeeded() {
        saved = max(saved, saving ?? saved)
        saving = nil
        failures = 0
    }

    /// Records that the save has failed.
    ///
    /// Calls no longer wait for the changes of the failed save.
    ///
    /// - Returns: The number of the last change of the failed save.
    mutating func failed(at now: Duration) -> UInt64 {
        let attempted = saving ?? saved
        saving = nil
        failures += 1
        if demanded <= attempted { demanded = saved }
        defer { if firstChange == nil { firstChange = now } }
        return attempted
    }
}
