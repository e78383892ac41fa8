internal import PeripheralKit

/// The life of a peripheral: through the bus, the daemon and the adapter it is registered, and comes back to that
/// whatever happens to them.
///
/// Events go in, the next step comes out, as with the ``RegistrationStateMachine`` that it holds while there is an
/// adapter to be registered on. Whatever is lost, the connection to the bus is given up as well, and with it
/// all that the daemon may still have of the peripheral; then it begins anew. What cannot be had yet is waited for: by
/// the signals that tell a change where there are any, by growing delays where there are none.
struct LifeStateMachine {
    typealias Failure = RegistrationStateMachine.Failure
    typealias Registration = RegistrationStateMachine

    enum Event: Hashable {
        // What becomes of the step that is under way:

        case connected
        /// The adapters that bluetoothd has, in its order.
        case examined([AdapterDescription])
        case preparedAdapter
        case waited
        case disconnected
        case failed(Failure)

        /// A step of the registration is done, or something has happened to it.
        case registration(Registration.Event)

        // What happens around the peripheral:

        case stopRequested
        /// The program wants something else to be advertised, as
        /// ``RegistrationStateMachine/Event/advertisingDemanded(_:restarted:)``.
        case advertisingDemanded([Advertisement], restarted: Set<Int>)
        case busLost
        case daemonAppeared
        case daemonLost
        /// bluetoothd runs, as another connection to the bus tells.
        case daemonFound
        case adapterAppeared(String)
        case adapterLost(String)
        case powerChanged(String, Bool)
    }

    enum Action: Hashable {
        /// Connects to the bus, and begins to watch.
        case connect
        /// Finds out what adapters there are; where there is no daemon, the bus is asked to start it if it may.
        case examine(startsDaemon: Bool)
        /// Gives the adapter the settings that are demanded, its power among them.
        case prepare(AdapterDescription)
        case registration(Registration.Action, on: String)
        /// Nothing can be done until something changes. If bluetoothd does not run, another connection to the bus is
        /// asked now and then whether it does after all.
        case awaitChange(because: Failure)
        /// Something may change without a signal: waits for half that long at least, and not longer.
        case wait(Duration, because: Failure)
        /// Gives up the connection to the bus; all that was registered by it is gone.
        case disconnect
        case finish(Failure?)
    }

    private enum State {
        case idle
        /// Whether the new connection is lost already, while the step has not told that it stands.
        case connecting(isLost: Bool)
        /// Whether something has changed since the question was put.
        case examining(isOutdated: Bool)
        case preparing(AdapterDescription)
        case waiting(isConnected: Bool)
        case registering(Registration)
        /// What comes then: a new connection, at once or after a delay.
        case disconnecting(because: Failure, waits: Bool)
        case finished
    }

    private let selection: AdapterSelection
    private let settings: AdapterSettings
    private let recovery: Recovery
    /// What is advertised, as the program has demanded it last.
    private var advertisements: [Advertisement]
    /// The numbers of the advertisements whose time is over.
    private(set) var endedAdvertisements: Set<Int> = []
    /// What has become of a demand.
    private var outcomeOfDemand: Result<Void, Failure>?
    private var state = State.idle
    private var backoff = Backoff()
    private var hasBeenPublished = false
    private var mayStartDaemon = true
    private var isStopRequested = false
    /// What stands between the peripheral and the air.
    private var obstacle: Failure?

    init(
        selection: AdapterSelection,
        settings: AdapterSettings = AdapterSettings(),
        recovery: Recovery = .always,
        advertisements: [Advertisement] = [Advertisement()]
    ) {
        self.selection = selection
        self.settings = settings
        self.recovery = recovery
        self.advertisements = advertisements
    }

    /// Begins.
    mutating func start() -> Action {
        state = .connecting(isLost: false)
        return .connect
    }

    /// Takes note of an event; `nil` when what is under way goes on.
    mutating func handle(_ event: Event) -> Action? {
        if event == .stopRequested { isStopRequested = true }
        if case .registering(var registration) = state {
            return Self.translate(event, on: registration.adapter.path).flatMap { translated in
                let action = registration.handle(translated)
                note(&registration)
                state = .registering(registration)
                return follow(registration, action)
            }
        }
        return switch event {
        case .stopRequested: stop()
        case .advertisingDemanded(let advertisements, let restarted): demand(advertisements, restarted)
        case .busLost: loseBus()
        case .daemonFound: beginAnew()
        case .daemonAppeared, .daemonLost, .adapterAppeared, .adapterLost, .powerChanged: lookAgain()
        case .failed(let failure): fail(failure)
        default: proceed(event)
        }
    }

    /// How many are advertised, those whose time is over among them.
    var advertisementCount: Int { advertisements.count }

    /// What has become of the last demand, once.
    mutating func takeOutcomeOfDemand() -> Result<Void, Failure>? {
        outcomeOfDemand.take()
    }

    /// What an event means to a registration.
    private static func translate(_ event: Event, on adapter: String) -> Registration.Event? {
        switch event {
        case .registration(let event): event
        case .failed(let failure): .failed(failure)
        case .stopRequested: .stopRequested
        case .advertisingDemanded(let advertisements, let restarted):
            .advertisingDemanded(advertisements, restarted: restarted)
        case .busLost: .lost(.busLost)
        case .daemonLost: .lost(.daemonLost)
        case .adapterLost(adapter): .lost(.adapterLost(adapter))
        case .powerChanged(adapter, let isOn): .powerChanged(isOn)
        default: nil
        }
    }
}

// MARK: - Steps

extension LifeStateMachine {
    private mutating func proceed(_ event: Event) -> Action? {
        if case (.examining, .examined) = (state, event) { endStartOfDaemon() }
        switch (state, event) {
        case (.connecting(let isLost), .connected):
            return isLost ? recover(from: .busLost) : examine()
        case (.examining(isOutdated: true), .examined):
            return examine()
        case (.examining, .examined(let adapters)):
            return choose(from: adapters)
        case (.preparing(let adapter), .preparedAdapter):
            return register(on: adapter)
        case (.waiting(let isConnected), .waited):
            return isConnected ? examine() : start()
        case (.disconnecting(let failure, let waits), .disconnected):
            return waits ? wait(because: failure, isConnected: false) : start()
        default:
            return nil
        }
    }

    private mutating func examine() -> Action {
        state = .examining(isOutdated: false)
        return .examine(startsDaemon: false)
    }

    /// The bus may take half a minute for it, of which the program is told.
    private mutating func startDaemon() -> Action {
        endStartOfDaemon()
        obstacle = .daemonStarting
        state = .examining(isOutdated: false)
        return .examine(startsDaemon: true)
    }

    /// Later, whoever has stopped the daemon wants it so.
    private mutating func endStartOfDaemon() {
        mayStartDaemon = false
        if obstacle == .daemonStarting { obstacle = nil }
    }

    private mutating func choose(from adapters: [AdapterDescription]) -> Action {
        switch selection.choose(from: adapters, powersOn: settings.powersOn) {
        case .success(let adapter) where Self.demands(settings, of: adapter):
            state = .preparing(adapter)
            return .prepare(adapter)
        case .success(let adapter):
            return register(on: adapter)
        case .failure(let failure):
            return awaitChange(because: failure)
        }
    }

    private mutating func register(on adapter: AdapterDescription) -> Action {
        var registration = Registration(
            on: adapter,
            advertisements: advertisements,
            endedAdvertisements: endedAdvertisements,
            acceptsPart: recovery == .always || recovery == .afterPublication && hasBeenPublished
        )
        let action = registration.start()
        state = .registering(registration)
        return .registration(action, on: adapter.path)
    }

    /// Keeps what is to outlast a registration.
    private mutating func note(_ registration: inout Registration) {
        advertisements = registration.advertising.advertisements
        endedAdvertisements = registration.advertising.ended
        if let outcome = registration.takeOutcomeOfDemand() { outcomeOfDemand = outcome }
    }

    /// Goes on with what a registration has decided on.
    private mutating func follow(_ registration: Registration, _ action: Registration.Action?) -> Action? {
        if registration.isPublished, registration.isComplete {
            hasBeenPublished = true
            obstacle = nil
            backoff.reset()
        }
        switch action {
        case nil: return nil
        case .finish(nil): return finish(nil)
        case .finish(let failure?): return recover(from: failure)
        case .awaitRenewal(_, let failure):
            obstacle = failure
            return action.map { .registration($0, on: registration.adapter.path) }
        case let action?: return .registration(action, on: registration.adapter.path)
        }
    }

    private mutating func finish(_ failure: Failure?) -> Action {
        state = .finished
        return .finish(failure)
    }
}

// MARK: - What is missing

extension LifeStateMachine {
    /// A step failed.
    private mutating func fail(_ failure: Failure) -> Action? {
        switch state {
        case .connecting:
            return isFatal(failure) ? finish(failure) : wait(because: failure, isConnected: false)
        case .examining where failure == .noDaemon && mayStartDaemon:
            return startDaemon()
        case .examining(isOutdated: true) where !isFatal(failure) && !failure.isOfConnection:
            return examine()
        case .examining, .preparing:
            if failure == .busLost { return loseBus() }
            endStartOfDaemon()
            // Where nothing is answered, nothing may be told either.
            if failure.isOfConnection { return recover(from: failure) }
            if isFatal(failure) { return finish(failure) }
            // When the daemon appears, and when an adapter can be used, is told.
            let isTold = failure.code == .stackUnavailable || failure.code == .adapterUnavailable
            return isTold ? awaitChange(because: failure) : wait(because: failure, isConnected: true)
        case .disconnecting:
            return proceed(.disconnected)
        case .idle, .waiting, .registering, .finished:
            return nil
        }
    }

    /// A registration has ended.
    private mutating func recover(from failure: Failure) -> Action {
        if isFatal(failure) { return finish(failure) }
        // It was requested while what was registered before the failure was withdrawn.
        if isStopRequested { return finish(nil) }
        obstacle = failure
        // What was lost may be back already, once; what was refused is refused again.
        let isFirst = backoff == Backoff()
        if failure.isLoss, isFirst { _ = backoff.grow() }
        state = .disconnecting(because: failure, waits: !(failure.isLoss && isFirst))
        return .disconnect
    }

    private mutating func awaitChange(because failure: Failure) -> Action {
        if isFatal(failure) { return finish(failure) }
        obstacle = failure
        state = .waiting(isConnected: true)
        return .awaitChange(because: failure)
    }

    private mutating func wait(because failure: Failure, isConnected: Bool) -> Action {
        obstacle = failure
        state = .waiting(isConnected: isConnected)
        return .wait(backoff.grow(), because: failure)
    }

    /// Whether the run ends by a failure.
    private func isFatal(_ failure: Failure) -> Bool {
        // A declaration does not mend itself.
        guard failure.issues.isEmpty else { return true }
        return switch recovery {
        case .always: false
        case .afterPublication: !hasBeenPublished
        case .never: true
        }
    }
}

// MARK: - What happens meanwhile

extension LifeStateMachine {
    private mutating func stop() -> Action? {
        switch state {
        case .idle, .finished: nil
        default: finish(nil)
        }
    }

    /// Takes note of what is to be advertised when the peripheral is back.
    private mutating func demand(_ new: [Advertisement], _ restarted: Set<Int>) -> Action? {
        var advertising = Registration.Advertising(of: advertisements, ended: endedAdvertisements)
        advertising.demand(new, restarted: restarted)
        (advertisements, endedAdvertisements) = (advertising.advertisements, advertising.ended)
        outcomeOfDemand = .success(())
        return nil
    }

    private mutating func loseBus() -> Action? {
        switch state {
        case .connecting:
            state = .connecting(isLost: true)
            return nil
        case .examining, .preparing, .waiting(isConnected: true):
            return recover(from: .busLost)
        case .idle, .waiting(isConnected: false), .registering, .disconnecting, .finished:
            return nil
        }
    }

    /// What this connection was to tell, another tells: no more can be expected of this one.
    private mutating func beginAnew() -> Action? {
        guard case .waiting(isConnected: true) = state, let obstacle else { return nil }
        state = .disconnecting(because: obstacle, waits: false)
        return .disconnect
    }

    /// What is there has changed.
    private mutating func lookAgain() -> Action? {
        switch state {
        case .examining:
            state = .examining(isOutdated: true)
            return nil
        case .waiting(isConnected: true):
            return examine()
        case .idle, .connecting, .preparing, .waiting(isConnected: false), .registering, .disconnecting,
            .finished:
            return nil
        }
    }
}

// MARK: - What the program is told

extension LifeStateMachine {
    var peripheralState: PeripheralState {
        guard case .registering(let registration) = state else {
            return PeripheralState(radio: obstacle?.radioState ?? .unknown, reason: obstacle?.message)
        }
        return PeripheralState(
            radio: registration.isPowered ? .poweredOn : .poweredOff,
            isRegistered: registration.isRegistered,
            isAdvertising: registration.isAdvertising,
            reason: registration.isAdvertising
                ? nil : registration.isPowered ? obstacle?.message : Failure.powerLost.message
        )
    }
}

extension RegistrationStateMachine.Failure {
    /// Whether something is gone that was there, rather than refused.
    fileprivate var isLoss: Bool {
        code == .connectionLost || code == .stackUnavailable || code == .adapterUnavailable
    }

    /// Whether the connection to the bus is lost, or may be one by which nothing comes any more.
    fileprivate var isOfConnection: Bool {
        code == .connectionLost || code == .timedOut
    }
}

extension LifeStateMachine {
    /// Whether the adapter is not as it is demanded.
    private static func demands(_ settings: AdapterSettings, of adapter: AdapterDescription) -> Bool {
        if let alias = settings.alias, alias != adapter.alias { return true }
        return settings.isPairable != nil || settings.powersOn && !adapter.isPowered
    }
}
