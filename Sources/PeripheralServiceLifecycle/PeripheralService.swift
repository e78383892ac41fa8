#if ServiceLifecycle
    public import Logging
    public import PeripheralKit
    public import ServiceLifecycle
    internal import Synchronization

    /// A peripheral as one of the services of a program, which end in order at a signal such as SIGTERM.
    ///
    /// ```swift
    /// let service = PeripheralService(peripheral, on: .bluez) { session in
    ///     for await isOn in lamp.changes { try await session.notify(power, isOn) }
    /// }
    /// try await ServiceGroup(services: [service], gracefulShutdownSignals: [.sigterm], logger: logger).run()
    /// ```
    ///
    /// It is there with the package's trait `ServiceLifecycle`.
    public struct PeripheralService<Backend: PeripheralBackend>: Service {
        private let peripheral: Peripheral
        private let backend: Backend
        private let logger: Logger
        private let body: @Sendable (PeripheralSession) async throws -> Void

        /// Makes a service of a peripheral.
        ///
        /// - Parameters:
        ///   - peripheral: The peripheral.
        ///   - backend: The Bluetooth stack, such as `.bluez`.
        ///   - logger: Where the framework tells what cannot be told otherwise.
        ///   - body: What the program does with the published peripheral. A graceful shutdown cancels it; without one, the
        ///     peripheral is served until then.
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

        /// Serves the peripheral until the body ends or a graceful shutdown begins.
        ///
        /// A graceful shutdown withdraws the advertisement, answers the requests in progress, withdraws the services, and
        /// returns; also while the peripheral waits for a Bluetooth stack. When the calling task is cancelled, requests in
        /// progress are cancelled instead.
        ///
        /// - Throws: As `Peripheral.run(on:logger:_:)` does, but no `CancellationError` after a graceful shutdown.
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
                        // What has not begun cannot be told to end, but there is nothing to answer either.
                        if hasEnded || !body.hasBegun { group.cancelAll() }
                        if hasEnded { return }
                    }
                }
            } catch is CancellationError where Task.isShuttingDownGracefully && !Task.isCancelled {
                // That is how the body ends then.
            }
        }
    }

    /// What the program does, and whether it does so yet.
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
