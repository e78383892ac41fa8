public import Logging
public import PeripheralBlueZModel
public import PeripheralKit
public import PeripheralTesting

/// A scenario that some versions of BlueZ fail, and how.
///
/// It is an expectation like any other: a run on such a version fails unless the scenario fails in this very
/// way. So nothing is skipped, and an entry that is no longer true is noticed.
public struct KnownDifference: Sendable {
    /// The versions of BlueZ that a difference is found in.
    public struct Versions: Hashable, Sendable, CustomStringConvertible {
        let first: BlueZVersion?
        let fixed: BlueZVersion?

        /// All versions.
        public static let all = Versions(first: nil, fixed: nil)

        /// The versions before this one.
        public static func before(_ version: BlueZVersion) -> Versions {
            Versions(first: nil, fixed: version)
        }

        /// This version and the later ones, or only those before `end`.
        public static func from(_ version: BlueZVersion, before end: BlueZVersion? = nil) -> Versions {
            Versions(first: version, fixed: end)
        }

        /// Whether a version is one of these.
        public func contains(_ version: BlueZVersion) -> Bool {
            first.map { $0 <= version } ?? true && fixed.map { version < $0 } ?? true
        }

        /// The versions in words, such as `before 5.76`.
        public var description: String {
            switch (first, fixed) {
            case (nil, nil): "all"
            case (nil, let fixed?): "before \(fixed)"
            case (let first?, nil): "from \(first)"
            case (let first?, let fixed?): "from \(first), before \(fixed)"
            }
        }
    }

    /// The name of the scenario, or what else shows the difference.
    public let scenario: String
    /// The versions that fail it.
    public let versions: Versions
    /// How: the description of the error, a ``ConformanceFailure`` or an `ATTError`.
    public let failure: String
    /// Why BlueZ does so.
    public let reason: String
    /// Whether bluetoothd may end by it, at some time or other; what imitates BlueZ does not.
    public let endsDaemon: Bool

    /// Describes a difference.
    ///
    /// - Parameters:
    ///   - scenario: The scenario that fails.
    ///   - versions: The versions that fail it.
    ///   - failure: How: the description of the error, a ``ConformanceFailure`` or an `ATTError`.
    ///   - reason: Why BlueZ does so.
    ///   - endsDaemon: Whether bluetoothd may end by it; then every outcome counts as the difference.
    public init(
        _ scenario: Scenario,
        in versions: Versions,
        failure: String,
        reason: String,
        endsDaemon: Bool = false
    ) {
        self.init(
            of: scenario.name,
            in: versions,
            failure: failure,
            reason: reason,
            endsDaemon: endsDaemon
        )
    }

    private init(of name: String, in versions: Versions, failure: String, reason: String, endsDaemon: Bool) {
        scenario = name
        self.versions = versions
        self.failure = failure
        self.reason = reason
        self.endsDaemon = endsDaemon
    }

    /// What ``KillTrial`` finds, and no scenario can: a scenario runs in the program that would have to be killed.
    public static let killedProgram = KnownDifference(
        of: "a program that is killed while a central writes disturbs nobody",
        in: .all,
        failure: "bluetoothd may crash",
        reason:
            "bluetoothd withdraws the services of the program while a write to them is open, and crashes at times: "
            + "after 8 of 42 kills on 5.66, and 6 of 42 on 5.87. All connections end with it.",
        endsDaemon: true
    )

    /// What no scenario shows each time: it depends on which of two messages bluetoothd takes first.
    public static let hastySubscriber = KnownDifference(
        of: "a central that subscribes and unsubscribes at once is not subscribed",
        in: .all,
        failure: "it may count as subscribed until it leaves, and an indication may wait 30 s for it",
        reason:
            "bluetoothd counts a subscription when it takes the answer to AcquireNotify, and reports no end that comes "
            + "before that.",
        endsDaemon: false
    )
}

extension Scenario {
    /// Runs the scenario once, on a version of BlueZ, with what is known of it taken into account.
    ///
    /// - Parameters:
    ///   - backend: The backend under test.
    ///   - version: The version of BlueZ below it.
    ///   - differences: What is known of all versions.
    ///   - logger: Where the framework logs.
    ///   - clock: What measures how long handlers take, for the scenario to move; `nil` for the time as it
    ///     passes.
    ///   - makeCentral: Makes a central for the peripheral, not yet connected.
    /// - Returns: The difference that was found, where one is known.
    /// - Throws: ``ConformanceFailure`` when something does not hold, or when it does against what is known;
    ///   or whatever stopped the scenario.
    @discardableResult
    public func run(
        on backend: some PeripheralBackend,
        as version: BlueZVersion,
        knowing differences: [KnownDifference] = ConformanceSuite.knownDifferences,
        logger: Logger = Logger(label: "peripheral"),
        clock: ManualClock? = nil,
        _ makeCentral: @escaping @Sendable (Peripheral) async throws -> any TestCentral
    ) async throws -> KnownDifference? {
        let difference = differences.first { $0.scenario == name && $0.versions.contains(version) }
        do {
            try await run(on: backend, logger: logger, clock: clock, makeCentral)
        } catch  where difference?.endsDaemon == true || "\(error)" == difference?.failure {
            return difference
        }
        // A daemon that uses freed memory may end now, later, or not at all.
        guard let difference, !difference.endsDaemon else { return difference }
        throw ConformanceFailure(
            description:
                "BlueZ \(version) is known to differ here, and no longer does. Expected: \(difference.failure)"
        )
    }
}
