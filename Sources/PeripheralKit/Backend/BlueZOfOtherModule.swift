// The compiler's answer to a program that uses `.bluez` but imports only PeripheralKit. If a program also
// imports the module with the real declarations, the compiler prefers those.

public import PeripheralCore

/// A placeholder for the backend and the rules that other modules declare.
@available(*, unavailable)
public struct _BlueZOfOtherModule: PeripheralBackend, StackProfile {
    /// Does nothing.
    public func serve(_ publication: BackendPublication, for host: any PeripheralHost) async throws {}

    /// Finds nothing.
    public func examine(_ publication: BackendPublication) -> [DeclarationIssue] { [] }
}

/// A placeholder for a value that configures the backend.
public struct _BlueZValueOfOtherModule: Sendable, ExpressibleByStringLiteral {
    /// Stands for values that `PeripheralBlueZ` declares.
    public static let firstPowered = Self(), always = Self(), never = Self()

    /// Stands for a function that `PeripheralBlueZ` declares.
    public static func named(_ name: String) -> Self { Self() }

    /// Stands for a function that `PeripheralBlueZ` declares.
    public static func address(_ address: DeviceAddress) -> Self { Self() }

    private init() {}

    /// Ignores the name of an adapter.
    public init(stringLiteral name: String) {}
}

@available(*, unavailable, message: "import PeripheralBlueZ, which declares it")
extension PeripheralBackend where Self == _BlueZOfOtherModule {
    /// Stands for the declaration in `PeripheralBlueZ`.
    public static var bluez: _BlueZOfOtherModule { _BlueZOfOtherModule() }

    /// Stands for the declaration in `PeripheralBlueZ`.
    public static func bluez(
        adapter: _BlueZValueOfOtherModule? = nil,
        settings: Any? = nil,
        recovery: _BlueZValueOfOtherModule? = nil,
        version: Any? = nil,
        serviceManager: Any? = nil,
        fallbackRate: Any? = nil
    ) -> _BlueZOfOtherModule { _BlueZOfOtherModule() }
}

@available(
    *,
    unavailable,
    message: "import PeripheralBlueZ, or PeripheralTesting in a test. For a String, use .bluez(version:)"
)
extension StackProfile where Self == _BlueZOfOtherModule {
    /// Stands for the declaration in `PeripheralBlueZModel`.
    public static func bluez(_ version: Any) -> _BlueZOfOtherModule { _BlueZOfOtherModule() }

    /// Stands for the declaration in `PeripheralBlueZModel`.
    public static func bluez(version: Any) -> _BlueZOfOtherModule { _BlueZOfOtherModule() }
}

@available(*, unavailable, message: "import PeripheralBlueZ, which declares it")
extension Peripheral {
    /// Stands for the declaration in `PeripheralBlueZ`.
    public func run(
        on backend: _BlueZOfOtherModule,
        stoppingOn signals: [CInt],
        restoringFrom store: Any? = nil,
        savingEvery interval: Duration? = nil,
        logger: Any? = nil,
        _ body: (@Sendable (_ session: PeripheralSession) async throws -> Void)? = nil,
        until stop: (@Sendable () async -> Void)? = nil
    ) async throws {}
}
