public import Logging

extension Peripheral {
    /// Publishes the peripheral and serves centrals while the body runs.
    ///
    /// ```swift
    /// try await peripheral.run(on: .bluez) { session in
    ///     for await beat in sensor.beats {
    ///         try await heartRate.notify(HeartRateMeasurement(bpm: beat.bpm), in: session)
    ///     }
    /// }
    /// ```
    ///
    /// The body begins after the peripheral is on the air. After the body has returned or thrown an error,
    /// `run` first withdraws the advertisement. Then `run` answers the requests in progress. After all
    /// requests are answered, `run` withdraws the services. Finally, `run` returns, or throws the error of
    /// the body.
    ///
    /// If the calling task is cancelled, `run` cancels the body and the running handlers, and withdraws the
    /// peripheral.
    ///
    /// To shut down gracefully, return from the body. The peripheral answers pending requests before `run`
    /// returns. ``run(on:restoringFrom:savingEvery:logger:_:until:)`` shuts down gracefully when a closure
    /// returns. `run(on:stoppingOn:)` of the module `PeripheralBlueZ` shuts down gracefully on signals such
    /// as `SIGTERM`. The other functions do not change the handling of signals. In a program that uses
    /// swift-service-lifecycle, use `PeripheralService` of the module `PeripheralServiceLifecycle`.
    ///
    /// If the Bluetooth stack stops during a run, a backend such as `.bluez` publishes the peripheral again
    /// as soon as possible. While the Bluetooth stack is not available, the body continues. ``states``
    /// reports each change of the state of the peripheral. If the backend stops with an error, `run` cancels
    /// the body and throws the error of the backend.
    ///
    /// `run` calls ``GATTServiceDeclaration/run(in:)`` for each service. These calls run concurrently with
    /// the body, until the body ends. If ``GATTServiceDeclaration/run(in:)`` of a service throws an error,
    /// `run` cancels the body and throws this error.
    ///
    /// `run` does not return before all handlers have ended. A handler that ignores cancellation delays the
    /// return of `run`.
    ///
    /// The framework and the backend log to `logger` alone. At info level, they log when the peripheral goes
    /// on the air and off the air. At debug level, they log connections, pairing and subscriptions. At trace
    /// level, they log each request and each update, but no values. <doc:Logging> lists the lines, and
    /// describes the limit of their number.
    ///
    /// - Parameters:
    ///   - backend: The backend for a Bluetooth stack, such as `.bluez`.
    ///   - logger: The logger of the run. It also receives problems that the framework cannot report in
    ///     another way, for example a handler error that does not conform to ``ATTErrorConvertible``.
    ///   - body: A closure that performs the work of the program while the peripheral is published.
    /// - Returns: The return value of the body.
    /// - Throws: ``DeclarationError`` if the declaration is invalid. `run` does not publish a peripheral with
    ///   an invalid declaration. ``PeripheralError`` if the backend cannot publish or serve the peripheral.
    ///   If the body or a service throws an error, `run` throws the same error.
    public func run<Output: Sendable>(
        on backend: some PeripheralBackend,
        logger: Logger = Logger(label: "peripheral"),
        _ body: @escaping @Sendable (_ session: PeripheralSession) async throws -> Output
    ) async throws -> Output {
        try await run(on: backend, logger: logger, clock: ContinuousClock(), body)
    }

    /// Publishes and serves the peripheral, and preserves its state in a store.
    ///
    /// Like ``run(on:logger:_:)``, this function publishes and serves the peripheral. This function also
    /// restores and preserves the state of the peripheral.
    ///
    /// If the store throws an error with the code ``RestorationError/Code/inUse`` or
    /// ``RestorationError/Code/invalidIdentifier``, this function throws the error, and the peripheral does
    /// not run. If the store throws an error with a different code, the peripheral runs nevertheless. If the
    /// store cannot be opened, this function keeps trying for 5 seconds before it publishes the peripheral.
    /// ``RestoredState/problems`` and ``SessionEvent/restorationFailed(_:)`` report failures of the store.
    ///
    /// - Parameters:
    ///   - backend: The backend for a Bluetooth stack, such as `.bluez`.
    ///   - store: A store for the preserved state of the peripheral.
    ///   - interval: The minimum time between two saves. Each save contains all changes since the previous
    ///     save. At the end of the run, the framework saves all changes. Some operations wait for a save, for
    ///     example the response to a ``WriteDurability/durable`` write. If an operation waits for a save, the
    ///     framework delays the save by at most half a second.
    ///   - logger: The logger of the run.
    ///   - body: A closure that performs the work of the program while the peripheral is published.
    /// - Returns: The return value of the body.
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/restorationUnavailable`` if the
    ///   peripheral has no restoration identifier. ``RestorationError`` with the code
    ///   ``RestorationError/Code/inUse`` if another peripheral runs with the same identifier.
    ///   ``RestorationError`` with the code ``RestorationError/Code/invalidIdentifier`` if the identifier is
    ///   not valid. This function also throws the errors of ``run(on:logger:_:)``.
    public func run<Output: Sendable>(
        on backend: some PeripheralBackend,
        restoringFrom store: any RestorationStore,
        savingEvery interval: Duration = .milliseconds(500),
        logger: Logger = Logger(label: "peripheral"),
        _ body: @escaping @Sendable (_ session: PeripheralSession) async throws -> Output
    ) async throws -> Output {
        try await run(
            on: backend,
            restoringFrom: store,
            savingEvery: interval,
            logger: logger,
            clock: ContinuousClock(),
            body
        )
    }

    /// Publishes and serves the peripheral with the given clocks.
    ///
    /// `clock` measures how long handlers take. `wallClock` returns the time of day.
    package func run<Output: Sendable>(
        on backend: some PeripheralBackend,
        restoringFrom store: (any RestorationStore)? = nil,
        savingEvery interval: Duration = .milliseconds(500),
        logger: Logger,
        clock: any Clock<Duration>,
        wallClock: @escaping @Sendable () -> Int64 = WallClock.seconds,
        _ body: @escaping @Sendable (_ session: PeripheralSession) async throws -> Output
    ) async throws -> Output {
        let limit = LogLimit(of: logger, after: logHistory, clock: clock)
        defer { limit.end() }
        let logger = limit.limited
        var publication = try publication()
        for warning in validate() {
            logger.warning("\(warning.message)", metadata: ["peripheral.name": "\(name)"])
        }
        var declared = DeclaredState(self, table: publication.table)
        let start = try await restore(declared, from: store, or: backend, logger: logger, Stopwatch(clock))
        if let start {
            (declared, publication) = (start.declared, start.publication(of: publication))
        } else {
            publication.backendState = backendMemory.take()
        }
        let runtime = PeripheralRuntime(
            declared.peripheral,
            publication: publication,
            declared: declared,
            start: start,
            savingEvery: interval,
            clock: clock,
            wallClock: wallClock,
            logger: logger
        )
        // Not a task of the run, because changes are saved even if the run is cancelled.
        let keeper = Task { await runtime.preservation?.keepSaving() }
        // Not a task of the run, because even a cancelled run answers in time until the peripheral is
        // withdrawn.
        let timekeeper = Task { await runtime.runDeadlines() }
        let outcome = await withTaskCancellationHandler {
            await run(runtime, on: backend, body)
        } onCancel: {
            runtime.cancelHandlers()
        }
        await runtime.services.end()
        await runtime.endHandlers()
        // The saving stops after the handlers have ended, so that their changes are saved as well.
        runtime.preservation?.stop()
        await keeper.value
        timekeeper.cancel()
        await timekeeper.value
        runtime.activity.ended()
        if start == nil { backendMemory.keep(runtime.backendState) }
        state.reset()
        runtime.declaration.end()
        return try outcome.get()
    }

    /// Reads the preserved state of this peripheral and passes it to the program.
    ///
    /// - Returns: The start of the restoration; `nil` if the peripheral has no restoration identifier.
    private func restore(
        _ declared: DeclaredState,
        from store: (any RestorationStore)?,
        or backend: some PeripheralBackend,
        logger: Logger,
        _ stopwatch: Stopwatch
    ) async throws -> RestorationStart? {
        guard let restorationIdentifier else {
            if store != nil { throw PeripheralError.noRestorationIdentifier }
            return nil
        }
        // Without its stack, the run ends. It neither complains about the store first, nor moves the hardware
        // in `onRestore`.
        try await backend.checkAvailability()
        guard let store = try store ?? backend.restorationStore else {
            throw PeripheralError.noRestorationStore
        }
        let start = try await RestorationStart(
            of: declared,
            under: restorationIdentifier,
            in: store,
            stopwatch: stopwatch,
            logger: logger
        )
        for problem in start.problems {
            logger.warning(
                problem.logMessage,
                metadata: ["peripheral.reason": "\(problem)", "peripheral.name": "\(name)"]
            )
        }
        do {
            // A cancelled run does not wait for the store, so the state found may be incomplete.
            try Task.checkCancellation()
            if let restored = start.restored { try await restore(restored, logger) }
            try Task.checkCancellation()
        } catch {
            await start.record?.close()
            throw error
        }
        return start
    }

    /// Calls `onRestore`, and logs an error that it throws, because the error itself does not name it.
    private func restore(_ restored: RestoredState, _ logger: Logger) async throws {
        do {
            try await onRestore?(restored)
        } catch {
            if !(error is CancellationError && Task.isCancelled) {
                logger.error(
                    "The closure onRestore threw an error. The run ends with this error, and publishes nothing.",
                    metadata: ["peripheral.error": "\(error)", "peripheral.name": "\(name)"]
                )
            }
            throw error
        }
    }

    private func run<Output: Sendable>(
        _ runtime: PeripheralRuntime,
        on backend: some PeripheralBackend,
        _ body: @escaping @Sendable (_ session: PeripheralSession) async throws -> Output
    ) async -> Result<Output, any Error> {
        // The services begin to retain events before the run starts, so that they miss no event.
        runtime.services.begin(declarations, in: runtime)
        return await withTaskGroup(of: Ending<Output>.self) { group in
            group.addTask { .served(await serve(runtime, on: backend)) }
            group.addTask {
                do {
                    try await runtime.untilPublished()
                    await runtime.examineBonds()
                    return .body(.success(try await runtime.services.work.run(in: runtime, beside: body)))
                } catch {
                    return .body(.failure(error))
                }
            }
            group.addTask {
                await runtime.sendDurableUpdates()
                return .ended
            }
            group.addTask {
                await runtime.keepExaminingBonds()
                return .ended
            }
            group.addTask {
                await runtime.pairingControl.run()
                return .ended
            }
            var result: Result<Output, any Error>?
            var failure: (any Error)?
            while let ending = await group.next() {
                switch ending {
                case .ended:
                    continue
                case .body(let ended):
                    result = ended
                    await runtime.finishSilentProcedures()
                case .served(let error):
                    let isReason = error != nil && !(error is CancellationError)
                    // After the body has ended, an error of the withdrawal matters only if the body failed
                    // because of it.
                    if isReason, result?.isConsequenceOfEnd ?? true { failure = error }
                    // The session stops before the body is cancelled, so that the body finds the session
                    // stopped.
                    runtime.stop()
                    group.cancelAll()
                }
                runtime.stop()
            }
            if let failure { return .failure(failure) }
            return result ?? .failure(CancellationError())
        }
    }

    /// Serves the peripheral with the backend until the backend is stopped or the calling task is cancelled.
    ///
    /// - Returns: The error that ended the backend's work; `nil` if the backend was stopped.
    private func serve(
        _ runtime: PeripheralRuntime,
        on backend: some PeripheralBackend
    ) async -> (any Error)? {
        guard !Task.isCancelled else { return CancellationError() }
        // The backend runs in a separate task. On cancellation, the subscribers are therefore saved before
        // the backend withdraws the services.
        let service = Task { try await backend.serve(runtime.publication, for: runtime) }
        return await withTaskCancellationHandler {
            do {
                try await service.value
                return nil
            } catch {
                return error
            }
        } onCancel: {
            runtime.preservation?.freezeSubscribers()
            service.cancel()
        }
    }

    /// Publishes the peripheral and serves centrals until the calling task is cancelled.
    ///
    /// - Parameters:
    ///   - backend: The backend for a Bluetooth stack, such as `.bluez`.
    ///   - logger: The logger of the run.
    /// - Throws: `CancellationError` if the calling task is cancelled. This function also throws the errors
    ///   of ``run(on:logger:_:)``.
    public func run(
        on backend: some PeripheralBackend,
        logger: Logger = Logger(label: "peripheral")
    ) async throws {
        try await run(on: backend, logger: logger) { _ in
            try await untilCancelled()
        }
    }
}

/// The part of a run that has ended, and its result.
private enum Ending<Output: Sendable>: Sendable {
    case served((any Error)?)
    /// A task that runs concurrently with the body until the session ends.
    case ended
    case body(Result<Output, any Error>)
}

extension Result where Failure == any Error {
    /// Whether the body ended because the peripheral is no longer served.
    fileprivate var isConsequenceOfEnd: Bool {
        guard case .failure(let error) = self else { return false }
        return error.isConsequenceOfEnd
    }
}

extension Error {
    /// Whether this error only reports that the peripheral is no longer served.
    package var isConsequenceOfEnd: Bool {
        self is CancellationError || (self as? PeripheralError)?.code == .stopped
    }
}

/// Waits until the calling task is cancelled.
///
/// - Throws: `CancellationError`, always.
func untilCancelled() async throws {
    let (never, continuation) = AsyncStream.makeStream(of: Never.self)
    for await _ in never {}
    continuation.finish()
    throw CancellationError()
}
