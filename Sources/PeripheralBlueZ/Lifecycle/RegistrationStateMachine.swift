internal import PeripheralKit

/// The state machine of one registration with bluetoothd, on one adapter.
///
/// The machine receives events and returns the next step. It does no I/O and uses no clock. One step runs at
/// a time, and the outcome of a step is an event. Other events can arrive at any time. If the machine decides
/// on a new step before the outcome of the current step, the new step replaces the current step.
///
/// The order of the steps matters:
///
/// - The database is registered before the advertisements. Therefore no central finds an empty peripheral.
///   For the same reason, the advertisements are withdrawn first.
/// - The pairing agent is registered before the database and the advertisements, and withdrawn after both.
///   The reason is that a central pairs according to the services that it found when it connected.
///
/// The next step always brings ``Advertising/registered`` closer to ``Advertising/wanted``, regardless of
/// changes and losses.
struct RegistrationStateMachine {
    enum Event: Hashable {
        // Outcomes of the current step:

        case registeredAgent
        /// The services are registered, except for the refused groups.
        ///
        /// The keys of `refused` are the numbers of the groups, and the values are the failures.
        case registeredServices(refused: [Int: Failure])
        /// The advertisements are on the air, except for the refused advertisements.
        ///
        /// `refused` is a dictionary. The keys are the numbers of the refused advertisements, and the values
        /// are the failures.
        case advertised(refused: [Int: Failure])
        case reportedPublication
        case renewalIsDue
        case withdrewAdvertisements
        case withdrewServices
        case withdrewApplications
        case withdrewAgent
        case failed(Failure)

        // Events that concern the registration:

        case stopRequested
        /// The program changes the advertisements.
        ///
        /// The advertisements in `restarted` go on the air again, even if their timeout has passed.
        case advertisingDemanded([Advertisement], restarted: Set<Int>)
        /// The program changes the services.
        ///
        /// The groups in `returning` stay wanted even if bluetoothd refuses them.
        case servicesDemanded(GroupedServices, returning: Set<Int> = [])
        /// A central has connected or disconnected.
        ///
        /// The associated value is the number of connected centrals.
        case connectionsChanged(Int)
        /// bluetoothd has withdrawn the advertisement with the given number.
        case advertisementReleased(Int)
        /// The adapter was powered on or off.
        case powerChanged(Bool)
        /// The bus, bluetoothd or the adapter is no longer available.
        ///
        /// All registrations have ended.
        case lost(Failure)
    }

    enum Action: Hashable {
        case registerAgent
        /// Registers an application for each group of services.
        case registerServices(GroupedServices)
        /// Removes services from their applications.
        case withdrawServices(GroupedServices)
        /// Registers advertisements that are not yet registered.
        case registerAdvertisements([Int: Advertisement])
        /// Changes the registered advertisements that differ from the requested advertisements.
        case changeAdvertisements([Int: Advertisement])
        case reportPublication
        /// Logs that an advertisement could not be registered, and waits before the next attempt.
        case awaitRenewal(after: Duration, because: Failure)
        case withdrawAdvertisements(Set<Int>)
        case withdrawApplications
        case withdrawAgent
        case finish(Failure?)
    }

    private enum State {
        case idle
        case registeringAgent
        /// The first registration of the services.
        case registeringApplications(GroupedServices)
        case registeringServices(GroupedServices)
        case withdrawingServices(GroupedServices)
        case withdrawingAdvertisements(Set<Int>)
        case registeringAdvertisements([Int: Advertisement])
        case changingAdvertisements([Int: Advertisement])
        case reportingPublication
        /// The peripheral is published, and no step is running.
        case published
        case awaitingRenewal

        // States of the end:

        case stoppingAdvertisements(Failure?)
        case withdrawingApplications(Failure?)
        case withdrawingAgent(Failure?)
        case finished
    }

    private(set) var adapter: AdapterDescription
    /// Whether the initial registration continues if bluetoothd refuses some of several advertisements.
    private let acceptsPart: Bool
    private(set) var advertising: Advertising
    private(set) var services: Services
    private var state = State.idle
    private var failedRenewals = 0
    private(set) var isPowered = true
    /// Whether all wanted advertisements are on the air, except while they are renewed.
    private(set) var isAdvertising = false
    /// Whether the publication was reported to the program.
    private var isReported = false
    private var isStopRequested = false

    /// Creates a registration.
    ///
    /// - Parameters:
    ///   - adapter: An adapter that is powered on.
    ///   - services: The services.
    ///   - advertisements: The advertisements. Their positions are their numbers.
    ///   - endedAdvertisements: The numbers of the advertisements whose timeout has passed.
    ///   - acceptsPart: Whether the initial registration continues if bluetoothd refuses some of several
    ///     advertisements.
    init(
        on adapter: AdapterDescription,
        services: GroupedServices = [0: []],
        advertisements: [Advertisement] = [Advertisement()],
        endedAdvertisements: Set<Int> = [],
        acceptsPart: Bool = true
    ) {
        self.adapter = adapter
        self.acceptsPart = acceptsPart
        self.services = Services(of: services)
        advertising = Advertising(of: advertisements, ended: endedAdvertisements)
    }

    /// Returns the first step.
    mutating func start() -> Action {
        state = .registeringAgent
        return .registerAgent
    }

    /// Handles an event.
    ///
    /// - Returns: The next step; `nil` if the current step continues.
    mutating func handle(_ event: Event) -> Action? {
        switch event {
        case .stopRequested: stop()
        case .advertisingDemanded(let new, let restarted): demand(new, restarted)
        case .servicesDemanded(let new, let returning): demand(new, returning)
        case .connectionsChanged(let count): changeConnections(count)
        case .advertisementReleased(let number): releaseAdvertisement(number)
        case .powerChanged(let isPowered): changePower(isPowered)
        case .lost(let failure): end(failure)
        case .failed(let failure): failure.leavesDaemon ? fail(failure) : end(failure)
        default: proceed(event)
        }
    }

    /// Returns the outcome of the last change of the advertisements, once.
    mutating func takeOutcomeOfDemand() -> Result<Void, Failure>? {
        advertising.takeOutcome()
    }

    /// Returns the outcome of the last change of the services, once.
    mutating func takeOutcomeOfServices() -> Result<Void, Failure>? {
        services.takeOutcome()
    }
}

// MARK: - Steps

extension RegistrationStateMachine {
    /// Returns the next step after a step has succeeded.
    private mutating func proceed(_ event: Event) -> Action? {
        switch (state, event) {
        case (.registeringAgent, .registeredAgent):
            if isStopRequested { return withdrawAgent(nil) }
            state = .registeringApplications(services.wanted)
            return .registerServices(services.wanted)
        case (.registeringApplications(let groups), .registeredServices(let refused)):
            services.note(groups, refused: refused)
            if isStopRequested { return withdrawApplications(nil) }
            return proceed()
        case (.registeringServices(let groups), .registeredServices(let refused)):
            services.note(groups, refused: refused)
            return proceed()
        case (.withdrawingServices(let withdrawn), .withdrewServices):
            services.noteWithdrawn(withdrawn)
            return proceed()
        case (.withdrawingAdvertisements(let numbers), .withdrewAdvertisements):
            advertising.noteWithdrawn(numbers)
            return proceed()
        case (.registeringAdvertisements(let values), .advertised(let refused)),
            (.changingAdvertisements(let values), .advertised(let refused)):
            return noteAdvertised(values, refused: refused)
        case (.reportingPublication, .reportedPublication):
            isReported = true
            return proceed()
        case (.awaitingRenewal, .renewalIsDue):
            advertising.refusals = [:]
            return proceed()
        case (.stoppingAdvertisements(let failure), .withdrewAdvertisements):
            return withdrawApplications(failure)
        case (.withdrawingApplications(let failure), .withdrewApplications):
            return withdrawAgent(failure)
        case (.withdrawingAgent(let failure), .withdrewAgent):
            return finish(failure)
        default:
            return nil
        }
    }

    /// Handles a failed step while bluetoothd still runs and can withdraw registrations.
    private mutating func fail(_ failure: Failure) -> Action? {
        switch state {
        case .registeringAgent, .registeringApplications:
            return withdrawAgent(failure)
        case .registeringServices, .withdrawingServices:
            // bluetoothd may have the services nevertheless, until the connection ends.
            return end(failure)
        case .withdrawingAdvertisements(let numbers):
            advertising.noteWithdrawn(numbers)
            return proceed()
        case .registeringAdvertisements(let values), .changingAdvertisements(let values):
            return noteAdvertised(values, refused: values.mapValues { _ in failure })
        case .reportingPublication:
            return stopAdvertising(failure)
        case .stoppingAdvertisements(let first):
            return withdrawApplications(first)
        case .withdrawingApplications(let first):
            return withdrawAgent(first)
        case .withdrawingAgent(let first):
            return finish(first)
        case .idle, .published, .awaitingRenewal, .finished:
            return nil
        }
    }

    /// Returns one step that makes what is registered more similar to what is wanted.
    private mutating func proceed() -> Action? {
        if isStopRequested { return stopAdvertising(nil) }
        if isReported, let action = changeServices() { return action }
        // Without power, the adapter can advertise nothing. When the power is on again, earlier
        // advertisements do not always resume automatically.
        guard isPowered else {
            advertising.outdateAll()
            return settle()
        }
        // The publication is reported first, regardless of changes in the meantime.
        let superfluous = isReported ? advertising.superfluous : []
        if !superfluous.isEmpty {
            state = .withdrawingAdvertisements(superfluous)
            return .withdrawAdvertisements(superfluous)
        }
        let missing = advertising.missing
        if !missing.isEmpty {
            advertising.begin(with: missing)
            state = .registeringAdvertisements(missing)
            return .registerAdvertisements(missing)
        }
        let changed = isReported ? advertising.changed : [:]
        if !changed.isEmpty {
            advertising.begin(with: changed)
            state = .changingAdvertisements(changed)
            return .changeAdvertisements(changed)
        }
        return settle()
    }

    /// Returns a step that registers missing services or withdraws others; `nil` if there is none.
    ///
    /// New services come first, so that a refusal changes nothing.
    private mutating func changeServices() -> Action? {
        let missing = services.missing
        if !missing.isEmpty {
            state = .registeringServices(missing)
            return .registerServices(missing)
        }
        let superfluous = services.superfluous
        guard !superfluous.isEmpty else { return nil }
        state = .withdrawingServices(superfluous)
        return .withdrawServices(superfluous)
    }

    private mutating func noteAdvertised(
        _ values: [Int: Advertisement],
        refused: [Int: Failure]
    ) -> Action? {
        advertising.note(values, refused: refused)
        // A refused change restores the earlier advertisements.
        let isRefused = !refused.isEmpty && advertising.firstRefusal != nil
        if isRefused, !isReported, !isStopRequested, !acceptsPart || advertising.isNothingRegistered {
            return stopAdvertising(advertising.firstRefusal)
        }
        return proceed()
    }

    /// Ends the steps because no step remains.
    private mutating func settle() -> Action? {
        // The report includes calls of bluetoothd. The peripheral counts as on the air when they have
        // succeeded.
        guard isReported else {
            state = .reportingPublication
            return .reportPublication
        }
        let refusal = isPowered ? advertising.firstRefusal : nil
        isAdvertising = isPowered && refusal == nil && advertising.isAnythingMeant
        advertising.completeDemand()
        services.completeDemand()
        if let refusal {
            failedRenewals += 1
            state = .awaitingRenewal
            return .awaitRenewal(after: Self.renewalDelay(after: failedRenewals), because: refusal)
        }
        if isPowered { failedRenewals = 0 }
        state = .published
        return nil
    }

    /// Returns the delay before the next attempt.
    ///
    /// The delay is 1 s after the first failure. It doubles after each further failure, up to 30 s.
    private static func renewalDelay(after failures: Int) -> Duration {
        .seconds(min(1 << min(failures - 1, 5), 30))
    }

    private mutating func stopAdvertising(_ failure: Failure?) -> Action {
        let numbers = advertising.attempted
        guard !numbers.isEmpty else { return withdrawApplications(failure) }
        isAdvertising = false
        state = .stoppingAdvertisements(failure)
        return .withdrawAdvertisements(numbers)
    }

    private mutating func withdrawApplications(_ failure: Failure?) -> Action {
        isAdvertising = false
        state = .withdrawingApplications(failure)
        return .withdrawApplications
    }

    private mutating func withdrawAgent(_ failure: Failure?) -> Action {
        state = .withdrawingAgent(failure)
        return .withdrawAgent
    }

    private mutating func finish(_ failure: Failure?) -> Action {
        if failure != nil {
            // The next registration continues with what the program wants.
            advertising.completeDemand()
            services.completeDemand()
        }
        state = .finished
        return .finish(failure)
    }
}

// MARK: - State

extension RegistrationStateMachine {
    /// Whether the publication was reported, and the withdrawal has not started.
    var isPublished: Bool { isReported && isRegistered && !isStopping }

    /// Whether bluetoothd serves the database.
    var isRegistered: Bool {
        switch state {
        case .idle, .registeringAgent, .registeringApplications, .withdrawingApplications, .withdrawingAgent,
            .finished:
            false
        case .registeringServices, .withdrawingServices, .withdrawingAdvertisements,
            .registeringAdvertisements, .changingAdvertisements,
            .reportingPublication, .published, .awaitingRenewal, .stoppingAdvertisements:
            true
        }
    }

    /// Whether every possible step is done and no advertisement is refused.
    var isComplete: Bool {
        if case .published = state { isPowered } else { false }
    }

    private var isStopping: Bool {
        if case .stoppingAdvertisements = state { true } else { false }
    }

    /// Whether the next step waits for an event.
    private var isSettled: Bool {
        switch state {
        case .published, .awaitingRenewal: true
        default: false
        }
    }
}

// MARK: - Events during a step

extension RegistrationStateMachine {
    private mutating func stop() -> Action? {
        switch state {
        case .stoppingAdvertisements, .withdrawingApplications, .withdrawingAgent, .idle, .finished:
            return nil
        default: isStopRequested = true
        }
        return isSettled ? proceed() : nil
    }

    private mutating func demand(_ new: [Advertisement], _ restarted: Set<Int>) -> Action? {
        advertising.demand(new, restarted: restarted)
        return isSettled ? proceed() : nil
    }

    private mutating func demand(_ new: GroupedServices, _ returning: Set<Int>) -> Action? {
        services.demand(new, returning: returning)
        return isSettled ? proceed() : nil
    }

    private mutating func changeConnections(_ count: Int) -> Action? {
        let before = advertising.wanted
        advertising.connections = count
        guard adapter.connectionsInterruptAdvertising || advertising.wanted != before else { return nil }
        if adapter.connectionsInterruptAdvertising { advertising.outdateAll() }
        // The adapter may accept an advertisement after a change of the connections.
        advertising.refusals = [:]
        return isSettled ? proceed() : nil
    }

    private mutating func changePower(_ isOn: Bool) -> Action? {
        guard isOn != isPowered else { return nil }
        isPowered = isOn
        advertising.outdateAll()
        advertising.refusals = [:]
        if !isOn { isAdvertising = false }
        return isSettled ? proceed() : nil
    }

    private mutating func releaseAdvertisement(_ number: Int) -> Action? {
        if advertising.endsByItself(number) {
            advertising.end(number)
            if isAdvertising { isAdvertising = advertising.isAnythingMeant }
            return nil
        }
        // bluetoothd also drops advertisements shortly before the adapter disappears.
        guard advertising.noteLost(number, because: .advertisementLost) else { return nil }
        if isReported { isAdvertising = false }
        return isSettled ? proceed() : nil
    }

    /// Ends without withdrawing, because bluetoothd drops all registrations when the connection ends.
    private mutating func end(_ failure: Failure) -> Action? {
        advertising.completeDemand()
        services.completeDemand()
        switch state {
        case .idle, .finished: return nil
        case .stoppingAdvertisements(let first), .withdrawingApplications(let first),
            .withdrawingAgent(let first):
            return finish(first)
        default: return finish(failure)
        }
    }
}
