public import PeripheralCore

/// A service of a peripheral: its type, and its characteristics in their order.
///
/// ```swift
/// GATTService("5c3a0001-7e3c-4b6e-9d29-b3f1c0a1d001") {
///     power
///     if lamp.isDimmable { brightness }
/// }
/// ```
///
/// See Core Specification, Vol 3, Part G, 3.1.
public struct GATTService: Sendable {
    /// The type of the service.
    public let uuid: BluetoothUUID

    package let characteristics: [CharacteristicDeclaration]

    /// Declares a primary service.
    ///
    /// - Parameters:
    ///   - uuid: The type of the service.
    ///   - characteristics: The characteristics; their order is that of their handles.
    public init(_ uuid: BluetoothUUID, @ServiceBuilder _ characteristics: () -> [ServiceElement]) {
        self.uuid = uuid
        self.characteristics = characteristics().map(\.characteristic)
    }
}

/// Something that stands for a service in a declaration, such as a ready-made service with its typed
/// characteristics.
///
/// ```swift
/// struct LampService: GATTServiceDeclaration {
///     let power = Characteristic<Bool>("5c3a0002-7e3c-4b6e-9d29-b3f1c0a1d001", .notify)
///
///     var service: GATTService {
///         GATTService("5c3a0001-7e3c-4b6e-9d29-b3f1c0a1d001") { power }
///     }
/// }
/// ```
///
/// Make the characteristics once, in stored properties: a characteristic that is made anew by each access is
/// another one each time.
public protocol GATTServiceDeclaration: Sendable {
    /// The service as it is published.
    var service: GATTService { get }
}

extension GATTService: GATTServiceDeclaration {
    /// The service itself.
    public var service: GATTService { self }
}
