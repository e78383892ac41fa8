internal import Glibc
public import Logging
internal import PeripheralDBus
public import PeripheralKit

extension Peripheral {
    /// Publishes the peripheral until a signal arrives, and then shuts down gracefully.
    ///
    /// ```swift
    /// try await peripheral.run(on: .bluez, stoppingOn: [SIGTERM, SIGINT]) { session in
    ///     for await isOn in lamp.changes { try await session.notify(power, isOn) }
    /// }
    /// ```
    ///
    /// When the first signal arrives, the function cancels the body, withdraws the advertisement, answers the
    /// requests in progress, withdraws the services, and returns. If these steps take longer than 5 seconds,
    /// the function cancels the whole run. A second signal with the same number cancels the whole run
    /// immediately, and a third signal has the same effect as before the run.
    /// `run(on:restoringFrom:savingEvery:logger:_:until:)` of the module `PeripheralKit` describes these
    /// steps, and the case that the body has not begun.
    ///
    /// During the run, the signals have no other effect. A signal that arrives after the body has returned
    /// has no effect at all. After the run, each signal has the same effect as before. Several peripherals of
    /// a process can stop on the same signal.
    ///
    /// The function works in each program, also within `OneThread.run` of the module `PeripheralOneThread`.
    /// In other programs, a separate thread waits for the signals.
    ///
    /// - Parameters:
    ///   - backend: The backend for BlueZ.
    ///   - signals: The numbers of the signals that stop the peripheral, such as `SIGTERM`, whose name needs
    ///     `import Glibc`.
    ///   - store: A store for the preserved state of the peripheral. If the value is `nil`, the function uses
    ///     the store of the backend for a peripheral with a restoration identifier.
    ///   - interval: The minimum time between two saves of the preserved state.
    ///   - logger: The logger of the run.
    ///   - body: A closure that performs the work of the program while the peripheral is published. Without a
    ///     body, the peripheral stays published until it must stop.
    ///   - stop: A closure that also stops the peripheral gracefully when it returns. A closure that ignores
    ///     cancellation delays the return of the function.
    /// - Throws: `PeripheralError` with the code `signalsUnavailable` if the program cannot receive one of
    ///   the signals. In this case, the function does not publish the peripheral. The function also throws
    ///   the errors of `Peripheral.run(on:restoringFrom:savingEvery:logger:_:until:)`. A signal does not
    ///   cause a `CancellationError`.
    public func run(
        on backend: BlueZBackend,
        stoppingOn signals: [CInt],
        restoringFrom store: (any RestorationStore)? = nil,
        savingEvery interval: Duration = .milliseconds(500),
        logger: Logger = Logger(label: "peripheral"),
        _ body: (@Sendable (_ session: PeripheralSession) async throws -> Void)? = nil,
        until stop: (@Sendable () async -> Void)? = nil
    ) async throws {
        try await run(
            on: backend,
            stoppingOn: signals,
            restoringFrom: store,
            savingEvery: interval,
            logger: logger,
            clock: ContinuousClock(),
            body,
            until: stop
        )
    }

    /// Runs the peripheral until a signal arrives, with the given clock.
    package func run(
        on backend: BlueZBackend,
        stoppingOn signals: [CInt],
        restoringFrom store: (any RestorationStore)? = nil,
        savingEvery interval: Duration = .milliseconds(500),
        logger: Logger,
        clock: any Clock<Duration>,
        _ body: (@Sendable (_ session: PeripheralSession) async throws -> Void)? = nil,
        until stop: (@Sendable () async -> Void)? = nil
    ) async throws {
        try await withArrivals(of: signals) { arrivals, receiver in
            // The end of this stream is the request to stop.
            let (requests, request) = AsyncStream.makeStream(of: Never.self)
            try await withThrowingTaskGroup(of: RunPart.self) { group in
                group.addTask {
                    try await run(
                        on: backend,
                        restoringFrom: store,
                        savingEvery: interval,
                        logger: logger,
                        clock: clock,
                        body
                    ) {
                        for await _ in requests {}
                    }
                    return .run
                }
                if let stop {
                    // Beside the run: a closure that ignores cancellation must not delay a signal.
                    group.addTask {
                        await stop()
                        if !Task.isCancelled { request.finish() }
                        return .stop
                    }
                }
                group.addTask {
                    var received: [CInt] = []
                    for await signal in arrivals {
                        guard !received.contains(signal) else { return .repeatedSignal }
                        received.append(signal)
                        request.finish()
                    }
                    return .signals
                }
                var isRepeated = false
                loop: while let part = try await group.next() {
                    switch part {
                    case .run: break loop
                    case .stop, .signals: continue
                    case .repeatedSignal:
                        isRepeated = true
                        // A further signal ends a program that ignores the cancellation.
                        receiver.end()
                        break loop
                    }
                }
                group.cancelAll()
                do {
                    try await group.waitForAll()
                } catch let error where isRepeated && !Task.isCancelled && error.isConsequenceOfEnd {
                    // The second signal has cancelled the run.
                }
            }
        }
    }
}

/// The part of the run that has ended.
private enum RunPart: Sendable {
    case run
    case stop
    case signals
    case repeatedSignal
}

/// Receives signals while the body runs.
private func withArrivals(
    of signals: [CInt],
    _ body: (AsyncStream<CInt>, ProcessSignalReceiver) async throws -> Void
) async throws {
    let loop = EventLoop.make(name: "signals")
    let outcome: Result<Void, any Error>
    do {
        let (arrivals, receiver) = try ProcessSignalReceiver.receive(
            signals,
            on: loop,
            bufferingPolicy: .bufferingNewest(16)
        )
        defer { receiver.end() }
        outcome = .success(try await body(arrivals, receiver))
    } catch let error as ProcessSignalsUnavailable {
        outcome = .failure(error.peripheralError)
    } catch {
        outcome = .failure(error)
    }
    await loop.stop()
    try outcome.get()
}

extension ProcessSignalsUnavailable {
    fileprivate var peripheralError: PeripheralError {
        let reason = unsafe strerror(number).map { unsafe String(cString: $0) } ?? "error \(number)"
        return PeripheralError(
            code: .signalsUnavailable,
            message: "The peripheral cannot stop on the signals: \(reason). "
                + (number == EINVAL
                    ? "Choose signals that a program can handle." : "Raise the limit of open files.")
        )
    }
}
