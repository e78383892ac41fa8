public import Logging
public import PeripheralBlueZModel
public import PeripheralKit
public import PeripheralTesting

/// A scenario that some versions of BlueZ fail, and the expected failure.
///
/// A known difference is also an expectation. On a listed version, the run fails unless the scenario fails in
/// exactly this way. As a result, no scenario is skipped, and an outdated entry is detected.
public struct KnownDifference: Sendable {
    /// The versions of BlueZ that have a difference.
    public struct Versions: Hashable, Sendable, CustomStringConvertible {
        let first: BlueZVersion?
        let fixed: BlueZVersion?

        /// All versions.
        public static let all = Versions(first: nil, fixed: nil)

        /// The versions before this one.
        public static func before(_ version: BlueZVersion) -> Versions {
            Versions(first: nil, fixed: version)
        }

        /// This version and the later versions, or only the versions before `end`.
        public static func from(_ version: BlueZVersion, before end: BlueZVersion? = nil) -> Versions {
            Versions(first: version, fixed: end)
        }

        /// Returns whether a version belongs to these versions.
        public func contains(_ version: BlueZVersion) -> Bool {
            first.map { $0 <= version } ?? true && fixed.map { version < $0 } ?? true
        }

        /// The versions as text, such as `before 5.76`.
        public var description: String {
            switch (first, fixed) {
            case (nil, nil): "all"
            case (nil, let fixed?): "before \(fixed)"
            case (let first?, nil): "from \(first)"
            case (let first?, let fixed?): "from \(first), before \(fixed)"
            }
        }
    }

    /// The name of the scenario, or a description of the check that is not a scenario.
    public let scenario: String
    /// The versions that fail the scenario.
    public let versions: Versions
    /// The description of the expected error, a ``ConformanceFailure`` or an `ATTError`.
    public let failure: String
    /// The reason for the behavior of BlueZ.
    public let reason: String
    /// Whether bluetoothd may crash because of the difference, now or later.
    ///
    /// The backends that imitate BlueZ do not crash.
    public let endsDaemon: Bool

    /// Creates a known difference.
    ///
    /// - Parameters:
    ///   - scenario: The scenario that fails.
    ///   - versions: The versions that fail the scenario.
    ///   - failure: The description of the expected error, a ``ConformanceFailure`` or an `ATTError`.
    ///   - reason: The reason for the behavior of BlueZ.
    ///   - endsDaemon: Whether bluetoothd may crash because of the difference. If so, every outcome counts as
    ///     the difference.
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

    /// The difference that ``CrashTest`` finds.
    ///
    /// A scenario runs in the program that must be killed, so no scenario can find this difference.
    public static let killedProgram = KnownDifference(
        of: "a program that is killed while a central writes disturbs no other",
        in: .all,
        failure: "bluetoothd may crash",
        reason:
            "bluetoothd removes the program's services while a write to them is pending, and sometimes crashes: "
            + "after 8 of 42 kills on 5.66, and 6 of 42 on 5.87. All connections end with it.",
        endsDaemon: true
    )

    /// The difference that depends on which of two messages bluetoothd reads first.
    ///
    /// No scenario shows this difference in every run.
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
    /// Runs the scenario once and takes the known differences of the BlueZ version into account.
    ///
    /// - Parameters:
    ///   - backend: The backend under test.
    ///   - version: The version of BlueZ that the backend uses.
    ///   - differences: The known differences of all versions.
    ///   - logger: The logger of the framework.
    ///   - clock: The clock that measures how long handlers take. The scenario advances this clock. With
    ///     `nil`, real time passes.
    ///   - makeCentral: Creates a central for the peripheral. The central is not yet connected.
    /// - Returns: The known difference that occurred, if any.
    /// - Throws: ``ConformanceFailure`` if an expectation does not hold, or a known difference does not
    ///   occur. Otherwise the error that stopped the scenario.
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
        // A daemon that uses freed memory may crash now, later, or not at all.
        guard let difference, !difference.endsDaemon else { return difference }
        throw ConformanceFailure(
            description:
                "The known difference of BlueZ \(version) no longer occurs. Expected: \(difference.failure)"
        )
    }
}
