public import Logging
public import PeripheralKit

extension Peripheral {
    /// Publishes the peripheral in memory, and hands a connected central to the body.
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
    /// The compiler does not see that a closure throws which has `try` in `#expect` alone; begin such a closure
    /// with `{ central async throws in`.
    ///
    /// Nothing outside of the process is used. When the body ends, the central is disconnected and the
    /// peripheral withdrawn. For a second central, ask the first: ``VirtualCentral/makeAnother()``.
    ///
    /// - Parameters:
    ///   - mtu: The largest packet that the central takes, 23 to 517 bytes.
    ///   - logger: Where the framework logs.
    ///   - body: The test.
    /// - Returns: What the body returns.
    /// - Throws: `DeclarationError` when the declaration is invalid; otherwise what the body throws.
    @discardableResult
    public func test<Output: Sendable>(
        mtu: Int = 517,
        logger: Logger = Logger(label: "peripheral"),
        _ body: @escaping @Sendable (_ central: VirtualCentral) async throws -> Output
    ) async throws -> Output {
        try await test(mtu: mtu, logger: logger) { central, _ in try await body(central) }
    }

    /// Publishes the peripheral in memory, and hands a connected central and the session to the body.
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
    ///   - mtu: The largest packet that the central takes, 23 to 517 bytes.
    ///   - logger: Where the framework logs.
    ///   - body: The test, with what the program would do with the session.
    /// - Returns: What the body returns.
    /// - Throws: `DeclarationError` when the declaration is invalid; otherwise what the body throws.
    @discardableResult
    public func test<Output: Sendable>(
        mtu: Int = 517,
        logger: Logger = Logger(label: "peripheral"),
        _ body:
            @escaping @Sendable (_ central: VirtualCentral, _ session: PeripheralSession) async throws ->
            Output
    ) async throws -> Output {
        let backend = InMemoryBackend()
        return try await run(on: backend, logger: logger) { session in
            let central = backend.makeCentral(of: self)
            try await central.connect(mtu: mtu)
            defer { central.disconnect() }
            return try await body(central, session)
        }
    }
}
