public import PeripheralKit
private import Synchronization

/// The Immediate Alert service, 0x1802, of the Immediate Alert Service specification 1.0: a central makes the device
/// flash or ring at once.
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
/// An alert lasts until a central writes another level, its central leaves, the device has enough of it, or somebody
/// has silenced it there (section 3.1.1); the last two are the program's affair. Writes are without response: a central
/// does not learn what becomes of them, and what is no level is ignored.
public struct ImmediateAlertService: GATTServiceDeclaration {
    /// The Alert Level, 0x2A06, which centrals write.
    public let alertLevel: Characteristic<AlertLevel>

    private let onAlert: @Sendable (AlertLevel) async -> Void
    private let alerting = AlertingCentral()

    /// Declares the service.
    ///
    /// - Parameters:
    ///   - security: What it takes to make the device alert. Anybody near can, by default.
    ///   - onAlert: Begins to alert at a level, in place of the one before; ends it for ``AlertLevel/none``.
    public init(
        security: AttributeSecurity = .open,
        onAlert: @escaping @Sendable (_ level: AlertLevel) async -> Void
    ) {
        self.onAlert = onAlert
        alertLevel = Characteristic(.alertLevel, .writeWithoutResponse, security: security) { [alerting] in
            Write { level, central in
                alerting.set(level == .none ? nil : central.id)
                await onAlert(level)
                // Its central may have left before the alert had begun.
                if level != .none, alerting.isOver { await onAlert(.none) }
            }
        }
    }

    /// Ends the alert when the central leaves that has begun it, or the session ends; the peripheral runs this.
    ///
    /// - Parameter session: The session of the peripheral that declares the service.
    public func run(in session: PeripheralSession) async {
        for await event in session.events {
            guard case .disconnected(let central) = event, alerting.end(by: central.id) else { continue }
            await onAlert(.none)
        }
        // Nobody can end it any more.
        if alerting.end() { await onAlert(.none) }
    }

    /// The service as it is published.
    public var service: GATTService {
        GATTService(.immediateAlert) { alertLevel }
    }
}

/// The central that has begun the alert, while it lasts.
private final class AlertingCentral: Sendable {
    private let state = Mutex<Central.ID?>(nil)

    var isOver: Bool { state.withLock { $0 == nil } }

    func set(_ central: Central.ID?) {
        state.withLock { $0 = central }
    }

    /// Tells whether there was an alert, and that of this central if one is given.
    func end(by central: Central.ID? = nil) -> Bool {
        state.withLock { current in
            guard current != nil, central == nil || central == current else { return false }
            current = nil
            return true
        }
    }
}
