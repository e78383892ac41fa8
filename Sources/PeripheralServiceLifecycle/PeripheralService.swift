#if ServiceLifecycle
    public import Logging
    public import PeripheralKit
    public import ServiceLifecycle

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
        ///   - logger: The logger of the run.
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
        /// When a graceful shutdown begins, `run` ends like
        /// `Peripheral.run(on:restoringFrom:savingEvery:logger:_:until:)`: `run` cancels the body, withdraws
        /// the advertisement, answers the pending requests, withdraws the services, and returns. If these
        /// steps take longer than 5 seconds, `run` cancels the pending requests. If the peripheral is waiting
        /// for a Bluetooth stack, a graceful shutdown ends the wait. If the calling task is cancelled, the
        /// method cancels the pending requests instead of answering them.
        ///
        /// - Throws: The same errors as `Peripheral.run(on:logger:_:)`. A graceful shutdown does not cause a
        ///   `CancellationError`.
        public func run() async throws {
            try await peripheral.run(on: backend, logger: logger, body) {
                // The error only reports that the run has ended first.
                try? await gracefulShutdown()
            }
        }
    }
#endif
