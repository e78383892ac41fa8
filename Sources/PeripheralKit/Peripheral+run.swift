public import Logging

extension Peripheral {
    /// Publishes the peripheral and serves it while the body runs.
    ///
    /// ```swift
    /// try await peripheral.run(on: .bluez) { session in
    ///     for await beat in sensor.beats {
    ///         try await heartRate.notify(HeartRateMeasurement(bpm: beat.bpm), in: session)
    ///     }
    /// }
    /// ```
    ///
    /// The body begins when the peripheral is on the air. When the body returns or throws, the call:
    ///
    /// 1. withdraws the advertisement,
    /// 2. answers the requests in progress,
    /// 3. withdraws the services, and
    /// 4. returns, or throws the body's error.
    ///
    /// Cancelling the calling task cancels the body and the running handlers, and withdraws the peripheral.
    ///
    /// To shut down gracefully at `SIGTERM`, return from the body: pending requests are answered first. The
    /// framework does not handle signals. `PeripheralService` of `PeripheralServiceLifecycle` ends the body
    /// at a graceful shutdown; `OneThread.arrivals(of:)` of `PeripheralOneThread` reports signals.
    ///
    /// When the Bluetooth stack disappears, a backend such as `.bluez` publishes the peripheral again as soon
    /// as possible. The body continues meanwhile, and ``states`` reports the changes. When the backend gives
    /// up, the body is cancelled and the call throws the backend's error.
    ///
    /// ``GATTServiceDeclaration/run(in:)`` of each service runs concurrently with the body, until the body
    /// ends. An error that a service throws ends the body, and the call throws it.
    ///
    /// The call does not return while a handler runs. A handler that ignores cancellation delays it.
    ///
    /// Centrals cannot flood the log. Of each kind of message, five are logged at once, then one per minute.
    /// The metadata `peripheral.suppressed` is the number of messages that were left out.
    ///
    /// - Parameters:
    ///   - backend: The Bluetooth stack, such as `.bluez`.
    ///   - logger: Receives what cannot be reported otherwise, such as errors of handlers that have no
    ///     meaning for a central.
    ///   - body: What the program does with the published peripheral.
    /// - Returns: What the body returns.
    /// - Throws: ``DeclarationError`` if the declaration is invalid, before anything is published;
    ///   ``PeripheralError`` if the peripheral cannot be published or served; or the error of the body or of
    ///   a service.
    public func run<Output: Sendable>(
        on backend: some PeripheralBackend,
        logger: Logger = Logger(label: "peripheral"),
        _ body: @escaping @Sendable (_ session: PeripheralSession) async throws -> Output
    ) async throws -> Output {
        try await run(on: backend, logger: logger, clock: ContinuousClock(), body)
    }

    /// Publishes and serves the peripheral, with its state preserved in the given store.
    ///
    /// It runs as ``run(on:logger:_:)`` does. Except for the errors below, a store that fails does not
    /// prevent the peripheral from running. Opening the store is retried for 5 seconds before anything is
    /// published. Failures are reported by ``RestoredState/problems`` and
    /// ``SessionEvent/restorationFailed(_:)``.
    ///
    /// - Parameters:
    ///   - backend: The Bluetooth stack, such as `.bluez`.
    ///   - store: The store that the state is restored from and preserved in.
    ///   - interval: The shortest time between two saves. Changes in between are saved together, and
    ///     everything is saved at the end. A save that something waits for, such as the response to a
    ///     ``WriteDurability/durable`` write, happens at most half a second after the previous save.
    ///   - logger: Receives what cannot be reported otherwise.
    ///   - body: What the program does with the published peripheral.
    /// - Returns: What the body returns.
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/restorationUnavailable`` if the
    ///   peripheral has no restoration identifier; ``RestorationError`` with the code
    ///   ``RestorationError/Code/inUse`` if another peripheral runs with the identifier, or with
    ///   ``RestorationError/Code/invalidIdentifier``; and the errors of ``run(on:logger:_:)``.
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

    /// Publishes and serves as ``run(on:logger:_:)`` does, with given clocks.
    ///
    /// `clock` measures how long handlers take; `wallClock` returns the time of day.
    package func run<Output: Sendable>(
        on backend: some PeripheralBackend,
        restoringFrom store: (any RestorationStore)? = nil,
        savingEvery interval: Duration = .milliseconds(500),
        logger: Logger,
        clock: any Clock<Duration>,
        wallClock: @escaping @Sendable () -> Int64 = WallClock.seconds,
        _ body: @escaping @Sendable (_ session: PeripheralSession) async throws -> Output
    ) async throws -> Output {
        let limit = LogLimit(of: logger, clock: clock)
        defer { limit.end() }
        let logger = limit.limited
        var publication = try publication()
        for warning in validate() {
            logger.warning("\(warning)", metadata: ["peripheral.name": "\(name)"])
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
        // Not a task of the run: changes are saved even when the run is cancelled.
        let keeper = Task { await runtime.preservation?.keepSaving() }
        // Not a task of the run: even a cancelled run answers in time until it is withdrawn.
        let timekeeper = Task { await runtime.runDeadlines() }
        let outcome = await withTaskCancellationHandler {
            await run(runtime, on: backend, body)
        } onCancel: {
            runtime.cancelHandlers()
        }
        await runtime.endHandlers()
        // After the handlers, so that their changes are saved as well.
        runtime.preservation?.stop()
        await keeper.value
        timekeeper.cancel()
        await timekeeper.value
        if start == nil { backendMemory.keep(runtime.backendState) }
        state.reset()
        return try outcome.get()
    }

    /// Reads the preserved state of this peripheral and passes it to the program.
    ///
    /// - Returns: `nil` if the peripheral has no restoration identifier.
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
                "Part of the preserved state of the peripheral could not be restored.",
                metadata: ["peripheral.reason": "\(problem)", "peripheral.name": "\(name)"]
            )
        }
        do {
            // A cancelled run does not wait for the store, so the state found may be incomplete.
            try Task.checkCancellation()
            if let restored = start.restored { try await onRestore?(restored) }
            try Task.checkCancellation()
        } catch {
            await start.record?.close()
            throw error
        }
        return start
    }

    private func run<Output: Sendable>(
        _ runtime: PeripheralRuntime,
        on backend: some PeripheralBackend,
        _ body: @escaping @Sendable (_ session: PeripheralSession) async throws -> Output
    ) async -> Result<Output, any Error> {
        // Before the run starts, so that the services miss no event.
        let work = ServiceWork(of: declarations, in: runtime)
        return await withTaskGroup(of: Ending<Output>.self) { group in
            group.addTask { .served(await serve(runtime, on: backend)) }
            group.addTask {
                do {
                    try await runtime.untilPublished()
                    await runtime.examineBonds()
                    return .body(.success(try await work.run(beside: body)))
                } catch {
                    return .body(.failure(error))
                }
            }
            group.addTask {
                await runtime.deliverDurableUpdates()
                return .ended
            }
            group.addTask {
                await runtime.keepExaminingBonds()
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
                    // An error of the withdrawal no longer matters, unless it is the reason why the body
                    // failed.
                    if isReason, result?.isConsequenceOfEnd ?? true { failure = error }
                    // Before the body is cancelled, so that the body finds the session stopped.
                    runtime.stop()
                    group.cancelAll()
                }
                runtime.stop()
            }
            if let failure { return .failure(failure) }
            return result ?? .failure(CancellationError())
        }
    }

    /// Lets the backend serve the peripheral until it is stopped, or the calling task is cancelled.
    ///
    /// - Returns: The error that ended it; `nil` if it was stopped.
    private func serve(
        _ runtime: PeripheralRuntime,
        on backend: some PeripheralBackend
    ) async -> (any Error)? {
        guard !Task.isCancelled else { return CancellationError() }
        // A separate task: on cancellation, the subscribers are saved before the backend withdraws the
        // services.
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

    /// Publishes the peripheral and serves it until the calling task is cancelled.
    ///
    /// - Parameters:
    ///   - backend: The Bluetooth stack, such as `.bluez`.
    ///   - logger: Receives what cannot be reported otherwise.
    /// - Throws: `CancellationError` when cancelled, and the errors of ``run(on:logger:_:)``.
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
    /// A task that runs beside the body until the session ends.
    case ended
    case body(Result<Output, any Error>)
}

extension Result where Failure == any Error {
    /// Whether this is how a body ends when the peripheral is no longer served.
    fileprivate var isConsequenceOfEnd: Bool {
        guard case .failure(let error) = self else { return false }
        return error.isConsequenceOfEnd
    }
}

extension Error {
    /// Whether this error only says that the peripheral is no longer served.
    var isConsequenceOfEnd: Bool {
        self is CancellationError || (self as? PeripheralError)?.code == .stopped
    }
}

private func untilCancelled() async throws {
    let (never, continuation) = AsyncStream.makeStream(of: Never.self)
    for await _ in never {}
    continuation.finish()
    throw CancellationError()
}
