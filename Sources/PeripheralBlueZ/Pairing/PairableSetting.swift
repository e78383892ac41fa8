internal import Logging
internal import PeripheralDBus
internal import Synchronization

/// The property `Pairable` of an adapter during a run.
///
/// An adapter that is not pairable refuses bonds, regardless of the agent's answer. bluetoothd makes all
/// adapters pairable when the default agent changes, and not pairable when no agent is left, unless
/// `AlwaysPairable` is set (BlueZ, set_io_cap in src/agent.c). It also makes an adapter not pairable after
/// its `PairableTimeout`. Other programs set the property, too.
final class PairableSetting: Sendable {
    private struct State {
        /// The adapter's value before the registration; `nil` if it is not known.
        var former: Bool?
        /// Whether changes by others are undone.
        var isKept = false
        var corrections = PairableCorrections()
        /// Waits for the end of the period of corrections.
        var timer: Task<Void, Never>?
    }

    /// The longest time that bluetoothd can need for one change is far shorter.
    private static let (attempts, pause) = (50, Duration.milliseconds(20))

    private let connection: BusConnection
    private let clock: any Clock<Duration>
    private let log: RunLog
    private let wanted: @Sendable (_ former: Bool) -> Bool
    private let state = Mutex(State())

    /// The closure `wanted` returns the value that the adapter must have, from its value before the run.
    init(
        on connection: BusConnection,
        by clock: any Clock<Duration>,
        log: RunLog,
        wanted: @escaping @Sendable (_ former: Bool) -> Bool
    ) {
        self.connection = connection
        self.clock = clock
        self.log = log
        self.wanted = wanted
    }

    deinit {
        state.withLock { $0.timer?.cancel() }
    }

    /// Records the value of the adapter before the agent is registered.
    ///
    /// If `isWatched` is true, changes by others are undone after ``apply(to:)``.
    func begin(on adapter: ObjectPath, isWatched: Bool) async throws(BusError) {
        if isWatched { try await watch(adapter) }
        let answer = try await connection.call(
            BlueZ.name,
            adapter,
            .properties,
            "Get",
            [.string(BlueZ.adapter.text), .string("Pairable")]
        )
        state.withLock { $0.former = answer.first?.bool ?? false }
    }

    /// Sets the wanted value, and keeps it from now on.
    func apply(to adapter: ObjectPath) async throws(BusError) {
        state.withLock { $0.isKept = true }
        while true {
            let value = wantedValue
            try await set(value, of: adapter)
            // Another change may have overtaken this one.
            if wantedValue == value { return }
        }
    }

    /// Restores the former value around the end of the agent.
    ///
    /// An adapter that was pairable becomes so before the end, because bluetoothd then decides. If no agent
    /// is left, bluetoothd makes it not pairable. An adapter that was not pairable becomes so after the end,
    /// because bluetoothd makes it pairable for the next agent.
    func restore(
        _ adapter: ObjectPath,
        around endOfAgent: () async throws(BusError) -> Void
    ) async throws(BusError) {
        let former = state.withLock { state in
            defer {
                state.timer?.cancel()
                state = State()
            }
            return state.former
        }
        if former == true { try await set(true, of: adapter) }
        try await endOfAgent()
        if former == false { try await set(false, of: adapter) }
    }

    private var wantedValue: Bool { wanted(state.withLock(\.former) ?? false) }

    /// Sets the value, also while bluetoothd carries out another change.
    private func set(_ isPairable: Bool, of adapter: ObjectPath) async throws(BusError) {
        for attempt in 1... {
            do throws(BusError) {
                _ = try await connection.call(
                    BlueZ.name,
                    adapter,
                    .properties,
                    "Set",
                    Self.arguments(isPairable),
                    timeout: .seconds(2)
                )
                return
            } catch .remote("org.bluez.Error.Busy", _) where attempt < Self.attempts {
                try? await clock.sleep(for: Self.pause)
            }
        }
    }

    private static func arguments(_ isPairable: Bool) -> [BusValue] {
        [.string(BlueZ.adapter.text), .string("Pairable"), .variant(.bool(isPairable))]
    }
}

// MARK: - Changes by others

extension PairableSetting {
    private func watch(_ adapter: ObjectPath) async throws(BusError) {
        let changes = MatchRule(
            sender: BlueZ.name,
            path: adapter,
            interface: .properties,
            member: "PropertiesChanged",
            firstArgument: BlueZ.adapter.text
        )
        try await connection.subscribe(to: changes) { [weak self] signal in
            var arguments = signal.arguments
            arguments.skip()
            try? arguments.readProperties { (key, value) throws(BusError) in
                guard key == "Pairable" else { return }
                let isPairable = try value.readBool()
                self?.react(on: adapter) { $0.changed(to: isPairable, wanted: $1) }
            }
        }
    }

    /// Carries out the consequence of a change, on the loop.
    private func react(
        on adapter: ObjectPath,
        _ decide: (inout PairableCorrections, _ wanted: Bool) -> PairableCorrections.Action?
    ) {
        let wanted = wantedValue
        let action = state.withLock { state -> PairableCorrections.Action? in
            guard state.isKept, let action = decide(&state.corrections, wanted) else { return nil }
            if state.timer == nil {
                state.timer = Task { [weak self, clock] in
                    guard (try? await clock.sleep(for: PairableCorrections.period)) != nil else { return }
                    self?.endPeriod(on: adapter)
                }
            }
            return action
        }
        switch action {
        case .set(let value):
            // If bluetoothd is busy with another change, it reports that change afterwards.
            connection.assumeIsolated {
                try? $0.callIgnoringAnswer(BlueZ.name, adapter, .properties, "Set", Self.arguments(value))
            }
        case .wait: reportDisagreement(wanted)
        case nil: break
        }
    }

    private func endPeriod(on adapter: ObjectPath) {
        connection.loop.execute { [weak self] in
            self?.state.withLock { $0.timer = nil }
            self?.react(on: adapter) { $0.periodEnded(wanted: $1) }
        }
    }

    private func reportDisagreement(_ wanted: Bool) {
        log.report(
            .disputedPairability,
            .warning,
            wanted
                ? """
                Another program makes the adapter not pairable again and again, so centrals cannot always \
                pair. The backend tries again every 10 seconds.
                """
                : """
                Another program makes the adapter pairable again and again. The agent of this peripheral \
                refuses to pair if bluetoothd asks it. The backend tries again every 10 seconds.
                """
        )
    }
}
