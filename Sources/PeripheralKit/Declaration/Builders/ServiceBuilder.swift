/// A characteristic of a ``GATTService``, created by ``ServiceBuilder``.
public struct ServiceElement: Sendable {
    let characteristic: CharacteristicDeclaration
}

/// Collects the characteristics of a ``GATTService``.
@resultBuilder
public enum ServiceBuilder: _ListBuilder {
    /// The type of the elements that the result builder collects.
    public typealias Element = ServiceElement

    /// Adds a characteristic to the service.
    public static func buildExpression<T>(_ characteristic: Characteristic<T>) -> [ServiceElement] {
        [ServiceElement(characteristic: characteristic.declaration)]
    }

    /// Adds several characteristics of the same type to the service.
    public static func buildExpression<T>(_ characteristics: [Characteristic<T>]) -> [ServiceElement] {
        characteristics.map { ServiceElement(characteristic: $0.declaration) }
    }

    /// Adds characteristics from another service builder, such as characteristics that extend a ready-made
    /// service.
    public static func buildExpression(_ characteristics: [ServiceElement]) -> [ServiceElement] {
        characteristics
    }

    /// Rejects a read handler outside of a characteristic at compile time.
    @available(*, unavailable, message: "put Read in a Characteristic, not in a GATTService")
    public static func buildExpression<T>(_ read: Read<T>) -> [ServiceElement] { [] }

    /// Rejects a write handler outside of a characteristic at compile time.
    @available(*, unavailable, message: "put Write in a Characteristic, not in a GATTService")
    public static func buildExpression<T>(_ write: Write<T>) -> [ServiceElement] { [] }

    /// Rejects an ``Authorization`` that is not inside a characteristic.
    ///
    /// The compiler reports an error.
    @available(*, unavailable, message: "put the Authorization in a Characteristic, not in a GATTService")
    public static func buildExpression(_ authorization: Authorization) -> [ServiceElement] { [] }

    /// Rejects a persistent value outside of a characteristic at compile time.
    @available(*, unavailable, message: "put PersistentValue in a Characteristic, not in a GATTService")
    public static func buildExpression<T>(_ value: PersistentValue<T>) -> [ServiceElement] { [] }

    /// Rejects a write stream outside of a characteristic at compile time.
    @available(*, unavailable, message: "put WriteStream in a Characteristic, not in a GATTService")
    public static func buildExpression<T>(_ stream: WriteStream<T>) -> [ServiceElement] { [] }

    /// Rejects a control point outside of a characteristic at compile time.
    @available(*, unavailable, message: "put the ControlPoint in a Characteristic, not in a GATTService")
    public static func buildExpression<Request, Response>(
        _ controlPoint: ControlPoint<Request, Response>
    ) -> [ServiceElement] { [] }

    /// Rejects a descriptor outside of a characteristic at compile time.
    @available(*, unavailable, message: "put the Descriptor in a Characteristic, not in a GATTService")
    public static func buildExpression<T>(_ descriptor: Descriptor<T>) -> [ServiceElement] { [] }

    /// Rejects a descriptor outside of a characteristic at compile time.
    @available(
        *,
        unavailable,
        message: "put the PresentationFormat in a Characteristic, not in a GATTService"
    )
    public static func buildExpression(_ format: PresentationFormat) -> [ServiceElement] { [] }

    /// Rejects a descriptor outside of a characteristic at compile time.
    @available(*, unavailable, message: "put the AggregateFormat in a Characteristic, not in a GATTService")
    public static func buildExpression(_ format: AggregateFormat) -> [ServiceElement] { [] }

    /// Rejects a descriptor outside of a characteristic at compile time.
    @available(*, unavailable, message: "put the ValidRange in a Characteristic, not in a GATTService")
    public static func buildExpression<T>(_ range: ValidRange<T>) -> [ServiceElement] { [] }

    /// Rejects a user description outside of a characteristic at compile time.
    @available(*, unavailable, message: "put the UserDescription in a Characteristic, not in a GATTService")
    public static func buildExpression(_ description: UserDescription) -> [ServiceElement] { [] }

    /// Rejects a service inside a service at compile time.
    @available(*, unavailable, message: "put the GATTService in the Peripheral, not in a GATTService")
    public static func buildExpression(_ service: some GATTServiceDeclaration) -> [ServiceElement] { [] }

    /// Causes a compile-time error for an advertisement inside a service.
    @available(*, unavailable, message: "put the Advertisement in the Peripheral, not in a GATTService")
    public static func buildExpression(_ advertisement: Advertisement) -> [ServiceElement] { [] }

    /// Rejects a listener inside a service at compile time.
    @available(*, unavailable, message: "put the L2CAPListener in the Peripheral, not in a GATTService")
    public static func buildExpression(_ listener: L2CAPListener) -> [ServiceElement] { [] }
}
