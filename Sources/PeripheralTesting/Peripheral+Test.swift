public import Logging
public import PeripheralBlueZModel
public import PeripheralKit

extension Peripheral {
    /// Publishes the peripheral in memory and calls the body with a connected central.
    ///
    /// ```swift
    /// @Test func lampSwitches() async throws {
    ///     try await lamp.test { central in
    ///         try await central.write(power, true)
    ///         #expect(try await central.read(power) == true)
    ///     }
    /// }
    /// ```
    ///
    /// A `try` usually shows the compiler that a closure can throw an error. However, the compiler does not
    /// examine a `try` inside `#expect`. If a closure contains no `try` outside `#expect`, begin the closure
    /// with `{ central async throws in`.
    ///
    /// If the peripheral only broadcasts, the central is not connected. The test can call
    /// ``VirtualCentral/scan()``.
    ///
    /// The test runs entirely inside the process. When the body ends, the method disconnects the central and
    /// withdraws the peripheral. To create a second central, call ``VirtualCentral/makeAnother()``.
    ///
    /// - Parameters:
    ///   - stack: The stack to imitate. The default is the oldest supported version of BlueZ.
    ///   - mtu: The largest MTU that the central accepts, from 23 to 517 bytes.
    ///   - logger: The logger that the framework uses.
    ///   - body: The test.
    /// - Returns: The result of the body.
    /// - Throws: `DeclarationError` when the declaration is invalid. `TestCentralError` with the code
    ///   `invalidArgument` when the MTU is impossible. The method also throws any error that the body throws.
    @discardableResult
    public func test<Output: Sendable>(
        as stack: InMemoryStack = .bluez(BlueZRules.minimumVersion),
        mtu: Int = 517,
        logger: Logger = Logger(label: "peripheral"),
        _ body: @escaping @Sendable (_ central: VirtualCentral) async throws -> Output
    ) async throws -> Output {
        try await test(as: stack, mtu: mtu, logger: logger) { central, _ in try await body(central) }
    }

    /// Publishes the peripheral in memory and calls the body.
    ///
    /// The body receives a connected central and the session. If the peripheral only broadcasts, the central
    /// is not connected.
    ///
    /// ```swift
    /// try await lamp.test { central, session in
    ///     try await central.subscribe(to: power)
    ///     try await session.notify(power, true)
    ///     #expect(try await central.nextUpdate(of: power) == true)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - stack: The stack to imitate. The default is the oldest supported version of BlueZ.
    ///   - mtu: The largest MTU that the central accepts, from 23 to 517 bytes.
    ///   - logger: The logger that the framework uses.
    ///   - body: The test. A test can call all functions of the session, as a program does.
    /// - Returns: The result of the body.
    /// - Throws: `DeclarationError` when the declaration is invalid. `TestCentralError` with the code
    ///   `invalidArgument` when the MTU is impossible. The method also throws any error that the body throws.
    @discardableResult
    public func test<Output: Sendable>(
        as stack: InMemoryStack = .bluez(BlueZRules.minimumVersion),
        mtu: Int = 517,
        logger: Logger = Logger(label: "peripheral"),
        _ body:
            @escaping @Sendable (_ central: VirtualCentral, _ session: PeripheralSession) async throws ->
            Output
    ) async throws -> Output {
        try VirtualGATTServer.check(mtu: mtu)
        let backend = InMemoryBackend(as: stack)
        return try await run(on: backend, logger: logger) { session in
            let central = backend.makeCentral(of: self)
            if !session.onlyBroadcasts { try await central.connect(mtu: mtu) }
            defer { central.disconnect() }
            return try await body(central, session)
        }
    }
}

extension PeripheralSession {
    /// Whether no advertisement on the air is connectable.
    fileprivate var onlyBroadcasts: Bool {
        !advertisements.isEmpty && advertisements.allSatisfy { $0.kind == .broadcast }
    }
}
