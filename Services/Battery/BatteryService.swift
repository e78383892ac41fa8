public import PeripheralKit
private import Synchronization

/// The Battery service, 0x180F, for one battery.
///
/// It implements the Battery Service specification 1.1, and 1.0.
///
/// If the program receives the level from time to time, let the service store it:
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
/// If the program can read the level at any time, let the service request it:
///
/// ```swift
/// let battery = BatteryService { BatteryLevel(try await gauge.percent) }
/// ```
///
/// A device with several batteries declares a service for each and identifies them:
///
/// ```swift
/// let left = BatteryService(level: BatteryLevel(80), which: .left)
/// let right = BatteryService(level: BatteryLevel(75), which: .right)
/// ```
///
/// Of version 1.1, the service covers the Battery Level Status. It does not cover further descriptions of a
/// battery, such as its energy, health and times.
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
    ///     `nil` to omit it.
    ///   - which: A description that distinguishes the battery from others.
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

    /// Declares a service that requests level and status each time a central reads them.
    ///
    /// - Parameters:
    ///   - status: Returns the status; `nil` to omit it. Throwing refuses the central's request.
    ///   - which: A description that distinguishes the battery from others.
    ///   - security: The security required to read and to subscribe.
    ///   - level: Returns the level. Throwing refuses the central's request.
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
    /// A service that stores the level stores this one, and sends nothing when the level has not changed.
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
    /// It has no effect in a service without a status. A service that stores the status stores this one, and
    /// sends nothing when the status has not changed.
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
