public import PeripheralCore

/// A Valid Range descriptor.
///
/// The descriptor contains the lowest and the highest valid value of a characteristic.
///
/// Section 3.7 of Assigned Numbers defines the Valid Range descriptor (0x2906).
///
/// ```swift
/// Characteristic<UInt8>("5c3a0003-7e3c-4b6e-9d29-b3f1c0a1d001", [.read, .write]) {
///     Read { await lamp.brightness }
///     Write { brightness in try await lamp.dim(to: brightness) }
///     ValidRange(0...100)
/// }
/// ```
///
/// Centrals can read the range of valid values. The descriptor does not prevent a central from writing a
/// value outside the valid range. Refuse a value outside the valid range in the ``Write`` handler.
public struct ValidRange<Value: GATTValue & Comparable>: Sendable {
    let declaration: DescriptorDeclaration

    /// Creates the descriptor from the lowest and the highest valid value.
    public init(_ range: ClosedRange<Value>) {
        var writer = ByteWriter()
        range.lowerBound.encode(into: &writer)
        range.upperBound.encode(into: &writer)
        declaration = Descriptor(.validRange, value: writer.bytes).declaration
    }
}
