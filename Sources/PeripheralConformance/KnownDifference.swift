public import Logging
public import PeripheralBlueZModel
public import PeripheralKit
public import PeripheralTesting

/// A scenario that some versions of BlueZ fail, and the expected failure.
///
/// A known difference is also an expectation. On each version of BlueZ in `versions`, the scenario must fail
/// with the expected failure. If the scenario succeeds, or fails with a different error, the run fails.
///
/// The suite therefore skips no scenario, and detects when a known difference is outdated.
public struct KnownDifference: Sendable {
    /// The versions of BlueZ that have a known difference.
    public struct Versions: Hashable, Sendable, CustomStringConvertible {
        let first: BlueZVersion?
        let fixed: BlueZVersion?

        /// All versions.
        public static let all = Versions(first: nil, fixed: nil)

        /// Returns all versions before the given version.
        public static func before(_ version: BlueZVersion) -> Versions {
            Versions(first: nil, fixed: version)
        }

        /// Returns the given version and the later versions.
        ///
        /// If `end` is not `nil`, the result contains only versions before `end`.
        public static func from(_ version: BlueZVersion, before end: BlueZVersion? = nil) -> Versions {
            Versions(first: version, fixed: end)
        }

        /// Returns whether the versions include the given version.
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

    /// The name of the scenario, or a description of the expected behavior if the difference has no scenario.
    public let scenario: String
    /// The versions of BlueZ that fail the scenario.
    public let versions: Versions
    /// The description of the expected error, which is a ``ConformanceFailure`` or an `ATTError`.
    public let failure: String
    /// The reason for the behavior of BlueZ.
    public let reason: String
    /// Whether the known difference can crash bluetoothd, during or after the scenario.
    ///
    /// The backends that imitate BlueZ do not crash.
    public let endsDaemon: Bool

    /// Creates a known difference.
    ///
    /// - Parameters:
    ///   - scenario: The scenario that fails.
    ///   - versions: The versions of BlueZ that fail the scenario.
    ///   - failure: The description of the expected error, which is a ``ConformanceFailure`` or an
    ///     `ATTError`.
    ///   - reason: The reason for the behavior of BlueZ.
    ///   - endsDaemon: Whether the known difference can crash bluetoothd. If `true`, every outcome of the
    ///     scenario counts as the known difference.
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

    /// The known difference that ``CrashTest`` finds.
    ///
    /// No scenario can find the known difference, because a scenario cannot kill its own program.
    public static let killedProgram = KnownDifference(
        of: "a program that is killed while a central writes does not disturb other programs",
        in: .all,
        failure: "bluetoothd may crash",
        reason:
            "bluetoothd removes the services of the killed program while a write is pending. bluetoothd crashed "
            + "after 8 of 42 kills on 5.66, and after 6 of 42 kills on 5.87. A crash ends all connections.",
        endsDaemon: true
    )

    /// The known difference that depends on the order in which bluetoothd reads two messages.
    ///
    /// No scenario shows the known difference in every run.
    public static let hastySubscriber = KnownDifference(
        of: "a central that subscribes and unsubscribes at once is not subscribed",
        in: .all,
        failure: "the central may stay subscribed until it disconnects, and an indication may wait 30 s",
        reason:
            "bluetoothd counts a subscription when it receives the answer to AcquireNotify, and does not "
            + "report an earlier unsubscription.",
        endsDaemon: false
    )
}

extension Scenario {
    /// Runs the scenario once, and expects its known difference, if any, on the given BlueZ version.
    ///
    /// - Parameters:
    ///   - backend: The backend under test.
    ///   - version: The version of BlueZ that the backend uses.
    ///   - differences: The known differences of all versions of BlueZ.
    ///   - logger: The logger that the framework uses.
    ///   - clock: The clock that measures the duration of handlers. The scenario advances the clock. With
    ///     `nil`, the scenario uses real time.
    ///   - makeCentral: Creates a central for the peripheral. The closure `makeCentral` must not connect the
    ///     central.
    /// - Returns: The known difference that occurred, or `nil` if no known difference occurred.
    /// - Throws: ``ConformanceFailure`` if the peripheral does not meet an expectation, or if an expected
    ///   known difference does not occur. The method also throws any other error that stops the scenario.
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
