public import Logging

extension Peripheral {
    /// Publishes the peripheral until a closure returns, and then shuts down gracefully.
    ///
    /// ```swift
    /// try await peripheral.run(on: .bluez) { session in
    ///     for await isOn in lamp.changes { try await session.notify(power, isOn) }
    /// } until: {
    ///     await button.pressed()
    /// }
    /// ```
    ///
    /// `stop` begins when the function is called. When `stop` returns, the function performs these steps:
    ///
    /// 1. It cancels the body, and waits until the body has ended.
    /// 2. It withdraws the advertisement.
    /// 3. It answers the requests in progress.
    /// 4. It withdraws the services, and returns.
    ///
    /// If these steps take longer than 5 seconds, the function cancels the whole run. Cancelling the whole
    /// run also cancels the running handlers. A body, a handler or a closure `stop` that ignores cancellation
    /// delays the return of the function.
    ///
    /// If the body has not begun when `stop` returns, the body does not begin. If the services are not
    /// registered either, the function cancels the whole run immediately. An example is a peripheral that
    /// waits for a Bluetooth stack.
    ///
    /// If the body ends before `stop` returns, the function cancels `stop` and ends the run like
    /// ``run(on:logger:_:)``. If the calling task is cancelled, the function cancels `stop` and the whole
    /// run.
    ///
    /// With the module `PeripheralBlueZ`, `run(on:stoppingOn:)` shuts down gracefully on signals such as
    /// `SIGTERM`.
    ///
    /// - Parameters:
    ///   - backend: The backend for a Bluetooth stack, such as `.bluez`.
    ///   - store: A store for the preserved state of the peripheral. See
    ///     ``run(on:restoringFrom:savingEvery:logger:_:)``. If the value is `nil`, the function uses the
    ///     store of the backend for a peripheral with a restoration identifier.
    ///   - interval: The minimum time between two saves of the preserved state.
    ///   - logger: The logger of the run.
    ///   - body: A closure that performs the work of the program while the peripheral is published. Without a
    ///     body, the peripheral is published until `stop` returns.
    ///   - stop: A closure that returns when the peripheral must stop.
    /// - Throws: The errors of ``run(on:restoringFrom:savingEvery:logger:_:)``. After `stop` has returned,
    ///   the function does not throw an error of the body or of the run that only reports the stop. Such an
    ///   error is `CancellationError`, or ``PeripheralError`` with the code `stopped`. Other errors of the
    ///   body are thrown, also after `stop` has returned. `CancellationError` if the calling task is
    ///   cancelled.
    public func run(
        on backend: some PeripheralBackend,
        restoringFrom store: (any RestorationStore)? = nil,
        savingEvery interval: Duration = .milliseconds(500),
        logger: Logger = Logger(label: "peripheral"),
        _ body: (@Sendable (_ session: PeripheralSession) async throws -> Void)? = nil,
        until stop: @escaping @Sendable () async -> Void
    ) async throws {
        try await run(
            on: backend,
            restoringFrom: store,
            savingEvery: interval,
            logger: logger,
            clock: ContinuousClock(),
            body,
            until: stop
        )
    }

    /// Runs the peripheral until a closure returns, with the given clock.
    package func run(
        on backend: some PeripheralBackend,
        restoringFrom store: (any RestorationStore)? = nil,
        savingEvery interval: Duration = .milliseconds(500),
        logger: Logger,
        clock: any Clock<Duration>,
        _ body: (@Sendable (_ session: PeripheralSession) async throws -> Void)? = nil,
        until stop: @escaping @Sendable () async -> Void
    ) async throws {
        let body = StoppableBody(body ?? { _ in try await untilCancelled() })
        do {
            try await withThrowingTaskGroup { group in
                group.addTask {
                    try await run(
                        on: backend,
                        restoringFrom: store,
                        savingEvery: interval,
                        logger: logger,
                        clock: clock,
                        body.run
                    )
                }
                group.addTask {
                    await stop()
                    // The cancellation of the run also ends the closure. It is no request to stop.
                    guard !Task.isCancelled else { return }
                    // Registered services can have requests to answer, also before the body begins.
                    if body.stop() || state.current.isRegistered { try? await clock.sleep(for: .seconds(5)) }
                }
                try await group.next()
                group.cancelAll()
                try await group.waitForAll()
            }
        } catch let error where body.isStopped && !Task.isCancelled && error.isConsequenceOfEnd {
            // The request to stop has cancelled the run.
        }
    }
}
