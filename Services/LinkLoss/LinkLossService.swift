public import PeripheralImmediateAlert
public import PeripheralKit
private import Synchronization

/// The Link Loss service, 0x1803, which starts an alert when a connection ends.
///
/// The service implements the Link Loss Service specification 1.0.
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
/// Each central chooses the alert level for its connection. The initial alert level is `AlertLevel.none`. The
/// alert level of a bonded central applies until that central writes another level. If a central is not
/// bonded, its alert level applies only until the central disconnects.
///
/// The alert starts regardless of why the connection ended (Link Loss Service 1.0, section 3.2). To
/// disconnect without an alert, a central first writes `AlertLevel.none`.
public struct LinkLossService: GATTServiceDeclaration {
    /// The Alert Level characteristic, 0x2A06, which centrals read and write.
    public let alertLevel: Characteristic<AlertLevel>

    private let onAlert: @Sendable (AlertLevel, Central) async -> Void
    private let levels = LinkLossLevels()

    /// Declares the service.
    ///
    /// - Parameters:
    ///   - security: The security required to read and write the alert level. The Proximity profile requires
    ///     at least encryption for a device in the Proximity Reporter role.
    ///   - onAlert: A closure that starts an alert at the given level when the connection to a central ends.
    ///     When the central reconnects, the service calls the closure with `AlertLevel.none` to end the
    ///     alert. The program can limit the duration of the alert, or let the user silence the alert.
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

    /// Starts an alert when the connection to a central ends.
    ///
    /// A running peripheral calls the `run(in:)` method of each service.
    ///
    /// - Parameter session: The session of a peripheral. The peripheral must declare the service.
    public func run(in session: PeripheralSession) async {
        levels.note(session)
        defer { levels.note(nil) }
        // Centrals may connect and disconnect while the program alerts.
        let (alerts, alert) = AsyncStream.makeStream(
            of: (level: AlertLevel, central: Central).self,
            bufferingPolicy: .bufferingNewest(64)
        )
        await withTaskGroup { group in
            group.addTask { [levels] in
                defer { alert.finish() }
                for await event in session.events {
                    switch event {
                    case .disconnected(let central, _):
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

    /// The service that the peripheral publishes.
    public var service: GATTService {
        GATTService(.linkLoss) { alertLevel }
    }
}

/// The level of each central, and the centrals for which the device alerts.
private final class LinkLossLevels: Sendable {
    private struct Choice {
        var level: AlertLevel
        /// The connection over which the central chose the level.
        ///
        /// It is `nil` if the end of that connection is known, or if it belongs to an earlier session.
        var connection: Central.Connection?

        /// Whether the connection is still open.
        ///
        /// Its choice does not apply to the end of an earlier connection.
        var isCurrent: Bool { connection?.isOpen ?? false }
    }

    private struct State {
        var session: PeripheralSession?
        /// The last choice of each connection whose end is not known yet.
        ///
        /// For a bonded central, the choice of its earlier connections comes first.
        var choices: [Central.ID: [Choice]] = [:]
        var alerting: Set<Central.ID> = []
    }

    private let state = Mutex(State())

    /// Records the session, which identifies connections.
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
            // Limits the list for a central that reconnects faster than its events are processed.
            state.choices[central.id] = choices.suffix(8)
        }
    }

    /// Returns the level of the connection that has ended.
    func lose(_ central: Central) -> AlertLevel {
        state.withLock { state in
            let choices = state.choices[central.id] ?? []
            // Several connections may have ended already. Each end is reported once, in order.
            let own = choices.firstIndex { $0.connection != nil && !$0.isCurrent }
            guard var ended = own.map({ choices[$0] }) ?? choices.first(where: { $0.connection == nil })
            else {
                return .none
            }
            ended.connection = nil
            let others = choices.indices.filter { $0 != own && choices[$0].connection != nil }.map {
                choices[$0]
            }
            // A central that is not bonded returns under another address, if it returns.
            let kept = (central.isBonded ? [ended] : []) + others
            state.choices[central.id] = kept.isEmpty ? nil : kept
            if central.isBonded, ended.level != .none { state.alerting.insert(central.id) }
            return ended.level
        }
    }

    /// Returns whether the central's alert must end.
    func regain(_ central: Central.ID) -> Bool {
        state.withLock { $0.alerting.remove(central) != nil }
    }
}
