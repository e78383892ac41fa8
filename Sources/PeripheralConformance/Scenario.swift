public import Logging
public import PeripheralKit
public import PeripheralTesting

/// One thing that every backend has to do in the same way: a peripheral, and what a central finds.
///
/// Scenarios are independent of each other and of any test framework. One fails by throwing.
///
/// ```swift
/// for scenario in ConformanceSuite.scenarios {
///     try await scenario.run(on: .bluez) { peripheral in makeCentral(of: peripheral) }
/// }
/// ```
public struct Scenario: Sendable, CustomStringConvertible {
    /// What has to hold, in one phrase.
    public let name: String

    private let make: @Sendable () -> Trial

    /// Declares a scenario.
    ///
    /// - Parameters:
    ///   - name: What has to hold, in one phrase.
    ///   - make: Makes a trial of its own for each run, so that none sees what another one has recorded.
    public init(_ name: String, _ make: @escaping @Sendable () -> Trial) {
        self.name = name
        self.make = make
    }

    /// The name.
    public var description: String { name }

    /// Makes what is needed for one run.
    public func makeTrial() -> Trial {
        make()
    }

    /// Runs the scenario once.
    ///
    /// - Parameters:
    ///   - backend: The backend under test.
    ///   - logger: Where the framework logs.
    ///   - clock: What measures how long handlers take, for the scenario to move; `nil` for the time as it
    ///     passes. The scenarios of late handlers take 4 seconds then.
    ///   - makeCentral: Makes a central for the peripheral, not yet connected. It is called when the peripheral
    ///     is on the air.
    /// - Throws: ``ConformanceFailure`` when something does not hold, or whatever stopped the scenario.
    public func run(
        on backend: some PeripheralBackend,
        logger: Logger = Logger(label: "peripheral"),
        clock: ManualClock? = nil,
        _ makeCentral: @escaping @Sendable (Peripheral) async throws -> any TestCentral
    ) async throws {
        let trial = makeTrial()
        guard let neighbor = trial.neighbor else {
            return try await run(trial, on: backend, logger: logger, clock: clock, makeCentral)
        }
        try await neighbor.run(on: backend, restoringFrom: InMemoryRestorationStore(), logger: logger) { _ in
            try await run(trial, on: backend, logger: logger, clock: clock, makeCentral)
        }
    }

    private func run(
        _ trial: Trial,
        on backend: some PeripheralBackend,
        logger: Logger,
        clock: ManualClock?,
        _ makeCentral: @escaping @Sendable (Peripheral) async throws -> any TestCentral
    ) async throws {
        let handlerClock: any Clock<Duration> = clock ?? ContinuousClock()
        guard trial.restarts.isEmpty else {
            return try await trial.runWithRestarts(on: backend, logger: logger, makeCentral)
        }
        for _ in 0..<trial.runs {
            try await trial.peripheral.run(on: backend, logger: logger, clock: handlerClock) { session in
                try await trial.run(makeCentral(trial.peripheral), session, clock: clock)
            }
        }
    }
}

/// What one run of a ``Scenario`` needs.
public struct Trial: Sendable {
    /// The peripheral under test.
    public let peripheral: Peripheral

    /// How many times the peripheral is published, one after the other; the body sees each time.
    let runs: Int

    /// The peripherals that follow, each in place of the one before, as if the program had been started anew.
    var restarts: [Restart] = []

    /// What another program publishes all the while, on the same adapter; it has a restoration identifier.
    var neighbor: Peripheral?

    private let mtu: Int?
    private let body: TimedBody

    /// What the central does, with the clock by which handlers are late; `nil` where the time passes by itself.
    typealias TimedBody =
        @Sendable (_ central: any TestCentral, _ session: PeripheralSession, _ clock: ManualClock?)
        async throws -> Void

    /// Makes a trial.
    ///
    /// - Parameters:
    ///   - peripheral: The peripheral under test.
    ///   - mtu: The largest packet that the central takes, which is connected when the body begins; or `nil`
    ///     for a central that is not connected.
    ///   - runs: How many times the peripheral is published, one after the other; the body sees each time.
    ///   - body: What the central does; throws when something does not hold.
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

    /// Makes a trial in which handlers are late.
    init(timed peripheral: Peripheral, mtu: Int? = 517, runs: Int = 1, _ body: @escaping TimedBody) {
        self.runs = runs
        self.peripheral = peripheral
        self.mtu = mtu
        self.body = body
    }

    /// Connects the central, and runs the body.
    func begin(_ central: any TestCentral, _ session: PeripheralSession) async throws {
        if let mtu { try await central.connect(mtu: mtu) }
        try await body(central, session, nil)
    }

    /// Runs the body with a central that is not connected, and leaves it so.
    ///
    /// - Parameters:
    ///   - central: The central.
    ///   - session: The peripheral under test, which is published.
    ///   - clock: The clock that the peripheral runs on; `nil` when that is no manual one.
    /// - Throws: ``ConformanceFailure`` when something does not hold, or whatever stopped the trial.
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

/// Something that has to hold does not.
public struct ConformanceFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was expected, and what came.
    public let description: String

    /// Makes an error for a scenario to throw.
    public init(description: String) {
        self.description = description
    }
}
