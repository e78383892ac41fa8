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
/// A peripheral can contain several services of the same type. Store a service in a constant if another
/// service includes it. All copies of a `GATTService` value represent the same service. Two `GATTService`
/// values with different characteristics represent two services, even if the UUIDs of both services are
/// equal.
///
/// The Core Specification defines services in Vol 3, Part G, sections 3.1 and 3.2.
public struct GATTService: Sendable {
    /// The UUID that identifies the type of the service.
    public let uuid: BluetoothUUID

    /// Whether the service is a primary service, which centrals find directly.
    ///
    /// A central cannot find a secondary service directly, but only through a service that includes the
    /// secondary service.
    public let isPrimary: Bool

    /// The attribute handle of the service, or `nil` if the Bluetooth stack chooses it.
    ///
    /// A service with a fixed handle is *pinned*. A central that caches the attributes of the peripheral uses
    /// the Database Hash to check whether the cache is still valid. Some Bluetooth stacks reuse a handle only
    /// after a restart of the stack. If a stack does not reuse handles, services that are not pinned have new
    /// handles in each run, and the Database Hash changes. If all services are pinned, their handles are the
    /// same in each run of the peripheral. If all services are pinned, the Database Hash is the same for all
    /// runs within one process.
    ///
    /// Follow these rules when you pin services:
    ///
    /// - Do not pin services to the handles 0x00C0 to 0x00FF. The framework registers its own services at the
    ///   handles 0x00C0 to 0x00FF. These services reserve blocks of handles for a program. The reserved
    ///   blocks prevent conflicts between programs.
    /// - Do not pin services to handle 0x0400 or a higher handle. Some Bluetooth stacks do not
    ///   update the Database Hash after they have used such a handle.
    /// - Pin the services of different programs to different blocks of 16 handles. Only one program at a time
    ///   can use a block of 16 handles.
    ///
    /// A peripheral with a restoration identifier does not have to pin its services. The services of a
    /// peripheral with a restoration identifier keep their handles across runs. With a restoration
    /// identifier, some handles after each service stay free for additional characteristics.
    public let handle: AttributeHandle?

    package let includes: [GATTService]
    package internal(set) var characteristics: [CharacteristicDeclaration]
    private let ownIdentity = DeclarationIdentity()

    /// Declares a service.
    ///
    /// - Parameters:
    ///   - uuid: The UUID that identifies the type of the service.
    ///   - isPrimary: Whether the service is a primary service, which centrals find directly. A secondary
    ///     service is useful only if another service includes it.
    ///   - includes: The included services. Declare the included services in the same peripheral, before the
    ///     service that includes them.
    ///   - handle: The attribute handle of the service, 0x0001 or higher. If `handle` is `nil`, the service
    ///     uses the next free handle. The characteristics and descriptors of the service use the handles that
    ///     follow the service handle. All handles of a service must be free in the Bluetooth stack. The
    ///     built-in services of the Bluetooth stack use the first handles.
    ///   - characteristics: The characteristics of the service, in the order of their handles. In a restored
    ///     peripheral, the handles of new characteristics follow the handles of the restored characteristics.
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
    /// Each characteristic belongs to only one service. The first characteristic therefore identifies the
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
/// Create each characteristic only once, in a stored property. If the `service` property creates the
/// characteristics, each access to the property creates a new set of characteristics.
///
/// A service declaration can perform background work in its ``run(in:)`` method. For example, ``run(in:)``
/// can react to the disconnection of a central. Add the declaration itself, not the value of its ``service``
/// property, to the ``Peripheral``. If you add the value of the ``service`` property, the framework does not
/// call the ``run(in:)`` method of the declaration. A declaration can contain another declaration. The
/// ``run(in:)`` method of the outer declaration must call the ``run(in:)`` method of the inner declaration.
public protocol GATTServiceDeclaration: Sendable {
    /// The service to publish.
    var service: GATTService { get }

    /// Performs the background work of the service while its peripheral runs.
    ///
    /// The default implementation does nothing.
    ///
    /// ```swift
    /// func run(in session: PeripheralSession) async throws {
    ///     for await event in session.events {
    ///         if case .disconnected(let central, _) = event { forget(central) }
    ///     }
    /// }
    /// ```
    ///
    /// Each ``Peripheral/run(on:logger:_:)`` calls ``run(in:)`` once for each service declaration. The call
    /// of ``run(in:)`` begins at the same time as the `body` closure of the run. After the `body` closure has
    /// returned, the run cancels the call of ``run(in:)`` and waits until ``run(in:)`` has returned. The
    /// method ``run(in:)`` can also return earlier. For a service that the program adds or removes during the
    /// run, the call of ``run(in:)`` begins and ends with the service. The session is valid until
    /// ``run(in:)`` returns. The call of ``run(in:)`` continues when the peripheral is temporarily not
    /// published.
    ///
    /// When a service accesses ``PeripheralSession/events`` for the first time, the sequence begins with all
    /// events since the start of the run.
    ///
    /// - Parameter session: The session, which the `body` closure of the run also receives.
    /// - Throws: An error that ends the session. The run cancels its `body` closure and throws the error. A
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
