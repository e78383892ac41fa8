public import Logging
public import PeripheralBlueZModel
public import PeripheralKit
public import PeripheralTesting

/// The expected failure of a scenario on some versions of BlueZ.
///
/// On each version of BlueZ in `versions`, the scenario must fail with the error that `failure` describes.
/// The method ``Scenario/run(on:as:knowing:logger:clock:_:)`` checks this error. If the scenario fails with
/// any other error, the method rethrows the error of the scenario. If the scenario unexpectedly succeeds, the
/// method throws a ``ConformanceFailure``.
///
/// The suite runs every scenario on every version of BlueZ. When a new version of BlueZ behaves correctly,
/// the suite detects that the expected failure no longer occurs.
public struct KnownDifference: Sendable {
    /// The versions of BlueZ on which a scenario fails.
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

    /// The name of the scenario.
    ///
    /// If no scenario tests the behavior, the property `scenario` describes the expected behavior instead.
    public let scenario: String
    /// The versions of BlueZ on which the scenario fails.
    public let versions: Versions
    /// The description of the expected error, which is a ``ConformanceFailure`` or an `ATTError`.
    public let failure: String
    /// The reason for the behavior of BlueZ.
    public let reason: String
    /// Whether bluetoothd can crash during or after the scenario.
    ///
    /// The backends that imitate BlueZ do not crash.
    public let endsDaemon: Bool

    /// Creates an entry for a scenario that fails on some versions of BlueZ.
    ///
    /// - Parameters:
    ///   - scenario: The scenario that fails.
    ///   - versions: The versions of BlueZ on which the scenario fails.
    ///   - failure: The description of the expected error, which is a ``ConformanceFailure`` or an
    ///     `ATTError`.
    ///   - reason: The reason for the behavior of BlueZ.
    ///   - endsDaemon: Whether bluetoothd can crash during or after the scenario. With `true`, the framework
    ///     accepts every result of the scenario.
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

    /// A crash of bluetoothd that ``CrashTest`` can detect.
    ///
    /// To cause the crash, a test must kill the program that runs the peripheral. A scenario cannot cause the
    /// crash, because a scenario runs inside the program that must be killed.
    public static let killedProgram = KnownDifference(
        of: "a program that is killed while a central writes does not affect other programs",
        in: .all,
        failure: "bluetoothd may crash",
        reason:
            "bluetoothd removes the services of the killed program while a write is pending. In tests, bluetoothd "
            + "5.66 crashed after 8 of 42 kills. bluetoothd 5.87 crashed after 6 of 42 kills. A crash ends all "
            + "connections.",
        endsDaemon: true
    )

    /// A subscription that incorrectly remains after the central has unsubscribed.
    ///
    /// The central unsubscribes immediately after it subscribes.
    ///
    /// The error occurs only if bluetoothd reads two messages in a certain order. A scenario cannot control
    /// the order of these messages. The result of the scenario would therefore vary from run to run.
    public static let hastySubscriber = KnownDifference(
        of: "a central that subscribes and immediately unsubscribes is not a subscriber",
        in: .all,
        failure: "the central may stay subscribed until it disconnects, and an indication may wait 30 s",
        reason:
            "bluetoothd counts a subscription only after the program has answered AcquireNotify. If the "
            + "central unsubscribes before this answer, bluetoothd does not report the end of the "
            + "subscription.",
        endsDaemon: false
    )
}

extension Scenario {
    /// Runs the scenario once, and checks the result for the given version of BlueZ.
    ///
    /// If `differences` contains an element for the scenario and the version, the scenario is expected to
    /// fail. A scenario without an expected failure must succeed.
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
    /// - Returns: The element of `differences` for the scenario and the version, or `nil` if there is no such
    ///   element.
    /// - Throws: ``ConformanceFailure`` if the peripheral does not meet an expectation of the scenario. If
    ///   `differences` contains an expected failure for `version` and the scenario succeeds, the method
    ///   throws ``ConformanceFailure``. The method rethrows any unexpected error that stops the scenario.
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
