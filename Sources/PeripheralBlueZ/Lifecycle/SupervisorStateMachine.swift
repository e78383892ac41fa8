internal import PeripheralKit

/// The state machine of a run, which registers the peripheral and recovers from every loss.
///
/// The machine receives events and returns the next step. While the machine uses an adapter, it holds a
/// ``RegistrationStateMachine``, which works in the same way.
///
/// After any loss, the run also ends the connection to the bus. bluetoothd then drops everything that it
/// still has of the peripheral. Then the run starts again. If a part is missing, the run waits for a signal
/// that reports the change. If there is no such signal, the run waits with growing delays.
struct SupervisorStateMachine {
    typealias Failure = RegistrationStateMachine.Failure
    typealias Registration = RegistrationStateMachine

    enum Event: Hashable {
        // Outcomes of the current step:

        case connected
        /// The adapters of bluetoothd, in the order in which bluetoothd lists them.
        case examined([AdapterDescription])
        case preparedAdapter
        case waited
        case disconnected
        case failed(Failure)

        /// The outcome of a registration step, or an event that concerns the registration.
        case registration(Registration.Event)

        // Events that concern the peripheral:

        case stopRequested
        /// The program changes the advertisements.
        ///
        /// See ``RegistrationStateMachine/Event/advertisingDemanded(_:restarted:)``.
        case advertisingDemanded([Advertisement], restarted: Set<Int>)
        /// The program changes the services.
        ///
        /// See ``RegistrationStateMachine/Event/servicesDemanded(_:returning:)``.
        case servicesDemanded(GroupedServices, returning: Set<Int> = [])
        case busLost
        case daemonAppeared
        case daemonLost
        /// A check has found that bluetoothd is running.
        ///
        /// The check uses a new connection to the bus.
        case daemonFound
        case adapterAppeared(String)
        case adapterLost(String)
        case powerChanged(String, Bool)
    }

    enum Action: Hashable {
        /// Connects to the bus, and begins to watch bluetoothd.
        case connect
        /// Finds the adapters.
        ///
        /// If `startsDaemon` is `true`, the bus is allowed to start bluetoothd.
        case examine(startsDaemon: Bool)
        /// Applies the adapter settings of the program, and powers on the adapter if the settings require it.
        case prepare(AdapterDescription)
        case registration(Registration.Action, on: String)
        /// Waits until a signal reports a change of bluetoothd, the bus or an adapter.
        ///
        /// While bluetoothd is not running, the supervisor regularly opens a second connection to the bus.
        /// Over the second connection, the supervisor checks whether bluetoothd has started.
        case awaitChange(because: Failure)
        /// Waits for a limited time, because no signal reports the expected change.
        ///
        /// The waiting time is a random duration between half of the given duration and the given duration.
        case wait(Duration, because: Failure)
        /// Ends the connection to the bus, which ends all registrations.
        case disconnect
        case finish(Failure?)
    }

    private enum State {
        case idle
        /// Whether the connection to the bus was lost before the action ``Action/connect`` ended.
        case connecting(isLost: Bool)
        /// Whether the list of adapters is outdated.
        ///
        /// The list becomes outdated if a change is reported after the supervisor has requested the list.
        case examining(isOutdated: Bool)
        case preparing(AdapterDescription)
        case waiting(isConnected: Bool)
        case registering(Registration)
        /// After this step, the supervisor connects to the bus again, immediately or after a delay.
        case disconnecting(because: Failure, waits: Bool)
        case finished
    }

    private let selection: AdapterSelection
    private let settings: AdapterSettings
    private let recovery: Recovery
    /// The advertisements that the program requested last.
    private var advertisements: [Advertisement]
    /// The numbers of the advertisements whose timeout has passed.
    private(set) var endedAdvertisements: Set<Int> = []
    /// The services that the program wants.
    private var services: GroupedServices
    /// The outcome of a change of the services.
    private var outcomeOfServices: Result<Void, Failure>?
    /// The outcome of a change of the advertisements.
    private var outcomeOfDemand: Result<Void, Failure>?
    private var state = State.idle
    private var backoff = Backoff()
    private var hasBeenPublished = false
    private var mayStartDaemon = true
    private var isStopRequested = false
    /// The reason why the peripheral is off the air.
    private var obstacle: Failure?

    init(
        selection: AdapterSelection,
        settings: AdapterSettings = AdapterSettings(),
        recovery: Recovery = .always,
        services: GroupedServices = [0: []],
        advertisements: [Advertisement] = [Advertisement()]
    ) {
        self.selection = selection
        self.settings = settings
        self.recovery = recovery
        self.services = services
        self.advertisements = advertisements
    }

    /// Returns the first step.
    mutating func start() -> Action {
        state = .connecting(isLost: false)
        return .connect
    }

    /// Handles an event.
    ///
    /// - Returns: The next step; `nil` if the current step continues.
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
        case .servicesDemanded(let services, _): demand(services)
        case .busLost: loseBus()
        case .daemonFound: beginAgain()
        case .daemonAppeared, .daemonLost, .adapterAppeared, .adapterLost, .powerChanged: lookAgain()
        case .failed(let failure): fail(failure)
        default: proceed(event)
        }
    }

    /// The number of advertisements, including those whose timeout has passed.
    var advertisementCount: Int { advertisements.count }

    /// Returns the outcome of the last change of the advertisements, once.
    mutating func takeOutcomeOfDemand() -> Result<Void, Failure>? {
        outcomeOfDemand.take()
    }

    /// Returns the outcome of the last change of the services, once.
    mutating func takeOutcomeOfServices() -> Result<Void, Failure>? {
        outcomeOfServices.take()
    }

    /// Returns the event that a registration handles.
    private static func translate(_ event: Event, on adapter: String) -> Registration.Event? {
        switch event {
        case .registration(let event): event
        case .failed(let failure): .failed(failure)
        case .stopRequested: .stopRequested
        case .advertisingDemanded(let advertisements, let restarted):
            .advertisingDemanded(advertisements, restarted: restarted)
        case .servicesDemanded(let services, let returning): .servicesDemanded(services, returning: returning)
        case .busLost: .lost(.busLost)
        case .daemonLost: .lost(.daemonLost)
        case .adapterLost(adapter): .lost(.adapterLost(adapter))
        case .powerChanged(adapter, let isOn): .powerChanged(isOn)
        default: nil
        }
    }
}

// MARK: - Steps

extension SupervisorStateMachine {
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

    /// Starts the daemon, and reports the start to the program because it can take half a minute.
    private mutating func startDaemon() -> Action {
        endStartOfDaemon()
        obstacle = .daemonStarting
        state = .examining(isOutdated: false)
        return .examine(startsDaemon: true)
    }

    /// Prevents further starts of the daemon, because a later stop is intended.
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
            services: services,
            advertisements: advertisements,
            endedAdvertisements: endedAdvertisements,
            acceptsPart: recovery == .always || recovery == .afterPublication && hasBeenPublished
        )
        let action = registration.start()
        state = .registering(registration)
        return .registration(action, on: adapter.path)
    }

    /// Saves the state that must outlast a registration.
    private mutating func note(_ registration: inout Registration) {
        advertisements = registration.advertising.advertisements
        endedAdvertisements = registration.advertising.ended
        if let outcome = registration.takeOutcomeOfDemand() { outcomeOfDemand = outcome }
        services = registration.services.wanted
        if let outcome = registration.takeOutcomeOfServices() { outcomeOfServices = outcome }
    }

    /// Continues with the action of a registration.
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

// MARK: - Failures

extension SupervisorStateMachine {
    /// Handles the failure of a step.
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
            // A daemon that sends no replies may also send no signals.
            if failure.isOfConnection { return recover(from: failure) }
            if isFatal(failure) { return finish(failure) }
            // Signals report when the daemon appears, and when an adapter becomes usable.
            let isReported = failure.code == .stackUnavailable || failure.code == .adapterUnavailable
            return isReported ? awaitChange(because: failure) : wait(because: failure, isConnected: true)
        case .disconnecting:
            return proceed(.disconnected)
        case .idle, .waiting, .registering, .finished:
            return nil
        }
    }

    /// Continues after the end of a registration.
    private mutating func recover(from failure: Failure) -> Action {
        if isFatal(failure) { return finish(failure) }
        // The stop was requested while the machine withdrew earlier registrations after the failure.
        if isStopRequested { return finish(nil) }
        obstacle = failure
        // After a loss, the first attempt follows at once, because the lost part may already be available
        // again. After a refusal, another attempt at once would be refused again.
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

    /// Returns whether a failure ends the run.
    private func isFatal(_ failure: Failure) -> Bool {
        // Waiting does not correct a wrong declaration.
        guard failure.issues.isEmpty else { return true }
        return switch recovery {
        case .always: false
        case .afterPublication: !hasBeenPublished
        case .never: true
        }
    }
}

// MARK: - Events during a step

extension SupervisorStateMachine {
    private mutating func stop() -> Action? {
        switch state {
        case .idle, .finished: nil
        default: finish(nil)
        }
    }

    /// Saves the advertisements for the next registration.
    private mutating func demand(_ new: [Advertisement], _ restarted: Set<Int>) -> Action? {
        var advertising = Registration.Advertising(of: advertisements, ended: endedAdvertisements)
        advertising.demand(new, restarted: restarted)
        (advertisements, endedAdvertisements) = (advertising.advertisements, advertising.ended)
        outcomeOfDemand = .success(())
        return nil
    }

    /// Saves the services for the next registration.
    private mutating func demand(_ new: GroupedServices) -> Action? {
        services = new
        outcomeOfServices = .success(())
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

    /// Connects again, because this connection did not report an event that another connection reported.
    private mutating func beginAgain() -> Action? {
        guard case .waiting(isConnected: true) = state, let obstacle else { return nil }
        state = .disconnecting(because: obstacle, waits: false)
        return .disconnect
    }

    /// Finds the adapters again after a change.
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

// MARK: - State for the program

extension SupervisorStateMachine {
    /// Whether the services are registered, and the report of that is due or done.
    var isPublished: Bool {
        if case .registering(let registration) = state { registration.isPublished } else { false }
    }

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

extension SupervisorStateMachine {
    /// Returns whether the adapter differs from the required settings.
    private static func demands(_ settings: AdapterSettings, of adapter: AdapterDescription) -> Bool {
        if let alias = settings.alias.name, alias != adapter.alias { return true }
        return settings.isPairable != nil || settings.powersOn && !adapter.isPowered
    }
}
