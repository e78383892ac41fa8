/// Decides when what has changed is saved: what happens goes in, what is to be done comes out.
///
/// Changes are numbered. What is saved at an instant covers all changes before it; no two saves begin within the interval, unless
/// somebody waits for the second.
struct SavingSchedule {
    /// What is to be done.
    enum Step: Equatable {
        /// Save what is the case now, and tell how it has ended.
        case save
        /// Ask again at this time, or when something has happened.
        case wait(until: Duration)
        /// Ask again when something has happened.
        case rest
        /// All is saved that can be.
        case finish
    }

    /// The time after which what has failed is tried again the first time; it doubles with each time, whatever the interval.
    private static let firstDelay = Duration.seconds(1)
    /// The longest time between two attempts, unless the interval is longer.
    private static let longestDelay = Duration.seconds(60)
    /// The longest time between two saves when somebody waits for the second: a central whose write is to be answered gives up
    /// after some seconds.
    static let longestDemand = Duration.milliseconds(500)

    private let interval: Duration
    /// The number of the last change.
    private(set) var latest: UInt64 = 0
    /// The number of the last change that is saved.
    private(set) var saved: UInt64 = 0
    /// The number of the last change that somebody waits for.
    private var demanded: UInt64 = 0
    /// The number of the last change that is being saved.
    private var saving: UInt64?
    /// When the oldest change came that is not saved.
    private var firstChange: Duration?
    private var lastBeginning: Duration?
    private var failures = 0
    private var isStopping = false
    /// Whether the last attempt was made when nothing more came.
    private var wasLast = false

    init(interval: Duration) {
        self.interval = interval
    }

    /// Takes note of a change.
    mutating func changed(at now: Duration) {
        latest += 1
        if firstChange == nil { firstChange = now }
    }

    /// Takes note that somebody waits for all changes so far to be saved.
    ///
    /// - Returns: The number of the last of them.
    mutating func demand() -> UInt64 {
        demanded = latest
        return latest
    }

    /// Takes note that all is to be saved, and nothing more comes.
    mutating func stop() {
        isStopping = true
    }

    /// What is to be done at this time; when it is to save, the save has begun.
    mutating func next(at now: Duration) -> Step {
        guard saving == nil else { return .rest }
        guard saved < latest else { return isStopping ? .finish : .rest }
        // Once more at the end, and no more: nobody can wait for a store that is broken.
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
            // No shift of more bits than it takes to get there.
            let delay = Self.firstDelay * (1 << min(failures - 1, 16))
            return lastBeginning + max(interval, min(delay, Self.longestDelay))
        }
        return max(earliest, (firstChange ?? now) + interval)
    }

    /// Takes note that what was being saved is.
    mutating func succeeded() {
        saved = max(saved, saving ?? saved)
        saving = nil
        failures = 0
    }

    /// Takes note that it is not; nobody waits any more for what it would have covered.
    ///
    /// - Returns: The number of the last change that it would have covered.
    mutating func failed(at now: Duration) -> UInt64 {
        let attempted = saving ?? saved
        saving = nil
        failures += 1
        if demanded <= attempted { demanded = saved }
        defer { if firstChange == nil { firstChange = now } }
        return attempted
    }
}
