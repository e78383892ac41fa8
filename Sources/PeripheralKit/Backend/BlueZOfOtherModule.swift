// The compiler's answer to a program that uses `.bluez` but imports only PeripheralKit. If a program also
// imports the module with the real declarations, the compiler prefers those.

/// A placeholder for the backend and the rules that other modules declare.
@available(*, unavailable)
public struct _BlueZOfOtherModule: PeripheralBackend, StackProfile {
    /// Does nothing.
    public func serve(_ publication: BackendPublication, for host: any PeripheralHost) async throws {}

    /// Finds nothing.
    public func examine(_ publication: BackendPublication) -> [DeclarationIssue] { [] }
}

@available(*, unavailable, message: "import PeripheralBlueZ, which declares it")
extension PeripheralBackend where Self == _BlueZOfOtherModule {
    /// Stands for the declaration in `PeripheralBlueZ`.
    public static var bluez: _BlueZOfOtherModule { _BlueZOfOtherModule() }

    /// Stands for the declaration in `PeripheralBlueZ`.
    public static func bluez(
        adapter: Any? = nil,
        settings: Any? = nil,
        recovery: Any? = nil,
        version: Any? = nil,
        serviceManager: Any? = nil,
        fallbackRate: Any? = nil
    ) -> _BlueZOfOtherModule { _BlueZOfOtherModule() }
}

@available(
    *,
    unavailable,
    message: "import PeripheralBlueZ, or PeripheralTesting in a test, which declare it"
)
extension StackProfile where Self == _BlueZOfOtherModule {
    /// Stands for the declaration in `PeripheralBlueZModel`.
    public static func bluez(_ version: Any) -> _BlueZOfOtherModule { _BlueZOfOtherModule() }

    /// Stands for the declaration in `PeripheralBlueZModel`.
    public static func bluez(version: Any) -> _BlueZOfOtherModule { _BlueZOfOtherModule() }
}
