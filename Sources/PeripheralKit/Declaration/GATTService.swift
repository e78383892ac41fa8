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
/// A peripheral can have several services of one type. Keep a service that others include in a constant: copies are
/// the same service, one that is made anew with characteristics of its own is another.
///
/// See Core Specification, Vol 3, Part G, 3.1 and 3.2.
public struct GATTService: Sendable {
    /// The type of the service.
    public let uuid: BluetoothUUID

    /// Whether centrals find the service by themselves, not only through one that includes it.
    public let isPrimary: Bool

    /// Where the service stands on the air, or `nil` to leave that to the Bluetooth stack.
    ///
    /// Centrals that keep what they have discovered find by the Database Hash whether it still holds. BlueZ gives handles
    /// in turn, and none a second time while bluetoothd runs: with each run of a program, a service without a handle of
    /// its own stands elsewhere, and the hash is another. Handles are the same each time where all services are pinned; the
    /// hash is, too, as long as the process lasts. Do not pin services at 0x00C0 to 0x00FF, by which programs keep out of
    /// each other's handles on BlueZ, nor at 0x0400 or beyond, where BlueZ's hash changes no more. One program at a time can
    /// have a block of 16 handles, so pin the services of different programs in different blocks.
    ///
    /// A peripheral with a restoration identifier need not pin anything: its services stay where they were, with room to grow.
    public let handle: AttributeHandle?

    package let includes: [GATTService]
    package internal(set) var characteristics: [CharacteristicDeclaration]
    private let ownIdentity = DeclarationIdentity()

    /// Declares a service.
    ///
    /// - Parameters:
    ///   - uuid: The type of the service.
    ///   - isPrimary: Whether centrals find the service by themselves. A secondary service is of use only to the
    ///     services that include it.
    ///   - includes: Services that belong to this one as well. They stand in the same peripheral, before it.
    ///   - handle: The handle of the service on the air, from 0x0001 on, with those of its characteristics and
    ///     descriptors behind it; `nil` for the next that is free. The handles of a service must be free on the
    ///     Bluetooth stack, whose own services stand at the first ones.
    ///   - characteristics: The characteristics; their order is that of their handles, except that in a peripheral that is
    ///     restored, what is new stands behind what was there before.
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

    /// What tells this service from others.
    ///
    /// Ready-made services make theirs anew for each who asks, of the same characteristics, which stand in one
    /// service only.
    package var identity: DeclarationIdentity { characteristics.first?.identity ?? ownIdentity }
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
///
/// What a service has to do by itself, such as to heed that a central leaves, it does in ``run(in:)``. That belongs to
/// the declaration: put that itself into the ``Peripheral``, not its ``service``. A declaration that stands for another
/// one runs that as well.
public protocol GATTServiceDeclaration: Sendable {
    /// The service as it is published.
    var service: GATTService { get }

    /// What the service does by itself while its peripheral runs; nothing unless it says otherwise.
    ///
    /// ```swift
    /// func run(in session: PeripheralSession) async throws {
    ///     for await event in session.events {
    ///         if case .disconnected(let central) = event { forget(central) }
    ///     }
    /// }
    /// ```
    ///
    /// The peripheral calls it, once for each declaration in each ``Peripheral/run(on:logger:_:)``: it begins when the body
    /// does, is cancelled when the body has ended, and has to return then, which the end of the run waits for. The session
    /// is valid until it has returned. When the peripheral goes off the air and comes back, it goes on. It may return
    /// before the session ends.
    ///
    /// ``PeripheralSession/events`` tells a service all that has happened since the run began, also before it asked.
    ///
    /// - Parameter session: The session, as the body has it.
    /// - Throws: What ends the session: the body is cancelled, and the run throws the same. `CancellationError`, and
    ///   ``PeripheralError`` with the code ``PeripheralError/Code/stopped``, end nothing but the service's own work.
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
