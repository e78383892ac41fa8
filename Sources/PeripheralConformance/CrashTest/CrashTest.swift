public import PeripheralTesting

/// A test that repeatedly kills a program while a central uses the program.
///
/// After each start, the test checks the state that the program has restored.
///
/// A crash test checks three rules:
///
/// - Restored state: the restored state is consistent. All values in the restored state were current at the
///   same time, shortly before the test killed the program. If the program has confirmed that a change is
///   saved, the restored state contains the change.
/// - Durable updates: the program sends numbered entries as durable updates. The first central receives all
///   saved entries in order.
/// - Second central: the test creates a second central with the method `makeAnother()` of the first central.
///   The second central repeatedly connects and disconnects. The first central writes durable values. If the
///   program has confirmed the write of a durable value, the second central receives this value. If the
///   program has restored a durable value, the second central receives the restored value. Together with each
///   durable value, the second central receives an update of the audit characteristic. The second central
///   receives no other updates.
///
/// ```swift
/// let twin = CrashTestPeripheral()
/// let test = CrashTest(seed: 7, savingEvery: .milliseconds(50))
/// let outcome = await test.run(rounds: 500, of: twin, with: bluez.central(for: twin.peripheral)) {
///     try MyProcess("my-killed-program")
/// }
/// ```
public struct CrashTest: Sendable {
    /// The seed of the random number generator.
    ///
    /// Random numbers determine the actions in each round, and the time at which the test kills the program.
    public var seed: UInt64

    /// The shortest time between two saves of the program's state.
    public var interval: Duration

    /// The maximum permitted delay of a save.
    ///
    /// The delay begins after ``interval`` has elapsed. Slow storage or a busy machine can delay a save.
    public var tolerance: Duration

    /// The maximum duration of the communication between the central and a program.
    ///
    /// The communication ends when the test kills the program. One round in ten is longer than this maximum.
    /// The longer rounds have a different maximum, which is twice the sum of ``interval`` and ``tolerance``.
    /// The longer rounds detect changes that the program saves too late.
    public var longestUse: Duration

    /// Creates a crash test.
    ///
    /// - Parameters:
    ///   - seed: The seed of the random number generator. Random numbers determine the actions in each round,
    ///     and the time at which the test kills the program.
    ///   - interval: The shortest time between two saves of the program's state.
    ///   - tolerance: The maximum permitted delay of a save. The delay begins after `interval` has elapsed.
    ///   - longestUse: The maximum duration of the communication between the central and a program. The
    ///     communication ends when the test kills the program. One round in ten is longer than this maximum.
    ///     See ``longestUse``.
    public init(
        seed: UInt64,
        savingEvery interval: Duration,
        tolerance: Duration = .seconds(1),
        longestUse: Duration = .milliseconds(300)
    ) {
        self.seed = seed
        self.interval = interval
        self.tolerance = tolerance
        self.longestUse = longestUse
    }

    /// The result of a crash test.
    public struct Outcome: Sendable, CustomStringConvertible {
        /// The number of killed programs.
        public internal(set) var kills = 0
        /// The failed expectations, each with the number of its round.
        public internal(set) var failures: [String] = []
        /// The errors that interrupted a test round and were not caused by the program.
        ///
        /// The test adds an error to this array if the closure `recover` returns `true` for the error. The
        /// errors in this array do not count as failures.
        public internal(set) var troubles: [String] = []
        /// The ages of the restored states.
        ///
        /// If a restored state contains all changes, the age of the restored state is zero. If changes are
        /// missing, the age begins at the first missing change. The age ends when the test kills the program.
        public internal(set) var ages: [Duration] = []
        /// The ages of the restored states in the longer rounds.
        ///
        /// The longer rounds exceed the time ``CrashTest/longestUse``. In the longer rounds, the central
        /// writes no durable values.
        public internal(set) var agesAfterLongUse: [Duration] = []
        /// The number of state changes that took effect.
        public internal(set) var changes = 0
        /// The number of durable updates that the two centrals received.
        public internal(set) var updates = 0
        /// The maximum number of repeated durable updates after one restart.
        ///
        /// After a restart, the program can repeat updates that a central has already received.
        public internal(set) var longestRepeat = 0

        /// The number of durable updates that the second central received.
        ///
        /// The program sends these updates when the first central has written a durable value.
        public internal(set) var witnessedUpdates = 0

        /// The median of ``agesAfterLongUse``, or `nil` if the array is empty.
        ///
        /// The expected value is the sum of two times: half the time between two saves, and the duration of
        /// one save.
        public var typicalAge: Duration? { Self.median(of: agesAfterLongUse) }

        private static func median(of ages: [Duration]) -> Duration? {
            ages.isEmpty ? nil : ages.sorted()[ages.count / 2]
        }

        /// A text summary of the numbers in the outcome.
        public var description: String {
            let median = Self.median(of: ages) ?? .zero
            return
                "\(kills) kills, \(failures.count) failures, \(troubles.count) troubles; \(changes) changes; "
                + "restored states were \(median) old in the median, \(ages.max() ?? .zero) at most, "
                + "\(typicalAge ?? .zero) in the median after long use; "
                + "\(updates) durable updates, \(witnessedUpdates) of them to the second central, "
                + "at most \(longestRepeat) of them twice after a kill"
        }
    }

    /// Runs the crash test.
    ///
    /// - Parameters:
    ///   - rounds: The number of test rounds. In each round, the test starts a program and kills the program.
    ///   - twin: A peripheral with the same declaration as the peripheral in the program. The central uses
    ///     the declaration to find the characteristics.
    ///   - central: A central that is neither connected nor bonded.
    ///   - start: Starts the program with the state that the last killed program has preserved.
    ///   - recover: Handles an error that has interrupted a test round. The closure returns `true` if it has
    ///     eliminated the cause of the error. If the closure returns `false`, the test counts the error as a
    ///     failure.
    /// - Returns: The result. The test ends early after five failures.
    public func run(
        rounds: Int,
        of twin: CrashTestPeripheral,
        with central: any TestCentral,
        start: @escaping @Sendable () async throws -> any KillableProgram,
        recover: @escaping @Sendable (_ error: any Error) async -> Bool = { _ in false }
    ) async -> Outcome {
        let run = CrashTestRun(self, twin, central)
        var generator = SplitMix64(state: seed)
        var round = 1
        while round <= rounds, run.outcome.failures.count < 5, !Task.isCancelled {
            let plan = CrashTestPlan(of: self, round: round, using: &generator)
            do {
                try await run.round(round, plan, in: try await start())
            } catch {
                let isMended = await recover(error)
                await run.giveUp("round \(round), seed \(seed), \(plan): \(error)", isMended: isMended)
            }
            round += 1
        }
        return run.outcome
    }
}

/// The plan for one program.
struct CrashTestPlan: Sendable {
    enum Course {
        /// The test kills the program soon after its start, in any phase of the startup.
        case start
        /// The test kills the program while the central is disconnected.
        case away
        /// The test kills the program while the central uses the program.
        case use
    }

    var course: Course
    /// Whether the program is used for several times as long as the time between two saves.
    var isLong: Bool
    /// How long the program runs after it has reached the planned phase.
    var time: Duration
    /// Whether the second central stays connected after it has received the missed values.
    var keepsWitness: Bool
    /// Whether the central writes durable values and the program sends durable updates.
    var hasDurableWrites: Bool
    var hasEntries: Bool
    var seed: UInt64

    init(of test: CrashTest, round: Int, using generator: inout SplitMix64) {
        // One round in ten has no durable writes, to detect changes that are preserved late.
        isLong = round % 10 == 7
        let number = Int.random(in: 0..<20, using: &generator)
        course = isLong || number >= 5 ? .use : number < 2 ? .start : .away
        let longest = isLong ? (test.interval + test.tolerance) * 2 : test.longestUse
        time = longest * Double.random(in: (isLong ? 0.7 : 0)...1, using: &generator)
        hasDurableWrites = Bool.random(using: &generator) && !isLong
        keepsWitness = Bool.random(using: &generator)
        hasEntries = Bool.random(using: &generator) && !isLong
        seed = generator.next()
    }
}

/// A generator that returns the same numbers for the same seed.
struct SplitMix64: RandomNumberGenerator, Sendable {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
