public import PeripheralCore

/// A handler of a ``Descriptor``, created by ``DescriptorBuilder``.
public struct DescriptorElement<Value: GATTValue>: Sendable {
    enum Part: Sendable {
        case read(ReadSource)
        case write(WriteHandler)
    }

    let part: Part
}

/// Collects the handlers of a ``Descriptor``.
@resultBuilder
public enum DescriptorBuilder<Value: GATTValue>: _ListBuilder {
    /// The type of the elements that the result builder collects.
    public typealias Element = DescriptorElement<Value>

    /// Adds the read handler to the descriptor.
    public static func buildExpression(_ read: Read<Value>) -> [DescriptorElement<Value>] {
        [DescriptorElement(part: .read(read.source))]
    }

    /// Adds the write handler to the descriptor.
    public static func buildExpression(_ write: Write<Value>) -> [DescriptorElement<Value>] {
        [DescriptorElement(part: .write(write.handler))]
    }

    /// Rejects an ``Authorization`` that is not inside a characteristic.
    ///
    /// The compiler reports an error.
    @available(*, unavailable, message: "put the Authorization in a Characteristic, not in a Descriptor")
    public static func buildExpression(_ authorization: Authorization) -> [DescriptorElement<Value>] { [] }

    /// Rejects a descriptor inside a descriptor at compile time.
    @available(*, unavailable, message: "put the Descriptor in a Characteristic, not in a Descriptor")
    public static func buildExpression<T>(_ descriptor: Descriptor<T>) -> [DescriptorElement<Value>] {
        []
    }
}
