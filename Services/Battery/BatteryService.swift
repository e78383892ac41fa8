public import PeripheralKit
private import Synchronization

/// The Battery service, 0x180F, for one battery.
///
/// The service implements versions 1.0 and 1.1 of the Battery Service specification.
///
/// If a battery gauge reports each change of the level, let the service store the level:
///
/// ```swift
/// import PeripheralBattery
/// import PeripheralBlueZ
/// import PeripheralKit
///
/// let battery = BatteryService(level: BatteryLevel(gauge.percent))
/// let peripheral = Peripheral("Sensor") { battery }
///
/// try await peripheral.run(on: .bluez) { session in
///     for await percent in gauge.changes {
///         try await battery.update(to: BatteryLevel(percent), in: session)
///     }
/// }
/// ```
///
/// If the program can measure the battery level on demand, pass a closure that the service calls for each
/// read request:
///
/// ```swift
/// let battery = BatteryService { BatteryLevel(try await gauge.percent) }
/// ```
///
/// If a device has several batteries, declare one service for each battery, and pass a description of the
/// battery:
///
/// ```swift
/// let left = BatteryService(level: BatteryLevel(80), which: .left)
/// let right = BatteryService(level: BatteryLevel(75), which: .right)
/// ```
///
/// Version 1.1 of the specification added several characteristics. Battery Level Status is the only added
/// characteristic that the service implements. For example, the service does not implement Battery Energy
/// Status, Battery Health Status or Battery Time Status.
public struct BatteryService: GATTServiceDeclaration {
    /// The Battery Level characteristic, 0x2A19, which centrals read and subscribe to.
    public let level: Characteristic<BatteryLevel>

    /// The Battery Level Status characteristic, 0x2BED, which centrals read and subscribe to.
    ///
    /// The property is `nil` if the service does not declare the Battery Level Status characteristic.
    public let status: Characteristic<BatteryLevelStatus>?

    private let keptLevel: Kept<BatteryLevel>?
    private let keptStatus: Kept<BatteryLevelStatus>?

    /// Declares a service that stores the battery level and the battery status.
    ///
    /// - Parameters:
    ///   - level: The initial battery level. Before the first call to ``update(to:in:)-(BatteryLevel,_)``,
    ///     centrals read the initial level.
    ///   - status: The initial battery status. Before the first call to
    ///     ``update(to:in:)-(BatteryLevelStatus,_)``, centrals read the initial status. Use `nil` to omit the
    ///     Battery Level Status characteristic.
    ///   - which: A description that distinguishes the battery from other batteries.
    ///   - security: The link security that a central needs to read the characteristics and to subscribe to
    ///     them.
    public init(
        level: BatteryLevel,
        status: BatteryLevelStatus? = nil,
        which: PresentationFormat.Description? = nil,
        security: AttributeSecurity = .open
    ) {
        let kept = Kept(level)
        let keptStatus = status.map(Kept.init)
        (keptLevel, self.keptStatus) = (kept, keptStatus)
        self.level = Self.level(of: which, security, Read { kept.value })
        self.status = keptStatus.map { kept in Self.status(security, Read { kept.value }) }
    }

    /// Declares a service that calls the given closures for each read request.
    ///
    /// - Parameters:
    ///   - status: A closure that returns the current battery status. If the closure throws an error, the
    ///     service rejects the central's read request. Use `nil` to omit the Battery Level Status
    ///     characteristic.
    ///   - which: A description that distinguishes the battery from other batteries.
    ///   - security: The link security that a central needs to read the characteristics and to subscribe to
    ///     them.
    ///   - level: A closure that returns the current battery level. If the closure throws an error, the
    ///     service rejects the central's read request.
    public init(
        status: (@Sendable () async throws -> BatteryLevelStatus)? = nil,
        which: PresentationFormat.Description? = nil,
        security: AttributeSecurity = .open,
        level: @escaping @Sendable () async throws -> BatteryLevel
    ) {
        (keptLevel, keptStatus) = (nil, nil)
        self.level = Self.level(of: which, security, Read(level))
        self.status = status.map { Self.status(security, Read($0)) }
    }

    private static func level(
        of which: PresentationFormat.Description?,
        _ security: AttributeSecurity,
        _ read: Read<BatteryLevel>
    ) -> Characteristic<BatteryLevel> {
        Characteristic(.batteryLevel, [.read, .notify], security: security) {
            read
            if let which { PresentationFormat(.uint8, unit: .percentage, description: which) }
        }
    }

    private static func status(
        _ security: AttributeSecurity,
        _ read: Read<BatteryLevelStatus>
    ) -> Characteristic<BatteryLevelStatus> {
        Characteristic(.batteryLevelStatus, [.read, .notify], security: security) { read }
    }

    /// Sends a new battery level to the subscribers.
    ///
    /// If the service stores the battery level, the method replaces the stored level. If the new level is
    /// equal to the stored level, the method does not send a notification.
    ///
    /// - Parameters:
    ///   - level: The new level.
    ///   - session: The session of a peripheral. The peripheral must declare the service.
    /// - Throws: The errors that `session.notify` throws.
    public func update(to level: BatteryLevel, in session: PeripheralSession) async throws {
        if let keptLevel, !keptLevel.replace(by: level) { return }
        try await session.notify(self.level, level)
    }

    /// Sends a new battery status to the subscribers.
    ///
    /// Without a Battery Level Status characteristic, the method has no effect. If the service stores the
    /// battery status, the method replaces the stored status. If the new status is equal to the stored
    /// status, the method does not send a notification.
    ///
    /// - Parameters:
    ///   - status: The new status.
    ///   - session: The session of a peripheral. The peripheral must declare the service.
    /// - Throws: The errors that `session.notify` throws.
    public func update(to status: BatteryLevelStatus, in session: PeripheralSession) async throws {
        guard let characteristic = self.status else { return }
        if let keptStatus, !keptStatus.replace(by: status) { return }
        try await session.notify(characteristic, status)
    }

    /// The service that the peripheral publishes.
    public var service: GATTService {
        GATTService(.battery) {
            level
            if let status { status }
        }
    }
}

/// A value of a ``BatteryService``, shared by its reads and updates.
private final class Kept<Value: Equatable & Sendable>: Sendable {
    private let state: Mutex<Value>

    init(_ value: Value) {
        state = Mutex(value)
    }

    var value: Value { state.withLock(\.self) }

    /// Replaces the value, and returns whether it has changed.
    func replace(by value: Value) -> Bool {
        state.withLock { current in
            defer { current = value }
            return current != value
        }
    }
}
