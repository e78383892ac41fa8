public import Logging
public import PeripheralKit
public import PeripheralTesting

/// A test of one behavior that every backend must have.
///
/// A scenario consists of a peripheral, the steps that a central performs, and the expected results.
/// Scenarios are independent of each other and of any test framework. A scenario throws an error if the
/// scenario fails.
///
/// ```swift
/// for scenario in ConformanceSuite.scenarios {
///     try await scenario.run(on: .bluez) { peripheral in makeCentral(of: peripheral) }
/// }
/// ```
public struct Scenario: Sendable, CustomStringConvertible {
    /// A phrase that describes the expected behavior.
    public let name: String

    private let make: @Sendable () -> ScenarioRun

    /// Declares a scenario.
    ///
    /// - Parameters:
    ///   - name: A phrase that describes the expected behavior.
    ///   - make: Creates a separate ``ScenarioRun`` for each run. Separate runs must not share recorded
    ///     events.
    public init(_ name: String, _ make: @escaping @Sendable () -> ScenarioRun) {
        self.name = name
        self.make = make
    }

    /// The name.
    public var description: String { name }

    /// Creates the peripheral and the steps of one run.
    public func makeRun() -> ScenarioRun {
        make()
    }

    /// Runs the scenario once.
    ///
    /// - Parameters:
    ///   - backend: The backend under test.
    ///   - logger: The logger that the framework uses.
    ///   - clock: The clock that measures the duration of handlers. The scenario advances the clock. With
    ///     `nil`, the scenario uses the system clock. With the system clock, a scenario takes 4 seconds if
    ///     one of its handlers does not answer.
    ///   - makeCentral: Creates a central for the peripheral. The method calls `makeCentral` when the
    ///     peripheral is on the air. The closure `makeCentral` must not connect the central.
    /// - Throws: ``ConformanceFailure`` if the peripheral does not meet an expectation. The method rethrows
    ///   any error that stops the scenario.
    public func run(
        on backend: some PeripheralBackend,
        logger: Logger = Logger(label: "peripheral"),
        clock: ManualClock? = nil,
        _ makeCentral: @escaping @Sendable (Peripheral) async throws -> any TestCentral
    ) async throws {
        let scenarioRun = makeRun()
        guard let neighbor = scenarioRun.neighbor else {
            return try await run(scenarioRun, on: backend, logger: logger, clock: clock, makeCentral)
        }
        let store = InMemoryRestorationStore()
        try await neighbor.peripheral.run(on: backend, restoringFrom: store, logger: logger) { session in
            try await withThrowingTaskGroup { group in
                group.addTask { try await neighbor.work(session) }
                try await run(scenarioRun, on: backend, logger: logger, clock: clock, makeCentral)
                group.cancelAll()
                do { try await group.waitForAll() } catch is CancellationError {}
            }
        }
    }

    private func run(
        _ scenarioRun: ScenarioRun,
        on backend: some PeripheralBackend,
        logger: Logger,
        clock: ManualClock?,
        _ makeCentral: @escaping @Sendable (Peripheral) async throws -> any TestCentral
    ) async throws {
        let handlerClock: any Clock<Duration> = clock ?? ContinuousClock()
        guard scenarioRun.restarts.isEmpty else {
            return try await scenarioRun.runWithRestarts(on: backend, logger: logger, makeCentral)
        }
        for _ in 0..<scenarioRun.runs {
            try await scenarioRun.peripheral.run(on: backend, logger: logger, clock: handlerClock) {
                session in
                try await scenarioRun.run(makeCentral(scenarioRun.peripheral), session, clock: clock)
            }
        }
    }
}

/// One run of a ``Scenario``.
///
/// The run contains the peripheral under test and the steps of the test.
public struct ScenarioRun: Sendable {
    /// The peripheral under test.
    public let peripheral: Peripheral

    /// The number of successive publications of the peripheral; the body runs during each publication.
    let runs: Int

    /// The peripherals that replace this peripheral in turn, as after restarts of the program.
    var restarts: [Restart] = []

    /// The other program on the same adapter during the scenario.
    var neighbor: Neighbor?

    private let mtu: Int?
    private let body: TimedBody

    /// The steps of the central, with the clock that makes handlers late.
    ///
    /// The clock is `nil` for real time.
    typealias TimedBody =
        @Sendable (_ central: any TestCentral, _ session: PeripheralSession, _ clock: ManualClock?)
        async throws -> Void

    /// Creates a run.
    ///
    /// - Parameters:
    ///   - peripheral: The peripheral under test.
    ///   - mtu: The largest MTU that the central accepts. The run connects the central before the body
    ///     begins. With `nil`, the run does not connect the central.
    ///   - runs: The number of times that the scenario publishes the peripheral. The body runs once during
    ///     each publication.
    ///   - body: The steps of the central. The body throws an error if the peripheral does not meet an
    ///     expectation.
    public init(
        _ peripheral: Peripheral,
        mtu: Int? = 517,
        runs: Int = 1,
        _ body:
            @escaping @Sendable (_ central: any TestCentral, _ session: PeripheralSession) async throws ->
            Void
    ) {
        self.init(timed: peripheral, mtu: mtu, runs: runs) { central, session, _ in
            try await body(central, session)
        }
    }

    /// Creates a run in which handlers are late.
    init(timed peripheral: Peripheral, mtu: Int? = 517, runs: Int = 1, _ body: @escaping TimedBody) {
        self.runs = runs
        self.peripheral = peripheral
        self.mtu = mtu
        self.body = body
    }

    /// Connects the central and runs the body.
    func begin(_ central: any TestCentral, _ session: PeripheralSession) async throws {
        if let mtu { try await central.connect(mtu: mtu) }
        try await body(central, session, nil)
    }

    /// Runs the body with a central.
    ///
    /// Before the run and after the run, the central is not connected.
    ///
    /// - Parameters:
    ///   - central: The central.
    ///   - session: The session of the published peripheral under test.
    ///   - clock: The manual clock of the peripheral. Pass `nil` if the peripheral uses another clock.
    /// - Throws: ``ConformanceFailure`` if the peripheral does not meet an expectation. The method rethrows
    ///   any error that stops the run.
    public func run(
        _ central: any TestCentral,
        _ session: PeripheralSession,
        clock: ManualClock? = nil
    ) async throws {
        do {
            if let mtu { try await central.connect(mtu: mtu) }
            try await body(central, session, clock)
        } catch {
            try? await central.disconnect()
            throw error
        }
        try await central.disconnect()
    }
}

/// The error that a scenario throws if a backend does not meet an expectation.
public struct ConformanceFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The expected behavior and the observed behavior.
    public let description: String

    /// Creates an error that a scenario can throw.
    public init(description: String) {
        self.description = description
    }
}
