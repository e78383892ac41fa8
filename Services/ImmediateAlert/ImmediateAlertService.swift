public import PeripheralKit
private import Synchronization

/// The Immediate Alert service, 0x1802, which lets centrals start an alert.
///
/// For example, an alert can make the device flash or ring.
///
/// The service implements the Immediate Alert Service specification 1.0.
///
/// ```swift
/// import PeripheralBlueZ
/// import PeripheralImmediateAlert
/// import PeripheralKit
///
/// let immediateAlert = ImmediateAlertService { level in await buzzer.sound(level) }
/// let peripheral = Peripheral("Keys") { immediateAlert }
///
/// try await peripheral.run(on: .bluez)
/// ```
///
/// Each of the following events ends an alert (Immediate Alert Service 1.0, section 3.1.1):
/// - A central writes a different alert level.
/// - The central that started the alert disconnects.
/// - The time limit of the alert expires.
/// - A user silences the alert on the device.
///
/// The program must limit the duration of the alert, and must let the user silence the alert. Centrals write
/// the level without a response, and therefore do not receive a result. The service ignores a value that is
/// not a valid alert level.
public struct ImmediateAlertService: GATTServiceDeclaration {
    /// The Alert Level characteristic, 0x2A06, which centrals write.
    public let alertLevel: Characteristic<AlertLevel>

    private let onAlert: @Sendable (AlertLevel) async -> Void
    private let alerting = AlertingCentral()

    /// Declares the service.
    ///
    /// - Parameters:
    ///   - security: The security required to start an alert. By default, no security is required.
    ///   - onAlert: A closure that starts an alert at the given level. A new alert replaces the previous
    ///     alert. The level ``AlertLevel/none`` ends the alert.
    public init(
        security: AttributeSecurity = .open,
        onAlert: @escaping @Sendable (_ level: AlertLevel) async -> Void
    ) {
        self.onAlert = onAlert
        alertLevel = Characteristic(.alertLevel, .writeWithoutResponse, security: security) { [alerting] in
            Write { level, central in
                alerting.set(level == .none ? nil : central.id)
                await onAlert(level)
                // The central may have disconnected before the alert began.
                if level != .none, alerting.isOver { await onAlert(.none) }
            }
        }
    }

    /// Ends an alert when the central that started it disconnects, or when the session ends.
    ///
    /// A running peripheral calls the `run(in:)` method of each service.
    ///
    /// - Parameter session: The session of a peripheral. The peripheral must declare the service.
    public func run(in session: PeripheralSession) async {
        for await event in session.events {
            guard case .disconnected(let central, _) = event, alerting.end(by: central.id) else { continue }
            await onAlert(.none)
        }
        // No central can end it any more.
        if alerting.end() { await onAlert(.none) }
    }

    /// The GATT service that the peripheral publishes.
    public var service: GATTService {
        GATTService(.immediateAlert) { alertLevel }
    }
}

/// The central that has started the current alert.
private final class AlertingCentral: Sendable {
    private let state = Mutex<Central.ID?>(nil)

    var isOver: Bool { state.withLock { $0 == nil } }

    func set(_ central: Central.ID?) {
        state.withLock { $0 = central }
    }

    /// Ends an alert, and returns whether there was one.
    ///
    /// If a central is given, only its alert ends.
    func end(by central: Central.ID? = nil) -> Bool {
        state.withLock { current in
            guard current != nil, central == nil || central == current else { return false }
            current = nil
            return true
        }
    }
}
