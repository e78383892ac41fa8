public import PeripheralCore

/// A service of a peripheral: its type, and its characteristics in their order.
///
/// ```swift
/// GATTService("5c3a0001-7e3c-4b6e-9d29-b3f1c0a1d001", includes: [battery]) {
///     power
///     if lamp.isDimmable { brightness }
/// }
/// ```
///
/// A peripheral can have several services of one type. Keep a service that others include in a constant.
/// Copies are the same service; a service that is created again with other characteristics is another one.
///
/// See Core Specification, Vol 3, Part G, 3.1 and 3.2.
public struct GATTService: Sendable {
    /// The type of the service.
    public let uuid: BluetoothUUID

    /// Whether centrals find the service directly, not only through a service that includes it.
    public let isPrimary: Bool

    /// The handle of the service on the air; `nil` lets the Bluetooth stack choose it.
    ///
    /// A central that caches the attributes uses the Database Hash to check whether its cache is still valid.
    /// Some stacks never use a handle twice while they run. There, a service without a fixed handle moves
    /// with each run of the program, and the hash changes. If all services are pinned, their handles are the
    /// same in each run. The hash is then the same, too, as long as the process lasts.
    ///
    /// Follow these rules when you pin services:
    ///
    /// - Do not use 0x00C0 to 0x00FF: programs claim handles there to avoid each other.
    /// - Do not use 0x0400 or above: on some stacks, services there do not change the hash.
    /// - Pin the services of different programs in different blocks of 16 handles. Only one program at a time
    ///   can have a block.
    ///
    /// A peripheral with a restoration identifier need not pin its services. They stay where they were, with
    /// room to grow.
    public let handle: AttributeHandle?

    package let includes: [GATTService]
    package internal(set) var characteristics: [CharacteristicDeclaration]
    private let ownIdentity = DeclarationIdentity()

    /// Declares a service.
    ///
    /// - Parameters:
    ///   - uuid: The type of the service.
    ///   - isPrimary: Whether centrals find the service directly. A secondary service is useful only to
    ///     services that include it.
    ///   - includes: Services that belong to this one as well. Declare them in the same peripheral, before
    ///     it.
    ///   - handle: The handle of the service on the air, from 0x0001. The handles of its characteristics and
    ///     descriptors follow it. `nil` uses the next free handle. The handles of a service must be free on
    ///     the Bluetooth stack, whose own services use the first ones.
    ///   - characteristics: The characteristics. Their handles have the same order. In a restored peripheral,
    ///     new characteristics come after the earlier ones.
    public init(
        _ uuid: BluetoothUUID,
        isPrimary: Bool = true,
        includes: [any GATTServiceDeclaration] = [],
        handle: AttributeHandle? = nil,
        @ServiceBuilder _ characteristics: () -> [ServiceElement]
    ) {
        self.uuid = uuid
        self.isPrimary = isPrimary
        self.includes = includes.map(\.service)
        self.handle = handle
        self.characteristics = characteristics().map(\.characteristic)
    }

    /// Identifies the service.
    ///
    /// A ready-made service creates its `service` on each access, but always with the same characteristics.
    /// These belong to one service only, so the first one identifies it.
    package var identity: DeclarationIdentity { characteristics.first?.identity ?? ownIdentity }
}

/// A type that declares a service, such as a ready-made service with its typed characteristics.
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
/// Create the characteristics once, in stored properties. A characteristic that each access creates again is
/// another one each time.
///
/// A service can do work of its own in ``run(in:)``, such as reacting when a central disconnects. That method
/// belongs to the declaration, so put the declaration itself into the ``Peripheral``, not its ``service``. A
/// declaration that wraps another one calls its ``run(in:)`` as well.
public protocol GATTServiceDeclaration: Sendable {
    /// The service to publish.
    var service: GATTService { get }

    /// Performs the service's own work while its peripheral runs. The default does nothing.
    ///
    /// ```swift
    /// func run(in session: PeripheralSession) async throws {
    ///     for await event in session.events {
    ///         if case .disconnected(let central) = event { forget(central) }
    ///     }
    /// }
    /// ```
    ///
    /// The peripheral calls this method once for each declaration in each ``Peripheral/run(on:logger:_:)``.
    /// The call begins together with the body. It is cancelled after the body has ended, and must return
    /// then: the run waits for it. It can also return earlier. The session is valid until it returns. The
    /// call continues when the peripheral goes off the air and when it is on the air again.
    ///
    /// ``PeripheralSession/events`` gives a service all events since the run began, even those before it
    /// asked.
    ///
    /// - Parameter session: The same session as that of the body.
    /// - Throws: An error that ends the session: the body is cancelled, and the run throws the error.
    ///   `CancellationError`, and ``PeripheralError`` with the code ``PeripheralError/Code/stopped``, end
    ///   only the service's own work.
    func run(in session: PeripheralSession) async throws
}

extension GATTServiceDeclaration {
    /// Does nothing.
    public func run(in session: PeripheralSession) async throws {}
}

extension GATTService: GATTServiceDeclaration {
    /// The service itself.
    public var service: GATTService { self }
}
