public import PeripheralKit
private import Synchronization

/// The Battery service, 0x180F, of the Battery Service specification 1.1 (and 1.0), for one battery.
///
/// A program that hears of its battery now and then lets the service keep the level:
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
/// A program that can ask at any time has the service ask:
///
/// ```swift
/// let battery = BatteryService { BatteryLevel(try await gauge.percent) }
/// ```
///
/// A device with several batteries declares a service for each, and says which is which:
///
/// ```swift
/// let left = BatteryService(level: BatteryLevel(80), which: .left)
/// let right = BatteryService(level: BatteryLevel(75), which: .right)
/// ```
///
/// Of version 1.1, the Battery Level Status is covered; what describes a battery further, such as its energy, health and
/// times, is not.
public struct BatteryService: GATTServiceDeclaration {
    /// The Battery Level, 0x2A19, which centrals read and subscribe to.
    public let level: Characteristic<BatteryLevel>

    /// The Battery Level Status, 0x2BED, which centrals read and subscribe to; `nil` when it is not told.
    public let status: Characteristic<BatteryLevelStatus>?

    private let keptLevel: Kept<BatteryLevel>?
    private let keptStatus: Kept<BatteryLevelStatus>?

    /// Declares the service, which keeps level and status.
    ///
    /// - Parameters:
    ///   - level: The level that centrals read until the first ``update(to:in:)-(BatteryLevel,_)``.
    ///   - status: The status that centrals read until the first ``update(to:in:)-(BatteryLevelStatus,_)``; `nil` to leave it
    ///     out.
    ///   - which: Which of several batteries it is.
    ///   - security: What it takes to read and to subscribe.
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

    /// Declares the service, which asks for level and status each time that a central reads them.
    ///
    /// - Parameters:
    ///   - status: Tells the status; `nil` to leave it out. Throwing refuses the central's request.
    ///   - which: Which of several batteries it is.
    ///   - security: What it takes to read and to subscribe.
    ///   - level: Tells the level. Throwing refuses the central's request.
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

    /// Notifies the centrals that have subscribed of a new level.
    ///
    /// A service that keeps the level also keeps this one, and sends nothing when it is the old one.
    ///
    /// - Parameters:
    ///   - level: The new level.
    ///   - session: The session of the peripheral that declares the service.
    /// - Throws: As `session.notify` does.
    public func update(to level: BatteryLevel, in session: PeripheralSession) async throws {
        if let keptLevel, !keptLevel.replace(by: level) { return }
        try await session.notify(self.level, level)
    }

    /// Notifies the centrals that have subscribed of a new status; without effect in a service that has none.
    ///
    /// A service that keeps the status also keeps this one, and sends nothing when it is the old one.
    ///
    /// - Parameters:
    ///   - status: The new status.
    ///   - session: The session of the peripheral that declares the service.
    /// - Throws: As `session.notify` does.
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

/// A value of a ``BatteryService``, shared by those who read it and those who update it.
private final class Kept<Value: Equatable & Sendable>: Sendable {
    private let state: Mutex<Value>

    init(_ value: Value) {
        state = Mutex(value)
    }

    var value: Value { state.withLock(\.self) }

    /// Tells whether the value has changed.
    func replace(by value: Value) -> Bool {
        state.withLock { current in
            defer { current = value }
            return current != value
        }
    }
}
