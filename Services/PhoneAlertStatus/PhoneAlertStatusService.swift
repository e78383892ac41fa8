public import PeripheralKit
private import Synchronization

/// The Phone Alert Status service, 0x180E, of the Phone Alert Status Service specification 1.0: what a phone is doing to get
/// its user's attention, and what a watch may do about it.
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
/// A command changes neither value by itself: the program tells what has become of the ringer when it has.
public struct PhoneAlertStatusService: GATTServiceDeclaration {
    /// The Alert Status, 0x2A3F, which centrals read and subscribe to.
    public let alertStatus: Characteristic<AlertStatus>

    /// The Ringer Setting, 0x2A41, which centrals read and subscribe to.
    public let ringerSetting: Characteristic<RingerSetting>

    /// The Ringer Control Point, 0x2A40, which centrals write without a response; `nil` when they cannot control the ringer.
    public let controlPoint: Characteristic<RingerCommand>?

    private let kept: KeptState

    /// Declares the service, which keeps both values.
    ///
    /// - Parameters:
    ///   - alertStatus: What alerts, until the first ``update(to:in:)-(AlertStatus,_)``.
    ///   - ringerSetting: How the ringer is set, until the first ``update(to:in:)-(RingerSetting,_)``.
    ///   - security: What it takes to read, to subscribe, and to write the control point; an encrypted link by default, since
    ///     it tells when somebody is called, and silences the phone.
    ///   - obey: Does what a central wants of the ringer (section 3.3); `nil` to leave the control point out. Commands
    ///     that the phone does not support are ignored. ``RingerCommand/muteOnce`` only comes while the ringer is active, so that
    ///     it never mutes a later alert; commands that are reserved do not come.
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
                    // Nothing is kept of a Mute Once that finds no ringing, for an alert that comes later.
                    if command == .muteOnce, !kept.alertStatus.withLock(\.isRingerActive) { return }
                    await obey(command)
                }
            }
        }
    }

    /// Keeps a new alert status, and notifies the centrals that have subscribed; sends nothing when it is the old one.
    ///
    /// - Parameters:
    ///   - status: What alerts now.
    ///   - session: The session of the peripheral that declares the service.
    /// - Throws: As `session.notify` does.
    public func update(to status: AlertStatus, in session: PeripheralSession) async throws {
        guard kept.alertStatus.replace(by: status) else { return }
        try await session.notify(alertStatus, status)
    }

    /// Keeps a new ringer setting, and notifies the centrals that have subscribed; sends nothing when it is the old one.
    ///
    /// - Parameters:
    ///   - setting: How the ringer is set now.
    ///   - session: The session of the peripheral that declares the service.
    /// - Throws: As `session.notify` does.
    public func update(to setting: RingerSetting, in session: PeripheralSession) async throws {
        guard kept.ringerSetting.replace(by: setting) else { return }
        try await session.notify(ringerSetting, setting)
    }

    /// The service as it is published.
    public var service: GATTService {
        GATTService(.phoneAlertStatus) {
            alertStatus
            ringerSetting
            if let controlPoint { controlPoint }
        }
    }
}

/// The values of a ``PhoneAlertStatusService``, shared by those who read them and those who update them.
private final class KeptState: Sendable {
    let alertStatus: Mutex<AlertStatus>
    let ringerSetting: Mutex<RingerSetting>

    init(alertStatus: AlertStatus, ringerSetting: RingerSetting) {
        self.alertStatus = Mutex(alertStatus)
        self.ringerSetting = Mutex(ringerSetting)
    }
}

extension Mutex where Value: Equatable & Sendable {
    /// Tells whether the value has changed.
    fileprivate func replace(by value: Value) -> Bool {
        withLock { current in
            defer { current = value }
            return current != value
        }
    }
}
