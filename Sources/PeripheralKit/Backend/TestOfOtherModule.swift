// The compiler's answer to a test that imports PeripheralKit, but not PeripheralTesting.

/// A type whose name is the remedy in the error of the compiler.
///
/// A placeholder for the method itself cannot work. The compiler would complain about the methods of the
/// central in the closure.
public struct _ImportPeripheralTesting: Sendable {}

@available(*, unavailable, message: "import PeripheralTesting, which declares it")
extension Peripheral {
    /// Stands for the methods in `PeripheralTesting`.
    public var test: _ImportPeripheralTesting { _ImportPeripheralTesting() }
}
