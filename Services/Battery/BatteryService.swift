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
public struct BatteryService: GATTServiceDeclaration {
    /// The Battery Level, 0x2A19, which centrals read and subscribe to.
    public let level: Characteristic<BatteryLevel>

    private let kept: KeptLevel?

    /// Declares the service, which keeps the level.
    ///
    /// - Parameter level: The level that centrals read until the first ``update(to:in:)``.
    public init(level: BatteryLevel) {
        let kept = KeptLevel(level)
        self.kept = kept
        self.level = Characteristic(.batteryLevel, [.read, .notify]) {
            Read { kept.level }
        }
    }

    /// Declares the service, which asks for the level each time that a central reads it.
    ///
    /// - Parameter level: Tells the level. Throwing refuses the central's request.
    public init(level: @escaping @Sendable () async throws -> BatteryLevel) {
        kept = nil
        self.level = Characteristic(.batteryLevel, [.read, .notify]) {
            Read(level)
        }
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
        if let kept, !kept.replace(by: level) { return }
        try await session.notify(self.level, level)
    }

    /// The service as it is published.
    public var service: GATTService {
        GATTService(.battery) { level }
    }
}

/// The level of a ``BatteryService``, shared by those who read it and those who update it.
private final class KeptLevel: Sendable {
    private let state: Mutex<BatteryLevel>

    init(_ level: BatteryLevel) {
        state = Mutex(level)
    }

    var level: BatteryLevel { state.withLock(\.self) }

    /// Tells whether the level has changed.
    func replace(by level: BatteryLevel) -> Bool {
        state.withLock { current in
            defer { current = level }
            return current != level
        }
    }
}
