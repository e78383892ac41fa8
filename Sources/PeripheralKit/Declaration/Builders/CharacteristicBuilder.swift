public import PeripheralCore

/// An element that ``CharacteristicBuilder`` creates, such as a handler or a descriptor.
public struct CharacteristicElement<Value: GATTValue>: Sendable {
    let part: CharacteristicPart
}

enum CharacteristicPart: Sendable {
    case read(ReadSource)
    case write(WriteTarget)
    case authorization(AuthorizationHandler)
    case persistent(PersistentValueDeclaration)
    case descriptor(DescriptorDeclaration)
}

/// Collects the handlers and descriptors of a ``Characteristic``.
@resultBuilder
public enum CharacteristicBuilder<Value: GATTValue>: _ListBuilder {
    /// The type of the elements that the result builder collects.
    public typealias Element = CharacteristicElement<Value>

    /// Adds the read handler to the characteristic.
    public static func buildExpression(_ read: Read<Value>) -> [CharacteristicElement<Value>] {
        [CharacteristicElement(part: .read(read.source))]
    }

    /// Adds the write handler to the characteristic.
    public static func buildExpression(_ write: Write<Value>) -> [CharacteristicElement<Value>] {
        [CharacteristicElement(part: .write(.handler(write.handler)))]
    }

    /// Adds the write stream to the characteristic.
    public static func buildExpression(_ stream: WriteStream<Value>) -> [CharacteristicElement<Value>] {
        [CharacteristicElement(part: .write(stream.target))]
    }

    /// Adds a control point, which sends its responses as values of the characteristic.
    public static func buildExpression<Request>(
        _ controlPoint: ControlPoint<Request, Value>
    ) -> [CharacteristicElement<Value>] {
        [
            CharacteristicElement(
                part: .write(.controlPoint(controlPoint.handler, responds: controlPoint.responds))
            )
        ]
    }

    /// Rejects a control point with a different response type at compile time.
    ///
    /// The responses of a control point must have the value type of the characteristic.
    @available(
        *,
        unavailable,
        message: "use the value type of the Characteristic for the responses of the ControlPoint"
    )
    public static func buildExpression<Request, Response>(
        _ controlPoint: ControlPoint<Request, Response>
    ) -> [CharacteristicElement<Value>] { [] }

    /// Adds the persistent value to the characteristic.
    public static func buildExpression(_ value: PersistentValue<Value>) -> [CharacteristicElement<Value>] {
        [CharacteristicElement(part: .persistent(value.declaration))]
    }

    /// Adds the authorization handler for reads and writes.
    public static func buildExpression(_ authorization: Authorization) -> [CharacteristicElement<Value>] {
        [CharacteristicElement(part: .authorization(authorization.isAuthorized))]
    }

    /// Adds a descriptor to the characteristic.
    public static func buildExpression<T>(_ descriptor: Descriptor<T>) -> [CharacteristicElement<Value>] {
        [CharacteristicElement(part: .descriptor(descriptor.declaration))]
    }

    /// Adds the user description to the characteristic.
    public static func buildExpression(_ description: UserDescription) -> [CharacteristicElement<Value>] {
        [CharacteristicElement(part: .descriptor(description.declaration))]
    }

    /// Adds a presentation format to the characteristic.
    public static func buildExpression(_ format: PresentationFormat) -> [CharacteristicElement<Value>] {
        [CharacteristicElement(part: .descriptor(format.declaration))]
    }

    /// Adds the aggregate format for a value that consists of several parts.
    public static func buildExpression(_ format: AggregateFormat) -> [CharacteristicElement<Value>] {
        [CharacteristicElement(part: .descriptor(format.declaration))]
    }

    /// Adds the range of valid values to the characteristic.
    public static func buildExpression(_ range: ValidRange<Value>) -> [CharacteristicElement<Value>]
    where Value: Comparable {
        [CharacteristicElement(part: .descriptor(range.declaration))]
    }

    /// Adds elements from another characteristic builder.
    public static func buildExpression(
        _ elements: [CharacteristicElement<Value>]
    ) -> [CharacteristicElement<Value>] {
        elements
    }

    /// Rejects a ``ValidRange`` with bounds of a different type at compile time.
    ///
    /// The bounds of a ``ValidRange`` must have the value type of the characteristic.
    @available(
        *,
        unavailable,
        message: "use the value type of the Characteristic for the bounds of the ValidRange"
    )
    public static func buildExpression<T>(_ range: ValidRange<T>) -> [CharacteristicElement<Value>] { [] }

    /// Rejects a characteristic inside a characteristic at compile time.
    @available(*, unavailable, message: "put the Characteristic in a GATTService, not in a Characteristic")
    public static func buildExpression<T>(_ characteristic: Characteristic<T>)
        -> [CharacteristicElement<Value>]
    {
        []
    }

    /// Rejects a service inside a characteristic at compile time.
    @available(*, unavailable, message: "put the GATTService in the Peripheral, not in a Characteristic")
    public static func buildExpression(_ service: some GATTServiceDeclaration)
        -> [CharacteristicElement<Value>]
    {
        []
    }

    /// Rejects an advertisement inside a characteristic at compile time.
    @available(*, unavailable, message: "put the Advertisement in the Peripheral, not in a Characteristic")
    public static func buildExpression(_ advertisement: Advertisement) -> [CharacteristicElement<Value>] {
        []
    }
}
