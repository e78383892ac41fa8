public import PeripheralKit
private import Synchronization

/// The Phone Alert Status service, 0x180E.
///
/// The service publishes the alerts and the ringer setting of a phone.
///
/// The service implements the Phone Alert Status Service specification 1.0. For example, a watch can show the
/// alerts and silence the ringer.
///
/// ```swift
/// import PeripheralBlueZ
/// import PeripheralKit
/// import PeripheralPhoneAlertStatus
///
/// let alerts = PhoneAlertStatusService(ringerSetting: phone.ringerSetting) { await phone.obey($0) }
/// let peripheral = Peripheral("Phone", pairing: .justWorks) { alerts }
///
/// try await peripheral.run(on: .bluez) { session in
///     for await change in phone.changes {
///         try await alerts.update(to: change.ringerSetting, in: session)
///         try await alerts.update(to: change.alertStatus, in: session)
///     }
/// }
/// ```
///
/// A command from a central does not change the values that the service stores. The program must update the
/// values when the ringer changes.
public struct PhoneAlertStatusService: GATTServiceDeclaration {
    /// The Alert Status characteristic, 0x2A3F, which centrals read and subscribe to.
    public let alertStatus: Characteristic<AlertStatus>

    /// The Ringer Setting characteristic, 0x2A41, which centrals read and subscribe to.
    public let ringerSetting: Characteristic<RingerSetting>

    /// The Ringer Control Point characteristic, 0x2A40, which centrals write without a response.
    ///
    /// The property is `nil` if centrals cannot control the ringer.
    public let controlPoint: Characteristic<RingerCommand>?

    private let kept: KeptState

    /// Declares the service.
    ///
    /// The service stores the alert status and the ringer setting.
    ///
    /// - Parameters:
    ///   - alertStatus: The initial alert status, which applies until the first call to
    ///     ``update(to:in:)-(AlertStatus,_)``.
    ///   - ringerSetting: The initial ringer setting, which applies until the first call to
    ///     ``update(to:in:)-(RingerSetting,_)``.
    ///   - security: The security required to read the values, to subscribe to the values, and to write to
    ///     the control point. The default is encryption, because the service reveals incoming calls and lets
    ///     centrals silence the phone.
    ///   - obey: A closure that executes a central's command for the ringer (Phone Alert Status Service 1.0,
    ///     section 3.3). If the closure is `nil`, the service has no control point. The closure must ignore
    ///     commands that the phone does not support. The service ignores ``RingerCommand/muteOnce`` while the
    ///     ringer is not active. A ``RingerCommand/muteOnce`` command therefore cannot mute an alert that
    ///     begins after the command. The service ignores reserved commands.
    public init(
        alertStatus: AlertStatus = AlertStatus(),
        ringerSetting: RingerSetting,
        security: AttributeSecurity = .encrypted,
        onRingerCommand obey: (@Sendable (RingerCommand) async -> Void)? = nil
    ) {
        let kept = KeptState(alertStatus: alertStatus, ringerSetting: ringerSetting)
        self.kept = kept
        self.alertStatus = Characteristic(.alertStatus, [.read, .notify], security: security) {
            Read { kept.alertStatus.withLock(\.self) }
        }
        self.ringerSetting = Characteristic(.ringerSetting, [.read, .notify], security: security) {
            Read { kept.ringerSetting.withLock(\.self) }
        }
        controlPoint = obey.map { obey in
            Characteristic(.ringerControlPoint, .writeWithoutResponse, security: security) {
                Write { (command: RingerCommand) in
                    // A Mute Once without ringing is dropped, so that it does not mute a later alert.
                    if command == .muteOnce, !kept.alertStatus.withLock(\.isRingerActive) { return }
                    await obey(command)
                }
            }
        }
    }

    /// Stores a new alert status, and notifies the subscribers if the status has changed.
    ///
    /// - Parameters:
    ///   - status: The new status.
    ///   - session: The session of a peripheral. The peripheral must declare the service.
    /// - Throws: The function throws the same errors as `session.notify`.
    public func update(to status: AlertStatus, in session: PeripheralSession) async throws {
        guard kept.alertStatus.replace(by: status) else { return }
        try await session.notify(alertStatus, status)
    }

    /// Stores a new ringer setting, and notifies the subscribers if the setting has changed.
    ///
    /// - Parameters:
    ///   - setting: The new setting.
    ///   - session: The session of a peripheral. The peripheral must declare the service.
    /// - Throws: The function throws the same errors as `session.notify`.
    public func update(to setting: RingerSetting, in session: PeripheralSession) async throws {
        guard kept.ringerSetting.replace(by: setting) else { return }
        try await session.notify(ringerSetting, setting)
    }

    /// The service that the peripheral publishes.
    public var service: GATTService {
        GATTService(.phoneAlertStatus) {
            alertStatus
            ringerSetting
            if let controlPoint { controlPoint }
        }
    }
}

/// The values of a ``PhoneAlertStatusService``, shared by the characteristics and the service.
private final class KeptState: Sendable {
    let alertStatus: Mutex<AlertStatus>
    let ringerSetting: Mutex<RingerSetting>

    init(alertStatus: AlertStatus, ringerSetting: RingerSetting) {
        self.alertStatus = Mutex(alertStatus)
        self.ringerSetting = Mutex(ringerSetting)
    }
}

extension Mutex where Value: Equatable & Sendable {
    /// Replaces the value, and returns whether it has changed.
    fileprivate func replace(by value: Value) -> Bool {
        withLock { current in
            defer { current = value }
            return current != value
        }
    }
}
