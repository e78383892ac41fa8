public import PeripheralCore

/// A service of a peripheral, with its type and its characteristics.
///
/// ```swift
/// GATTService("5c3a0001-7e3c-4b6e-9d29-b3f1c0a1d001", includes: [battery]) {
///     power
///     if lamp.isDimmable { brightness }
/// }
/// ```
///
/// A peripheral can contain several services of one type. If other services include a service, keep that
/// service in a constant. All copies of a service are the same service. A service that is created again with
/// other characteristics is another service.
///
/// See Core Specification, Vol 3, Part G, 3.1 and 3.2.
public struct GATTService: Sendable {
    /// The UUID that identifies the type of the service.
    public let uuid: BluetoothUUID

    /// Whether centrals find the service directly.
    ///
    /// Centrals find a secondary service only through a service that includes the secondary service.
    public let isPrimary: Bool

    /// The handle of the service on the air; `nil` lets the Bluetooth stack choose it.
    ///
    /// A service with a fixed handle is *pinned*. A central that caches the attributes uses the Database Hash
    /// to check whether its cache is still valid. Some stacks never use a handle twice while they run. On
    /// these stacks, a service that is not pinned moves to other handles with each run, and the Database Hash
    /// changes. If all services are pinned, their handles are the same in each run. The Database Hash is then
    /// the same for all runs within one process.
    ///
    /// Follow these rules when you pin services:
    ///
    /// - Do not use the handles 0x00C0 to 0x00FF. Programs claim handles in this range to avoid each other.
    /// - Do not use handles from 0x0400 on. On some stacks, services in this range do not change the Database
    ///   Hash.
    /// - Pin the services of different programs in different blocks of 16 handles. Only one program at a time
    ///   can use a block.
    ///
    /// A peripheral with a restoration identifier does not have to pin its services. The services of that
    /// peripheral keep their handles across runs, and there is room after each service for further
    /// characteristics.
    public let handle: AttributeHandle?

    package let includes: [GATTService]
    package internal(set) var characteristics: [CharacteristicDeclaration]
    private let ownIdentity = DeclarationIdentity()

    /// Declares a service.
    ///
    /// - Parameters:
    ///   - uuid: The UUID that identifies the type of the service.
    ///   - isPrimary: Whether centrals find the service directly. A secondary service is useful only if
    ///     another service includes it.
    ///   - includes: The services that this service includes. Declare the included services in the same
    ///     peripheral, before this service.
    ///   - handle: The handle of the service on the air, from 0x0001. The handles of its characteristics and
    ///     descriptors follow this handle. `nil` uses the next free handle. The handles of a service must be
    ///     free on the Bluetooth stack. The services of the stack use the first handles.
    ///   - characteristics: The characteristics, in the order of their handles. In a restored peripheral, the
    ///     handles of new characteristics follow the handles of the earlier characteristics.
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
    /// Each characteristic belongs to only one service. Therefore, the first characteristic identifies the
    /// service.
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
/// Create the characteristics once, in stored properties. If each access of `service` creates the
/// characteristics again, each access returns other characteristics.
///
/// A service can perform background work in ``run(in:)``. For example, it can react when a central
/// disconnects. Put the declaration itself into the ``Peripheral``, not its ``service``, because ``run(in:)``
/// belongs to the declaration. If a declaration wraps another declaration, its ``run(in:)`` must call
/// ``run(in:)`` of the wrapped declaration.
public protocol GATTServiceDeclaration: Sendable {
    /// The service to publish.
    var service: GATTService { get }

    /// Performs the background work of the service while its peripheral runs. The default does nothing.
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
    /// The call begins together with the body of the run. After the body has ended, the call is cancelled and
    /// must return, because the run waits for the call. The call can also return earlier. The session is
    /// valid until the call returns. The call continues when the peripheral goes off the air and when the
    /// peripheral is on the air again.
    ///
    /// When a service accesses ``PeripheralSession/events`` for the first time, the sequence begins with all
    /// events since the start of the run.
    ///
    /// - Parameter session: The session that the body of the run also receives.
    /// - Throws: An error that ends the session. The body is cancelled, and the run throws the error. A
    ///   `CancellationError`, or a ``PeripheralError`` with the code ``PeripheralError/Code/stopped``, ends
    ///   only the background work of this service.
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
