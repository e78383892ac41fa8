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
    /// The type of the collected elements.
    public typealias Element = DescriptorElement<Value>

    /// Adds the handler of reads.
    public static func buildExpression(_ read: Read<Value>) -> [DescriptorElement<Value>] {
        [DescriptorElement(part: .read(read.source))]
    }

    /// Adds the handler of writes.
    public static func buildExpression(_ write: Write<Value>) -> [DescriptorElement<Value>] {
        [DescriptorElement(part: .write(write.handler))]
    }

    /// Refuses an authorization outside of a characteristic.
    @available(*, unavailable, message: "put the Authorization in a Characteristic, not in a Descriptor")
    public static func buildExpression(_ authorization: Authorization) -> [DescriptorElement<Value>] { [] }

    /// Refuses a descriptor inside a descriptor.
    @available(*, unavailable, message: "put the Descriptor in a Characteristic, not in a Descriptor")
    public static func buildExpression<T>(_ descriptor: Descriptor<T>) -> [DescriptorElement<Value>] {
        []
    }
}
