/// A service or an advertisement of a ``Peripheral``, created by ``PeripheralBuilder``.
public struct PeripheralElement: Sendable {
    enum Part: Sendable {
        case service(any GATTServiceDeclaration)
        case advertisement(Advertisement)
    }

    let part: Part
}

/// Collects the services and the advertisements of a ``Peripheral``.
@resultBuilder
public enum PeripheralBuilder: _ListBuilder {
    /// The type of the collected elements.
    public typealias Element = PeripheralElement

    /// Adds a service.
    public static func buildExpression(_ service: some GATTServiceDeclaration) -> [PeripheralElement] {
        [PeripheralElement(part: .service(service))]
    }

    /// Adds several services of one type.
    public static func buildExpression(_ services: [some GATTServiceDeclaration]) -> [PeripheralElement] {
        services.map { PeripheralElement(part: .service($0)) }
    }

    /// Adds an advertisement.
    public static func buildExpression(_ advertisement: Advertisement) -> [PeripheralElement] {
        [PeripheralElement(part: .advertisement(advertisement))]
    }

    /// Refuses a characteristic outside of a service.
    @available(*, unavailable, message: "put the Characteristic in a GATTService, not in the Peripheral")
    public static func buildExpression<T>(_ characteristic: Characteristic<T>) -> [PeripheralElement] { [] }

    /// Refuses a handler outside of a characteristic.
    @available(*, unavailable, message: "put Read in a Characteristic, not in the Peripheral")
    public static func buildExpression<T>(_ read: Read<T>) -> [PeripheralElement] { [] }

    /// Refuses a handler outside of a characteristic.
    @available(*, unavailable, message: "put Write in a Characteristic, not in the Peripheral")
    public static func buildExpression<T>(_ write: Write<T>) -> [PeripheralElement] { [] }

    /// Refuses an authorization outside of a characteristic.
    @available(*, unavailable, message: "put the Authorization in a Characteristic, not in the Peripheral")
    public static func buildExpression(_ authorization: Authorization) -> [PeripheralElement] { [] }

    /// Refuses a persistent value outside of a characteristic.
    @available(*, unavailable, message: "put PersistentValue in a Characteristic, not in the Peripheral")
    public static func buildExpression<T>(_ value: PersistentValue<T>) -> [PeripheralElement] { [] }

    /// Refuses a stream of writes outside of a characteristic.
    @available(*, unavailable, message: "put WriteStream in a Characteristic, not in the Peripheral")
    public static func buildExpression<T>(_ stream: WriteStream<T>) -> [PeripheralElement] { [] }

    /// Refuses a control point outside of a characteristic.
    @available(*, unavailable, message: "put the ControlPoint in a Characteristic, not in the Peripheral")
    public static func buildExpression<Request, Response>(
        _ controlPoint: ControlPoint<Request, Response>
    ) -> [PeripheralElement] { [] }

    /// Refuses a descriptor outside of a characteristic.
    @available(*, unavailable, message: "put the Descriptor in a Characteristic, not in the Peripheral")
    public static func buildExpression<T>(_ descriptor: Descriptor<T>) -> [PeripheralElement] { [] }

    /// Refuses a descriptor outside of a characteristic.
    @available(
        *,
        unavailable,
        message: "put the PresentationFormat in a Characteristic, not in the Peripheral"
    )
    public static func buildExpression(_ format: PresentationFormat) -> [PeripheralElement] { [] }

    /// Refuses a descriptor outside of a characteristic.
    @available(*, unavailable, message: "put the AggregateFormat in a Characteristic, not in the Peripheral")
    public static func buildExpression(_ format: AggregateFormat) -> [PeripheralElement] { [] }

    /// Refuses a descriptor outside of a characteristic.
    @available(*, unavailable, message: "put the ValidRange in a Characteristic, not in the Peripheral")
    public static func buildExpression<T>(_ range: ValidRange<T>) -> [PeripheralElement] { [] }

    /// Refuses a description outside of a characteristic.
    @available(*, unavailable, message: "put the UserDescription in a Characteristic, not in the Peripheral")
    public static func buildExpression(_ description: UserDescription) -> [PeripheralElement] { [] }
}
