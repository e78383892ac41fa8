#if ServiceLifecycle
    public import Logging
    public import PeripheralKit
    public import ServiceLifecycle
    internal import Synchronization

    /// A `Service` that runs a peripheral.
    ///
    /// The package swift-service-lifecycle declares the protocol `Service`.
    ///
    /// A service group can shut the peripheral down gracefully when the process receives a signal such as
    /// SIGTERM.
    ///
    /// ```swift
    /// let service = PeripheralService(peripheral, on: .bluez) { session in
    ///     for await isOn in lamp.changes { try await session.notify(power, isOn) }
    /// }
    /// try await ServiceGroup(services: [service], gracefulShutdownSignals: [.sigterm], logger: logger).run()
    /// ```
    ///
    /// The type `PeripheralService` requires the package trait `ServiceLifecycle`.
    public struct PeripheralService<Backend: PeripheralBackend>: Service {
        private let peripheral: Peripheral
        private let backend: Backend
        private let logger: Logger
        private let body: @Sendable (PeripheralSession) async throws -> Void

        /// Creates a service that runs a peripheral.
        ///
        /// - Parameters:
        ///   - peripheral: The peripheral.
        ///   - backend: The backend for the Bluetooth stack, such as `.bluez`.
        ///   - logger: The logger for problems that the framework cannot report as errors.
        ///   - body: The closure that uses the published peripheral. A graceful shutdown cancels the body.
        ///     The default body waits for a graceful shutdown.
        public init(
            _ peripheral: Peripheral,
            on backend: Backend,
            logger: Logger = Logger(label: "peripheral"),
            body: @escaping @Sendable (PeripheralSession) async throws -> Void = { _ in
                try await gracefulShutdown()
            }
        ) {
            self.peripheral = peripheral
            self.backend = backend
            self.logger = logger
            self.body = body
        }

        /// Runs the peripheral until the body returns or a graceful shutdown begins.
        ///
        /// During a graceful shutdown, `run` withdraws the advertisement, answers the pending requests,
        /// withdraws the services, and returns. If the peripheral is waiting for a Bluetooth stack, a
        /// graceful shutdown ends the wait. If the calling task is cancelled, the method cancels the pending
        /// requests instead of answering them.
        ///
        /// - Throws: The same errors as `Peripheral.run(on:logger:_:)`. A graceful shutdown does not cause a
        ///   `CancellationError`.
        public func run() async throws {
            let body = Body(body)
            do {
                try await withThrowingTaskGroup { group in
                    group.addTask {
                        try await peripheral.run(on: backend, logger: logger, body.run)
                        return true
                    }
                    group.addTask {
                        try await gracefulShutdown()
                        return false
                    }
                    while let hasEnded = try await group.next() {
                        // A body that has not begun cannot end. Before the body begins, there are no requests
                        // to answer.
                        if hasEnded || !body.hasBegun { group.cancelAll() }
                        if hasEnded { return }
                    }
                }
            } catch is CancellationError where Task.isShuttingDownGracefully && !Task.isCancelled {
                // After a graceful shutdown, the body can end with a CancellationError.
            }
        }
    }

    /// The program's work, and whether the work has begun.
    private final class Body: Sendable {
        private let work: @Sendable (PeripheralSession) async throws -> Void
        private let state = Mutex(false)

        init(_ work: @escaping @Sendable (PeripheralSession) async throws -> Void) {
            self.work = work
        }

        var hasBegun: Bool { state.withLock { $0 } }

        @Sendable func run(_ session: PeripheralSession) async throws {
            state.withLock { $0 = true }
            try await cancelWhenGracefulShutdown { [work] in try await work(session) }
        }
    }
#endif
