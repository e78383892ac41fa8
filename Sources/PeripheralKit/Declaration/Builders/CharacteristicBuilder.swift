public import PeripheralCore

/// One thing that a ``Characteristic`` consists of; made by ``CharacteristicBuilder``.
public struct CharacteristicElement<Value: GATTValue>: Sendable {
    let part: CharacteristicPart
}

enum CharacteristicPart: Sendable {
    case read(ReadSource)
    case write(WriteHandler)
    case descriptor(DescriptorDeclaration)
}

/// Collects the handlers and descriptors of a ``Characteristic``.
@resultBuilder
public enum CharacteristicBuilder<Value: GATTValue>: _ListBuilder {
    /// What is collected.
    public typealias Element = CharacteristicElement<Value>

    /// Takes the handler of reads.
    public static func buildExpression(_ read: Read<Value>) -> [CharacteristicElement<Value>] {
        [CharacteristicElement(part: .read(read.source))]
    }

    /// Takes the handler of writes.
    public static func buildExpression(_ write: Write<Value>) -> [CharacteristicElement<Value>] {
        [CharacteristicElement(part: .write(write.handler))]
    }

    /// Takes a descriptor.
    public static func buildExpression<T>(_ descriptor: Descriptor<T>) -> [CharacteristicElement<Value>] {
        [CharacteristicElement(part: .descriptor(descriptor.declaration))]
    }

    /// Takes the user description.
    public static func buildExpression(_ description: UserDescription) -> [CharacteristicElement<Value>] {
        [CharacteristicElement(part: .descriptor(description.declaration))]
    }

    /// Refuses a characteristic inside a characteristic.
    @available(*, unavailable, message: "put the Characteristic in a GATTService, not in a Characteristic")
    public static func buildExpression<T>(_ characteristic: Characteristic<T>)
        -> [CharacteristicElement<Value>]
    {
        []
    }

    /// Refuses a service inside a characteristic.
    @available(*, unavailable, message: "put the GATTService in the Peripheral, not in a Characteristic")
    public static func buildExpression(_ service: some GATTServiceDeclaration)
        -> [CharacteristicElement<Value>]
    {
        []
    }

    /// Refuses an advertisement inside a characteristic.
    @available(*, unavailable, message: "put the Advertisement in the Peripheral, not in a Characteristic")
    public static func buildExpression(_ advertisement: Advertisement) -> [CharacteristicElement<Value>] {
        []
    }
}
