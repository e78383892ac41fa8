public import Logging

extension Peripheral {
    /// Publishes the peripheral, and serves it while the body runs.
    ///
    /// ```swift
    /// try await peripheral.run(on: .bluez) { session in
    ///     for await beat in sensor.beats {
    ///         try await session.notify(heartRate.measurement, HeartRateMeasurement(bpm: beat.bpm))
    ///     }
    /// }
    /// ```
    ///
    /// The body begins when the peripheral is on the air. When it ends, the advertisement is withdrawn,
    /// requests in progress are answered, the services are withdrawn, and the call returns. The same happens
    /// when the body throws. When the calling task is cancelled, so are the body and the handlers in progress,
    /// and the peripheral is withdrawn as well.
    ///
    /// When the stack below goes away, a backend such as `.bluez` publishes the peripheral again as soon as it can,
    /// while the body goes on; ``states`` tells. When the backend gives up, the body is cancelled and the backend's
    /// error is thrown.
    ///
    /// The call does not return while a handler runs: handlers that do not heed cancellation hold it up.
    ///
    /// - Parameters:
    ///   - backend: The Bluetooth stack, such as `.bluez`.
    ///   - logger: Where the framework tells what cannot be told otherwise, such as errors of handlers that
    ///     mean nothing to a central.
    ///   - body: What the program does with the published peripheral.
    /// - Returns: What the body returns.
    /// - Throws: ``DeclarationError`` when the declaration is invalid, before anything is published;
    ///   ``PeripheralError`` when the peripheral cannot be published or served; otherwise what the body throws.
    public func run<Output: Sendable>(
        on backend: some PeripheralBackend,
        logger: Logger = Logger(label: "peripheral"),
        _ body: @escaping @Sendable (_ session: PeripheralSession) async throws -> Output
    ) async throws -> Output {
        try await run(on: backend, logger: logger, clock: ContinuousClock(), body)
    }

    /// Publishes and serves as ``run(on:logger:_:)`` does, with the clock that measures how long a handler may
    /// take.
    package func run<Output: Sendable>(
        on backend: some PeripheralBackend,
        logger: Logger,
        clock: any Clock<Duration>,
        _ body: @escaping @Sendable (_ session: PeripheralSession) async throws -> Output
    ) async throws -> Output {
        let publication = try publication()
        for warning in validate() {
            logger.warning("\(warning)", metadata: ["peripheral.name": "\(name)"])
        }
        let runtime = PeripheralRuntime(self, publication: publication, clock: clock, logger: logger)
        // Apart from the run's own tasks: also a run that is cancelled answers in time until it is withdrawn.
        let timekeeper = Task { await runtime.keepTime() }
        let outcome = await withTaskCancellationHandler {
            await run(runtime, on: backend, body)
        } onCancel: {
            runtime.cancelHandlers()
        }
        await runtime.endHandlers()
        timekeeper.cancel()
        await timekeeper.value
        state.set(.initial)
        return try outcome.get()
    }

    private func run<Output: Sendable>(
        _ runtime: PeripheralRuntime,
        on backend: some PeripheralBackend,
        _ body: @escaping @Sendable (_ session: PeripheralSession) async throws -> Output
    ) async -> Result<Output, any Error> {
        await withTaskGroup(of: Ending<Output>.self) { group in
            group.addTask {
                do {
                    try await backend.serve(runtime.publication, for: runtime)
                    return .served(nil)
                } catch {
                    return .served(error)
                }
            }
            group.addTask {
                do {
                    try await runtime.untilPublished()
                    return .body(.success(try await body(PeripheralSession(runtime: runtime))))
                } catch {
                    return .body(.failure(error))
                }
            }
            var result: Result<Output, any Error>?
            var failure: (any Error)?
            while let ending = await group.next() {
                switch ending {
                case .body(let ended):
                    result = ended
                case .served(let error):
                    let isReason = error != nil && !(error is CancellationError)
                    // A failure of the withdrawal changes nothing any more, unless it is why the body has failed.
                    if isReason, result?.isConsequenceOfEnd ?? true { failure = error }
                    group.cancelAll()
                }
                runtime.stop()
            }
            if let failure { return .failure(failure) }
            return result ?? .failure(CancellationError())
        }
    }

    /// Publishes the peripheral, and serves it until the calling task is cancelled.
    ///
    /// - Parameters:
    ///   - backend: The Bluetooth stack, such as `.bluez`.
    ///   - logger: Where the framework tells what cannot be told otherwise.
    /// - Throws: `CancellationError` when cancelled, and as ``run(on:logger:_:)`` does.
    public func run(
        on backend: some PeripheralBackend,
        logger: Logger = Logger(label: "peripheral")
    ) async throws {
        try await run(on: backend, logger: logger) { _ in
            try await untilCancelled()
        }
    }
}

/// Which part of a run has ended, and how.
private enum Ending<Output: Sendable>: Sendable {
    case served((any Error)?)
    case body(Result<Output, any Error>)
}

extension Result where Failure == any Error {
    /// Whether this is what a body ends with when the peripheral is gone below it.
    fileprivate var isConsequenceOfEnd: Bool {
        guard case .failure(let error) = self else { return false }
        return error is CancellationError || (error as? PeripheralError)?.code == .stopped
    }
}

private func untilCancelled() async throws {
    let (never, continuation) = AsyncStream.makeStream(of: Never.self)
    for await _ in never {}
    continuation.finish()
    throw CancellationError()
}
