public import PeripheralTesting

/// Kills a program again and again while a central uses it, and judges what each start of it restores.
///
/// What is restored has to have been true at one instant, not long before the kill, and no older than what was acknowledged
/// as durable by then; entries of a durable characteristic have to come in order, with none missing. A second central, which
/// the first one makes, comes and goes: each durable value that was acknowledged to the first one, or restored, has to reach it,
/// with what the program has said of it, and nothing else may.
///
/// ```swift
/// let twin = KillTrialPeripheral()
/// let trial = KillTrial(seed: 7, savingEvery: .milliseconds(50))
/// let outcome = await trial.run(rounds: 500, of: twin, with: bluez.central(for: twin.peripheral)) {
///     try MyProcess("my-killed-program")
/// }
/// ```
public struct KillTrial: Sendable {
    /// What determines the instants of the kills, and what happens until then.
    public var seed: UInt64

    /// The shortest time between two saves, as the program has it.
    public var interval: Duration

    /// How long after that a change has to be preserved at the latest: what the storage takes, and a busy machine.
    public var tolerance: Duration

    /// How long a program is used at most before it is killed; a few are used for as long as it takes to see what is preserved late.
    public var longestUse: Duration

    /// Plans a trial.
    ///
    /// - Parameters:
    ///   - seed: What determines the instants of the kills, and what happens until then.
    ///   - interval: The shortest time between two saves, as the program has it.
    ///   - tolerance: How long after that a change has to be preserved at the latest.
    ///   - longestUse: How long a program is used at most before it is killed, but for a few.
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

    /// What came of a trial.
    public struct Outcome: Sendable, CustomStringConvertible {
        /// How many programs were killed.
        public internal(set) var kills = 0
        /// What did not hold, with the round.
        public internal(set) var failures: [String] = []
        /// What ended a round early that is not the program's fault.
        public internal(set) var troubles: [String] = []
        /// How long before its kill each program's state was last true that its successor has restored.
        public internal(set) var ages: [Duration] = []
        /// Those of programs that were used for long and preserved nothing at once.
        public internal(set) var agesAfterLongUse: [Duration] = []
        /// How many of those programs had saved changes that were made by then.
        public internal(set) var changes = 0
        /// How many durable updates came.
        public internal(set) var updates = 0
        /// How many of them came twice because of one kill, at most.
        public internal(set) var longestRepeat = 0

        /// How many of them came to the second central, of values that the first one has written.
        public internal(set) var witnessedUpdates = 0

        /// The median of ``agesAfterLongUse``: about half the time between two saves, and what one takes; `nil` when there are none.
        public var typicalAge: Duration? { Self.median(of: agesAfterLongUse) }

        private static func median(of ages: [Duration]) -> Duration? {
            ages.isEmpty ? nil : ages.sorted()[ages.count / 2]
        }

        /// The numbers.
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

    /// Runs the trial.
    ///
    /// - Parameters:
    ///   - rounds: How many programs are killed.
    ///   - twin: What the central knows the peripheral by.
    ///   - central: A central, not yet connected, and not bonded.
    ///   - start: Starts the program, with what the one before has left.
    ///   - recover: Mends what an error has shown that ended a round early; `false` when the error is a failure.
    /// - Returns: What came of it. After five failures, it ends.
    public func run(
        rounds: Int,
        of twin: KillTrialPeripheral,
        with central: any TestCentral,
        start: @escaping @Sendable () async throws -> any KillableProgram,
        recover: @escaping @Sendable (_ error: any Error) async -> Bool = { _ in false }
    ) async -> Outcome {
        let run = KillTrialRun(self, twin, central)
        var generator = SplitMix64(state: seed)
        var round = 1
        while round <= rounds, run.outcome.failures.count < 5, !Task.isCancelled {
            let plan = KillTrialPlan(of: self, round: round, using: &generator)
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

/// What happens to one program.
struct KillTrialPlan: Sendable {
    enum Course {
        /// It is killed soon after its start, whatever it has come to.
        case start
        /// It is killed while its central is away.
        case away
        /// It is killed while its central uses it.
        case use
    }

    var course: Course
    /// Whether it is used for several times as long as the time between two saves.
    var isLong: Bool
    /// How long it lives from where its course begins.
    var time: Duration
    /// Whether the second central stays when it has been told what it has missed.
    var keepsWitness: Bool
    /// Whether the central writes what has to be preserved at once, and the program sends what has to be.
    var hasDurableWrites: Bool
    var hasEntries: Bool
    var seed: UInt64

    init(of trial: KillTrial, round: Int, using generator: inout SplitMix64) {
        // One round in ten shows what is preserved late, since nothing in it has to be at once.
        isLong = round % 10 == 7
        let number = Int.random(in: 0..<20, using: &generator)
        course = isLong || number >= 5 ? .use : number < 2 ? .start : .away
        let longest = isLong ? (trial.interval + trial.tolerance) * 2 : trial.longestUse
        time = longest * Double.random(in: (isLong ? 0.7 : 0)...1, using: &generator)
        hasDurableWrites = Bool.random(using: &generator) && !isLong
        keepsWitness = Bool.random(using: &generator)
        hasEntries = Bool.random(using: &generator) && !isLong
        seed = generator.next()
    }
}

/// The same numbers for the same seed.
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
