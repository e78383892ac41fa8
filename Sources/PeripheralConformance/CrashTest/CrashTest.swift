public import PeripheralTesting

/// A test that repeatedly kills a program while a central uses the program.
///
/// After each start, the test checks the state that the program has restored.
///
/// A crash test checks three rules:
///
/// - Restored state: the program restores a state that existed at one instant shortly before the kill. The
///   restored state contains each change that the program has acknowledged as durable.
/// - Durable characteristic: all entries of the durable characteristic arrive in order.
/// - Second central: the first central creates a second central. The second central connects and disconnects
///   repeatedly. The second central receives each durable value that the program has restored, or has
///   acknowledged to the first central. For each durable value, the second central also receives an entry of
///   the audit characteristic. The second central receives only durable values and the audit entries for
///   durable values.
///
/// ```swift
/// let twin = CrashTestPeripheral()
/// let test = CrashTest(seed: 7, savingEvery: .milliseconds(50))
/// let outcome = await test.run(rounds: 500, of: twin, with: bluez.central(for: twin.peripheral)) {
///     try MyProcess("my-killed-program")
/// }
/// ```
public struct CrashTest: Sendable {
    /// The seed for the random numbers that determine the time of each kill and the actions before the kill.
    public var seed: UInt64

    /// The shortest time between two saves of the program's state.
    public var interval: Duration

    /// The additional time, after ``interval``, within which the program must save a change.
    ///
    /// The tolerance allows for the delays of slow storage and of a busy machine.
    public var tolerance: Duration

    /// The maximum time for which the central normally uses a program before the kill.
    ///
    /// The central uses a few programs for a longer time, to detect changes that are saved too late.
    public var longestUse: Duration

    /// Creates a crash test.
    ///
    /// - Parameters:
    ///   - seed: The seed for the random numbers that determine the time of each kill and the actions before
    ///     the kill.
    ///   - interval: The shortest time between two saves of the program's state.
    ///   - tolerance: The additional time, after `interval`, within which the program must save a change.
    ///   - longestUse: The maximum time for which the central normally uses a program before the kill.
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
        /// The problems that occurred outside the program and that ended a round early.
        public internal(set) var troubles: [String] = []
        /// The ages of the restored states.
        ///
        /// The age of a restored state is the time from the last instant at which the state was current until
        /// the kill.
        public internal(set) var ages: [Duration] = []
        /// The ages of the states that programs restored after a long period of use without durable writes.
        public internal(set) var agesAfterLongUse: [Duration] = []
        /// The number of state changes that took effect.
        public internal(set) var changes = 0
        /// The number of durable updates that the two centrals received.
        public internal(set) var updates = 0
        /// The largest number of durable updates that a central received twice because of one kill.
        public internal(set) var longestRepeat = 0

        /// The number of durable updates that the second central received for values that the first central
        /// wrote.
        public internal(set) var witnessedUpdates = 0

        /// The median of ``agesAfterLongUse``, or `nil` if the array is empty.
        ///
        /// A typical median is half the time between two saves, plus the duration of a save.
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
    ///   - rounds: The number of programs that the test starts and kills.
    ///   - twin: The peripheral whose declaration the central uses to find the characteristics.
    ///   - central: A central that is neither connected nor bonded.
    ///   - start: Starts the program with the state that the previous program has preserved.
    ///   - recover: Eliminates the cause of an error that ended a round early. The closure returns `false` if
    ///     the error counts as a failure.
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
