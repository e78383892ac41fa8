public import PeripheralImmediateAlert
public import PeripheralKit
private import Synchronization

/// The Link Loss service, 0x1803, of the Link Loss Service specification 1.0: the device alerts when it loses a central.
///
/// ```swift
/// import PeripheralBlueZ
/// import PeripheralKit
/// import PeripheralLinkLoss
///
/// let linkLoss = LinkLossService { level, _ in await buzzer.sound(level) }
/// let peripheral = Peripheral("Keys") { linkLoss }
///
/// try await peripheral.run(on: .bluez)
/// ```
///
/// Each central chooses its own level; it is ``AlertLevel/none`` until then. That of a bonded central lasts until it
/// writes another, that of any other as long as its connection.
///
/// The device alerts for whatever reason the connection ends (section 3.2): a central that means to leave without an
/// alert writes ``AlertLevel/none`` before.
public struct LinkLossService: GATTServiceDeclaration {
    /// The Alert Level, 0x2A06, which centrals read and write.
    public let alertLevel: Characteristic<AlertLevel>

    private let onAlert: @Sendable (AlertLevel, Central) async -> Void
    private let levels = LinkLossLevels()

    /// Declares the service.
    ///
    /// - Parameters:
    ///   - security: What it takes to read and write the level. A reporter of the Proximity profile has it encrypted at least.
    ///   - onAlert: Begins to alert at a level since a central is lost, and ends that, with ``AlertLevel/none``,
    ///     when it is back. A time limit, or a person who silences it, is the program's affair.
    public init(
        security: AttributeSecurity = .open,
        onAlert: @escaping @Sendable (_ level: AlertLevel, _ central: Central) async -> Void
    ) {
        self.onAlert = onAlert
        alertLevel = Characteristic(.alertLevel, [.read, .write], security: security) { [levels] in
            Read { central in levels.level(of: central.id) }
            Write { level, central in levels.set(level, of: central.id) }
        }
    }

    /// Alerts when a central is lost; the peripheral runs this.
    ///
    /// - Parameter session: The session of the peripheral that declares the service.
    public func run(in session: PeripheralSession) async {
        for await event in session.events {
            switch event {
            case .disconnected(let central):
                let level = levels.lose(central)
                if level != .none { await onAlert(level, central) }
            case .connected(let central):
                if levels.regain(central.id) { await onAlert(.none, central) }
            default:
                break
            }
        }
    }

    /// The service as it is published.
    public var service: GATTService {
        GATTService(.linkLoss) { alertLevel }
    }
}

/// What each central has chosen, and for whom the device alerts.
private final class LinkLossLevels: Sendable {
    private struct State {
        var levels: [Central.ID: AlertLevel] = [:]
        var alerting: Set<Central.ID> = []
    }

    private let state = Mutex(State())

    func level(of central: Central.ID) -> AlertLevel {
        state.withLock { $0.levels[central] ?? .none }
    }

    func set(_ level: AlertLevel, of central: Central.ID) {
        state.withLock { $0.levels[central] = level == .none ? nil : level }
    }

    /// Tells how to alert.
    func lose(_ central: Central) -> AlertLevel {
        state.withLock { state in
            guard let level = state.levels[central.id] else { return .none }
            if central.isBonded {
                state.alerting.insert(central.id)
            } else {
                // It comes back under another address, if at all.
                state.levels[central.id] = nil
            }
            return level
        }
    }

    /// Tells whether an alert is to end.
    func regain(_ central: Central.ID) -> Bool {
        state.withLock { $0.alerting.remove(central) != nil }
    }
}
