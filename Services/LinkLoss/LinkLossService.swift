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
/// Each central chooses its own level; it is `AlertLevel.none` until then. That of a bonded central lasts until it
/// writes another, that of any other as long as its connection.
///
/// The device alerts for whatever reason the connection ends (section 3.2): a central that means to leave without an
/// alert writes `AlertLevel.none` before.
public struct LinkLossService: GATTServiceDeclaration {
    /// The Alert Level, 0x2A06, which centrals read and write.
    public let alertLevel: Characteristic<AlertLevel>

    private let onAlert: @Sendable (AlertLevel, Central) async -> Void
    private let levels = LinkLossLevels()

    /// Declares the service.
    ///
    /// - Parameters:
    ///   - security: What it takes to read and write the level. A reporter of the Proximity profile has it encrypted at least.
    ///   - onAlert: Begins to alert at a level since a central is lost, and ends that, with `AlertLevel.none`,
    ///     when it is back. A time limit, or a person who silences it, is the program's affair.
    public init(
        security: AttributeSecurity = .open,
        onAlert: @escaping @Sendable (_ level: AlertLevel, _ central: Central) async -> Void
    ) {
        self.onAlert = onAlert
        alertLevel = Characteristic(.alertLevel, [.read, .write], security: security) { [levels] in
            Read { central in levels.level(of: central) }
            Write { level, central in levels.set(level, of: central) }
        }
    }

    /// Alerts when a central is lost; the peripheral runs this.
    ///
    /// - Parameter session: The session of the peripheral that declares the service.
    public func run(in session: PeripheralSession) async {
        levels.note(session)
        defer { levels.note(nil) }
        // While the program alerts, centrals go on to come and go.
        let (alerts, alert) = AsyncStream.makeStream(
            of: (level: AlertLevel, central: Central).self,
            bufferingPolicy: .bufferingNewest(64)
        )
        await withTaskGroup { group in
            group.addTask { [levels] in
                defer { alert.finish() }
                for await event in session.events {
                    switch event {
                    case .disconnected(let central):
                        let level = levels.lose(central)
                        if level != .none { alert.yield((level, central)) }
                    case .connected(let central):
                        if levels.regain(central.id) { alert.yield((.none, central)) }
                    default:
                        break
                    }
                }
            }
            for await (level, central) in alerts { await onAlert(level, central) }
        }
    }

    /// The service as it is published.
    public var service: GATTService {
        GATTService(.linkLoss) { alertLevel }
    }
}

/// What each central has chosen, and for which of them the device alerts.
private final class LinkLossLevels: Sendable {
    private struct Choice {
        var level: AlertLevel
        /// By which connection; `nil` for one of a connection whose end is known, or of an earlier session.
        var connection: Central.Connection?

        /// Whether the connection lasts: what it has chosen is not for the end of an earlier one.
        var isCurrent: Bool { connection?.isOpen ?? false }
    }

    private struct State {
        var session: PeripheralSession?
        /// The last choice of each connection whose end is not known yet; before them, that of a bonded central's earlier
        /// connections.
        var choices: [Central.ID: [Choice]] = [:]
        var alerting: Set<Central.ID> = []
    }

    private let state = Mutex(State())

    /// Takes note of the session, which tells connections apart.
    func note(_ session: PeripheralSession?) {
        state.withLock { $0.session = session }
    }

    func level(of central: Central) -> AlertLevel {
        state.withLock { state in
            guard let choice = state.choices[central.id]?.last else { return .none }
            return central.isBonded || choice.isCurrent || choice.connection == nil ? choice.level : .none
        }
    }

    func set(_ level: AlertLevel, of central: Central) {
        let connection = state.withLock(\.session)?.connection(of: central)
        state.withLock { state in
            var choices = state.choices[central.id] ?? []
            if let last = choices.last, last.connection == connection { choices.removeLast() }
            choices.append(Choice(level: level, connection: connection))
            // A central that comes and goes faster than its events are seen.
            state.choices[central.id] = choices.suffix(8)
        }
    }

    /// Tells how to alert: at the level of the connection that has ended.
    func lose(_ central: Central) -> AlertLevel {
        state.withLock { state in
            let choices = state.choices[central.id] ?? []
            // Several connections may have ended by now: each end comes once, in their order.
            let own = choices.firstIndex { $0.connection != nil && !$0.isCurrent }
            guard var ended = own.map({ choices[$0] }) ?? choices.first(where: { $0.connection == nil })
            else {
                return .none
            }
            ended.connection = nil
            let others = choices.indices.filter { $0 != own && choices[$0].connection != nil }.map {
                choices[$0]
            }
            // One that is not bonded comes back under another address, if at all.
            let kept = (central.isBonded ? [ended] : []) + others
            state.choices[central.id] = kept.isEmpty ? nil : kept
            if central.isBonded, ended.level != .none { state.alerting.insert(central.id) }
            return ended.level
        }
    }

    /// Tells whether an alert is to end.
    func regain(_ central: Central.ID) -> Bool {
        state.withLock { $0.alerting.remove(central) != nil }
    }
}
