/// A characteristic of a ``GATTService``, created by ``ServiceBuilder``.
public struct ServiceElement: Sendable {
    let characteristic: CharacteristicDeclaration
}

/// Collects the characteristics of a ``GATTService``.
@resultBuilder
public enum ServiceBuilder: _ListBuilder {
    /// The type of the collected elements.
    public typealias Element = ServiceElement

    /// Adds a characteristic.
    public static func buildExpression<T>(_ characteristic: Characteristic<T>) -> [ServiceElement] {
        [ServiceElement(characteristic: characteristic.declaration)]
    }

    /// Adds several characteristics of one type.
    public static func buildExpression<T>(_ characteristics: [Characteristic<T>]) -> [ServiceElement] {
        characteristics.map { ServiceElement(characteristic: $0.declaration) }
    }

    /// Adds characteristics that another builder has collected, such as additions to a ready-made service.
    public static func buildExpression(_ characteristics: [ServiceElement]) -> [ServiceElement] {
        characteristics
    }

    /// Refuses a handler outside of a characteristic.
    @available(*, unavailable, message: "put Read in a Characteristic, not in a GATTService")
    public static func buildExpression<T>(_ read: Read<T>) -> [ServiceElement] { [] }

    /// Refuses a handler outside of a characteristic.
    @available(*, unavailable, message: "put Write in a Characteristic, not in a GATTService")
    public static func buildExpression<T>(_ write: Write<T>) -> [ServiceElement] { [] }

    /// Refuses an authorization outside of a characteristic.
    @available(*, unavailable, message: "put the Authorization in a Characteristic, not in a GATTService")
    public static func buildExpression(_ authorization: Authorization) -> [ServiceElement] { [] }

    /// Refuses a persistent value outside of a characteristic.
    @available(*, unavailable, message: "put PersistentValue in a Characteristic, not in a GATTService")
    public static func buildExpression<T>(_ value: PersistentValue<T>) -> [ServiceElement] { [] }

    /// Refuses a stream of writes outside of a characteristic.
    @available(*, unavailable, message: "put WriteStream in a Characteristic, not in a GATTService")
    public static func buildExpression<T>(_ stream: WriteStream<T>) -> [ServiceElement] { [] }

    /// Refuses a control point outside of a characteristic.
    @available(*, unavailable, message: "put the ControlPoint in a Characteristic, not in a GATTService")
    public static func buildExpression<Request, Response>(
        _ controlPoint: ControlPoint<Request, Response>
    ) -> [ServiceElement] { [] }

    /// Refuses a descriptor outside of a characteristic.
    @available(*, unavailable, message: "put the Descriptor in a Characteristic, not in a GATTService")
    public static func buildExpression<T>(_ descriptor: Descriptor<T>) -> [ServiceElement] { [] }

    /// Refuses a descriptor outside of a characteristic.
    @available(
        *,
        unavailable,
        message: "put the PresentationFormat in a Characteristic, not in a GATTService"
    )
    public static func buildExpression(_ format: PresentationFormat) -> [ServiceElement] { [] }

    /// Refuses a descriptor outside of a characteristic.
    @available(*, unavailable, message: "put the AggregateFormat in a Characteristic, not in a GATTService")
    public static func buildExpression(_ format: AggregateFormat) -> [ServiceElement] { [] }

    /// Refuses a descriptor outside of a characteristic.
    @available(*, unavailable, message: "put the ValidRange in a Characteristic, not in a GATTService")
    public static func buildExpression<T>(_ range: ValidRange<T>) -> [ServiceElement] { [] }

    /// Refuses a description outside of a characteristic.
    @available(*, unavailable, message: "put the UserDescription in a Characteristic, not in a GATTService")
    public static func buildExpression(_ description: UserDescription) -> [ServiceElement] { [] }

    /// Refuses a service inside a service.
    @available(*, unavailable, message: "put the GATTService in the Peripheral, not in a GATTService")
    public static func buildExpression(_ service: some GATTServiceDeclaration) -> [ServiceElement] { [] }

    /// Refuses an advertisement inside a service.
    @available(*, unavailable, message: "put the Advertisement in the Peripheral, not in a GATTService")
    public static func buildExpression(_ advertisement: Advertisement) -> [ServiceElement] { [] }
}
