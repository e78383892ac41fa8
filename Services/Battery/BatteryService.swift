public import PeripheralKit
private import Synchronization

/// The Battery service, 0x180F, for one battery.
///
/// The service implements versions 1.0 and 1.1 of the Battery Service specification.
///
/// If the program receives the level from time to time, let the service store the level:
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
/// If the program can read the level at any time, let the service request the level:
///
/// ```swift
/// let battery = BatteryService { BatteryLevel(try await gauge.percent) }
/// ```
///
/// A device with several batteries declares a service for each battery and identifies the batteries:
///
/// ```swift
/// let left = BatteryService(level: BatteryLevel(80), which: .left)
/// let right = BatteryService(level: BatteryLevel(75), which: .right)
/// ```
///
/// From version 1.1, the service implements the Battery Level Status. The service does not implement other
/// descriptions of a battery, such as its energy, health and times.
public struct BatteryService: GATTServiceDeclaration {
    /// The Battery Level, 0x2A19, which centrals read and subscribe to.
    public let level: Characteristic<BatteryLevel>

    /// The Battery Level Status, 0x2BED, which centrals read and subscribe to; `nil` when it is not declared.
    public let status: Characteristic<BatteryLevelStatus>?

    private let keptLevel: Kept<BatteryLevel>?
    private let keptStatus: Kept<BatteryLevelStatus>?

    /// Declares a service that stores the level and the status.
    ///
    /// - Parameters:
    ///   - level: The level that centrals read until the first ``update(to:in:)-(BatteryLevel,_)``.
    ///   - status: The status that centrals read until the first ``update(to:in:)-(BatteryLevelStatus,_)``;
    ///     `nil` to omit the status.
    ///   - which: A description that distinguishes the battery from other batteries.
    ///   - security: The security required to read and to subscribe.
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

    /// Declares a service that requests the level and the status for each read.
    ///
    /// - Parameters:
    ///   - status: Returns the status; `nil` to omit the status. If the closure throws, the central's request
    ///     is refused.
    ///   - which: A description that distinguishes the battery from other batteries.
    ///   - security: The security required to read and to subscribe.
    ///   - level: Returns the level. If the closure throws, the central's request is refused.
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

    /// Notifies the subscribers of a new level.
    ///
    /// A service that stores the level replaces the stored level. Such a service sends nothing if the level
    /// has not changed.
    ///
    /// - Parameters:
    ///   - level: The new level.
    ///   - session: The session of the peripheral that declares the service.
    /// - Throws: The errors of `session.notify`.
    public func update(to level: BatteryLevel, in session: PeripheralSession) async throws {
        if let keptLevel, !keptLevel.replace(by: level) { return }
        try await session.notify(self.level, level)
    }

    /// Notifies the subscribers of a new status.
    ///
    /// The method has no effect in a service without a status. A service that stores the status replaces the
    /// stored status. Such a service sends nothing if the status has not changed.
    ///
    /// - Parameters:
    ///   - status: The new status.
    ///   - session: The session of the peripheral that declares the service.
    /// - Throws: The errors of `session.notify`.
    public func update(to status: BatteryLevelStatus, in session: PeripheralSession) async throws {
        guard let characteristic = self.status else { return }
        if let keptStatus, !keptStatus.replace(by: status) { return }
        try await session.notify(characteristic, status)
    }

    /// The service as it is published.
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
