/// A service, an advertisement or a listener of a ``Peripheral``, created by ``PeripheralBuilder``.
public struct PeripheralElement: Sendable {
    enum Part: Sendable {
        case service(any GATTServiceDeclaration)
        case advertisement(Advertisement)
        case listener(L2CAPListener)
    }

    let part: Part
}

/// Collects the services, the advertisements and the listeners of a ``Peripheral``.
@resultBuilder
public enum PeripheralBuilder: _ListBuilder {
    /// The type of the elements that the result builder collects.
    public typealias Element = PeripheralElement

    /// Adds a service to the peripheral.
    public static func buildExpression(_ service: some GATTServiceDeclaration) -> [PeripheralElement] {
        [PeripheralElement(part: .service(service))]
    }

    /// Adds several services of the same type to the peripheral.
    public static func buildExpression(_ services: [some GATTServiceDeclaration]) -> [PeripheralElement] {
        services.map { PeripheralElement(part: .service($0)) }
    }

    /// Adds an advertisement to the peripheral.
    public static func buildExpression(_ advertisement: Advertisement) -> [PeripheralElement] {
        [PeripheralElement(part: .advertisement(advertisement))]
    }

    /// Adds a listener for L2CAP channels to the peripheral.
    public static func buildExpression(_ listener: L2CAPListener) -> [PeripheralElement] {
        [PeripheralElement(part: .listener(listener))]
    }

    /// Rejects a characteristic outside of a service at compile time.
    @available(*, unavailable, message: "put the Characteristic in a GATTService, not in the Peripheral")
    public static func buildExpression<T>(_ characteristic: Characteristic<T>) -> [PeripheralElement] { [] }

    /// Rejects a read handler outside of a characteristic at compile time.
    @available(*, unavailable, message: "put Read in a Characteristic, not in the Peripheral")
    public static func buildExpression<T>(_ read: Read<T>) -> [PeripheralElement] { [] }

    /// Rejects a write handler outside of a characteristic at compile time.
    @available(*, unavailable, message: "put Write in a Characteristic, not in the Peripheral")
    public static func buildExpression<T>(_ write: Write<T>) -> [PeripheralElement] { [] }

    /// Rejects an ``Authorization`` that is not inside a characteristic.
    ///
    /// The compiler reports an error.
    @available(*, unavailable, message: "put the Authorization in a Characteristic, not in the Peripheral")
    public static func buildExpression(_ authorization: Authorization) -> [PeripheralElement] { [] }

    /// Rejects a persistent value outside of a characteristic at compile time.
    @available(*, unavailable, message: "put PersistentValue in a Characteristic, not in the Peripheral")
    public static func buildExpression<T>(_ value: PersistentValue<T>) -> [PeripheralElement] { [] }

    /// Rejects a write stream outside of a characteristic at compile time.
    @available(*, unavailable, message: "put WriteStream in a Characteristic, not in the Peripheral")
    public static func buildExpression<T>(_ stream: WriteStream<T>) -> [PeripheralElement] { [] }

    /// Rejects a control point outside of a characteristic at compile time.
    @available(*, unavailable, message: "put the ControlPoint in a Characteristic, not in the Peripheral")
    public static func buildExpression<Request, Response>(
        _ controlPoint: ControlPoint<Request, Response>
    ) -> [PeripheralElement] { [] }

    /// Rejects a descriptor outside of a characteristic at compile time.
    @available(*, unavailable, message: "put the Descriptor in a Characteristic, not in the Peripheral")
    public static func buildExpression<T>(_ descriptor: Descriptor<T>) -> [PeripheralElement] { [] }

    /// Rejects a descriptor outside of a characteristic at compile time.
    @available(
        *,
        unavailable,
        message: "put the PresentationFormat in a Characteristic, not in the Peripheral"
    )
    public static func buildExpression(_ format: PresentationFormat) -> [PeripheralElement] { [] }

    /// Rejects a descriptor outside of a characteristic at compile time.
    @available(*, unavailable, message: "put the AggregateFormat in a Characteristic, not in the Peripheral")
    public static func buildExpression(_ format: AggregateFormat) -> [PeripheralElement] { [] }

    /// Rejects a descriptor outside of a characteristic at compile time.
    @available(*, unavailable, message: "put the ValidRange in a Characteristic, not in the Peripheral")
    public static func buildExpression<T>(_ range: ValidRange<T>) -> [PeripheralElement] { [] }

    /// Rejects a user description outside of a characteristic at compile time.
    @available(*, unavailable, message: "put the UserDescription in a Characteristic, not in the Peripheral")
    public static func buildExpression(_ description: UserDescription) -> [PeripheralElement] { [] }
}
