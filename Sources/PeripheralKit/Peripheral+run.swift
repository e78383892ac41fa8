public import Logging

extension Peripheral {
    /// Publishes the peripheral, and serves it while the body runs.
    ///
    /// ```swift
    /// try await peripheral.run(on: .bluez) { session in
    ///     for await beat in sensor.beats {
    ///         try await heartRate.notify(HeartRateMeasurement(bpm: beat.bpm), in: session)
    ///     }
    /// }
    /// ```
    ///
    /// The body begins when the peripheral is on the air. When it ends, the advertisement is withdrawn,
    /// requests in progress are answered, the services are withdrawn, and the call returns. The same happens
    /// when the body throws. When the calling task is cancelled, so are the body and the handlers in progress,
    /// and the peripheral is withdrawn as well.
    ///
    /// Signals are the program's affair: one that is to end in order at `SIGTERM` has the body end, or cancels the task.
    /// `PeripheralService` of `PeripheralServiceLifecycle` does the former; `OneThread.arrivals(of:)` of `PeripheralOneThread`
    /// tells when.
    ///
    /// When the stack below goes away, a backend such as `.bluez` publishes the peripheral again as soon as it can,
    /// while the body goes on; ``states`` tells. When the backend gives up, the body is cancelled and the backend's
    /// error is thrown.
    ///
    /// Beside the body runs what services do by themselves, ``GATTServiceDeclaration/run(in:)``, until the body ends.
    /// What one of them throws ends the body, and is thrown.
    ///
    /// The call does not return while a handler runs: handlers that do not heed cancellation hold it up.
    ///
    /// Centrals cannot fill the log: of each kind of line, five come at once and then one a minute. The metadata
    /// `peripheral.suppressed` says how many were left out.
    ///
    /// - Parameters:
    ///   - backend: The Bluetooth stack, such as `.bluez`.
    ///   - logger: Where the framework tells what cannot be told otherwise, such as errors of handlers that
    ///     mean nothing to a central.
    ///   - body: What the program does with the published peripheral.
    /// - Returns: What the body returns.
    /// - Throws: ``DeclarationError`` when the declaration is invalid, before anything is published;
    ///   ``PeripheralError`` when the peripheral cannot be published or served; otherwise what the body or a service throws.
    public func run<Output: Sendable>(
        on backend: some PeripheralBackend,
        logger: Logger = Logger(label: "peripheral"),
        _ body: @escaping @Sendable (_ session: PeripheralSession) async throws -> Output
    ) async throws -> Output {
        try await run(on: backend, logger: logger, clock: ContinuousClock(), body)
    }

    /// Publishes the peripheral and serves it as ``run(on:logger:_:)`` does, with its state preserved in a store of the
    /// program's choice.
    ///
    /// - Parameters:
    ///   - backend: The Bluetooth stack, such as `.bluez`.
    ///   - store: Where the state is found that was preserved, and is preserved from now on.
    ///   - interval: The shortest time between two saves; what changes meanwhile is saved together. All is saved at the end. What
    ///     somebody waits for, as the answer to a write that is ``WriteDurability/durable`` does, is saved half a second after
    ///     the save before at the latest.
    ///   - logger: Where the framework tells what cannot be told otherwise.
    ///   - body: What the program does with the published peripheral.
    /// - Returns: What the body returns.
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/restorationUnavailable`` when the peripheral has no
    ///   restoration identifier; ``RestorationError`` with the code ``RestorationError/Code/inUse`` when another peripheral
    ///   runs with it, or with ``RestorationError/Code/invalidIdentifier``; otherwise as ``run(on:logger:_:)`` does. A store
    ///   that fails otherwise does not keep a peripheral from running: one that cannot be opened is tried again for 5 seconds
    ///   before anything is published, and ``RestoredState/problems`` and ``SessionEvent/restorationFailed(_:)`` tell.
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

    /// Publishes and serves as ``run(on:logger:_:)`` does, with the clock that measures how long a handler may
    /// take, and the one that tells the time of day.
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
        // Apart from the run's own tasks: what has changed is saved also when the run is cancelled.
        let keeper = Task { await runtime.preservation?.keepSaving() }
        // Apart from the run's own tasks: also a run that is cancelled answers in time until it is withdrawn.
        let timekeeper = Task { await runtime.keepTime() }
        let outcome = await withTaskCancellationHandler {
            await run(runtime, on: backend, body)
        } onCancel: {
            runtime.cancelHandlers()
        }
        await runtime.endHandlers()
        // After the handlers: what they have answered is saved as well.
        runtime.preservation?.stop()
        await keeper.value
        timekeeper.cancel()
        await timekeeper.value
        if start == nil { backendMemory.keep(runtime.backendState) }
        state.reset()
        return try outcome.get()
    }

    /// Finds what is preserved of this peripheral, and hands it to the program.
    ///
    /// - Returns: `nil` when nothing is to be preserved.
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
                "Something is amiss about the preserved state of the peripheral.",
                metadata: ["peripheral.reason": "\(problem)", "peripheral.name": "\(name)"]
            )
        }
        do {
            // A store is not waited for any more once the run is cancelled, so that little may have been found.
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
        // Before anything can happen that a service would miss.
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
                    // A failure of the withdrawal changes nothing any more, unless it is why the body has failed.
                    if isReason, result?.isConsequenceOfEnd ?? true { failure = error }
                    // Before the body is cancelled, so that it finds the session stopped when it notices.
                    runtime.stop()
                    group.cancelAll()
                }
                runtime.stop()
            }
            if let failure { return .failure(failure) }
            return result ?? .failure(CancellationError())
        }
    }

    /// Has the backend serve the peripheral until it is told to stop, or the calling task is cancelled.
    ///
    /// - Returns: Why it has ended; `nil` when it was told to.
    private func serve(
        _ runtime: PeripheralRuntime,
        on backend: some PeripheralBackend
    ) async -> (any Error)? {
        guard !Task.isCancelled else { return CancellationError() }
        // Apart from the calling task: when that is cancelled, who has subscribed is kept as it is before the backend withdraws
        // what they have subscribed to.
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
    /// What goes on beside the body until the session is over.
    case ended
    case body(Result<Output, any Error>)
}

extension Result where Failure == any Error {
    /// Whether this is what a body ends with when the peripheral is gone below it.
    fileprivate var isConsequenceOfEnd: Bool {
        guard case .failure(let error) = self else { return false }
        return error.isConsequenceOfEnd
    }
}

extension Error {
    /// Whether this is what is thrown when the peripheral is gone.
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
