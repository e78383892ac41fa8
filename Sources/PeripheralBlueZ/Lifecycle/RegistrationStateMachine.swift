internal import PeripheralKit

/// One registration with bluetoothd, on one adapter: which step follows which, whatever happens.
///
/// Events go in, the next step comes out; the machine does no I/O and knows no clock. One step is under way at a
/// time: its outcome is an event like those from outside, which come at any time, and a step that is decided on
/// before that outcome takes its place. Order matters: the database is registered before the advertisements, so that
/// no central finds an empty peripheral, and the advertisements are withdrawn first, for the same reason; the pairing
/// agent is there before and after both, since a central pairs by what it found when it connected.
///
/// What is advertised follows from what is wanted: whatever changes that, or is lost, the next step is what brings
/// ``Advertising/registered`` nearer to ``Advertising/wanted``.
struct RegistrationStateMachine {
    enum Event: Hashable {
        // What becomes of the step that is under way:

        case registeredAgent
        case registeredApplication
        /// What was to be registered or changed is on the air, but for what bluetoothd has refused, by its number.
        case advertised(refused: [Int: Failure])
        case reportedPublication
        case renewalIsDue
        case withdrewAdvertisements
        case withdrewApplication
        case withdrewAgent
        case failed(Failure)

        // What happens to the registration:

        case stopRequested
        /// The program wants something else to be advertised; those whose time is over begin anew if they are named.
        case advertisingDemanded([Advertisement], restarted: Set<Int>)
        /// A central has come or gone; how many are there now.
        case connectionsChanged(Int)
        /// bluetoothd has dropped one of the advertisements by itself, by its number.
        case advertisementReleased(Int)
        /// The adapter was powered on or off.
        case powerChanged(Bool)
        /// What the registration needs is gone, and all that was registered with it.
        case lost(Failure)
    }

    enum Action: Hashable {
        case registerAgent
        case registerApplication
        /// None of them is registered.
        case registerAdvertisements([Int: Advertisement])
        /// All of them are registered, as something else.
        case changeAdvertisements([Int: Advertisement])
        case reportPublication
        /// An advertisement could not be registered; that is to be told, and tried again later.
        case awaitRenewal(after: Duration, because: Failure)
        case withdrawAdvertisements(Set<Int>)
        case withdrawApplication
        case withdrawAgent
        case finish(Failure?)
    }

    private enum State {
        case idle
        case registeringAgent
        case registeringApplication
        case withdrawingAdvertisements(Set<Int>)
        case registeringAdvertisements([Int: Advertisement])
        case changingAdvertisements([Int: Advertisement])
        case reportingPublication
        /// Nothing is under way.
        case published
        case awaitingRenewal

        // The way out:

        case stoppingAdvertisements(Failure?)
        case withdrawingApplication(Failure?)
        case withdrawingAgent(Failure?)
        case finished
    }

    private(set) var adapter: AdapterDescription
    /// Whether what bluetoothd refuses of several advertisements is done without, from the start.
    private let acceptsPart: Bool
    private(set) var advertising: Advertising
    private var state = State.idle
    private var failedRenewals = 0
    private(set) var isPowered = true
    /// Whether all is on the air that is to be, apart from the moments that it takes to renew it.
    private(set) var isAdvertising = false
    /// Whether the program was told that the peripheral is published.
    private var isReported = false
    private var isStopRequested = false

    /// - Parameters:
    ///   - adapter: One that is powered on.
    ///   - advertisements: What is advertised; the numbers are their places.
    ///   - endedAdvertisements: The numbers of those whose time is over already.
    ///   - acceptsPart: Whether what bluetoothd refuses of several advertisements is done without, from the start.
    init(
        on adapter: AdapterDescription,
        advertisements: [Advertisement] = [Advertisement()],
        endedAdvertisements: Set<Int> = [],
        acceptsPart: Bool = true
    ) {
        self.adapter = adapter
        self.acceptsPart = acceptsPart
        advertising = Advertising(of: advertisements, ended: endedAdvertisements)
    }

    /// Begins.
    mutating func start() -> Action {
        state = .registeringAgent
        return .registerAgent
    }

    /// Takes note of an event; `nil` when what is under way goes on.
    mutating func handle(_ event: Event) -> Action? {
        switch event {
        case .stopRequested: stop()
        case .advertisingDemanded(let new, let restarted): demand(new, restarted)
        case .connectionsChanged(let count): changeConnections(count)
        case .advertisementReleased(let number): releaseAdvertisement(number)
        case .powerChanged(let isPowered): changePower(isPowered)
        case .lost(let failure): end(failure)
        case .failed(let failure): failure.leavesDaemon ? fail(failure) : end(failure)
        default: proceed(event)
        }
    }

    /// What has become of the last demand, once.
    mutating func takeOutcomeOfDemand() -> Result<Void, Failure>? {
        advertising.takeOutcome()
    }
}

// MARK: - Steps

extension RegistrationStateMachine {
    /// A step is done: the next.
    private mutating func proceed(_ event: Event) -> Action? {
        switch (state, event) {
        case (.registeringAgent, .registeredAgent):
            if isStopRequested { return withdrawAgent(nil) }
            state = .registeringApplication
            return .registerApplication
        case (.registeringApplication, .registeredApplication):
            if isStopRequested { return withdrawApplication(nil) }
            return advertise()
        case (.withdrawingAdvertisements(let numbers), .withdrewAdvertisements):
            advertising.noteWithdrawn(numbers)
            return advertise()
        case (.registeringAdvertisements(let values), .advertised(let refused)),
            (.changingAdvertisements(let values), .advertised(let refused)):
            return noteAdvertised(values, refused: refused)
        case (.reportingPublication, .reportedPublication):
            isReported = true
            return advertise()
        case (.awaitingRenewal, .renewalIsDue):
            advertising.refusals = [:]
            return advertise()
        case (.stoppingAdvertisements(let failure), .withdrewAdvertisements):
            return withdrawApplication(failure)
        case (.withdrawingApplication(let failure), .withdrewApplication):
            return withdrawAgent(failure)
        case (.withdrawingAgent(let failure), .withdrewAgent):
            return finish(failure)
        default:
            return nil
        }
    }

    /// A step failed, and bluetoothd is still there, so that what is registered can be withdrawn from it.
    private mutating func fail(_ failure: Failure) -> Action? {
        switch state {
        case .registeringAgent, .registeringApplication:
            return withdrawAgent(failure)
        case .withdrawingAdvertisements(let numbers):
            advertising.noteWithdrawn(numbers)
            return advertise()
        case .registeringAdvertisements(let values), .changingAdvertisements(let values):
            return noteAdvertised(values, refused: values.mapValues { _ in failure })
        case .reportingPublication:
            return stopAdvertising(failure)
        case .stoppingAdvertisements(let first):
            return withdrawApplication(first)
        case .withdrawingApplication(let first):
            return withdrawAgent(first)
        case .withdrawingAgent(let first):
            return finish(first)
        case .idle, .published, .awaitingRenewal, .finished:
            return nil
        }
    }

    /// Brings what is on the air one step nearer to what is wanted.
    private mutating func advertise() -> Action? {
        if isStopRequested { return stopAdvertising(nil) }
        // Without power, nothing can be advertised; with it, what was is not on the air again by itself everywhere.
        guard isPowered else {
            advertising.outdateAll()
            return settle()
        }
        // First the program is told, however much has changed meanwhile.
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

    private mutating func noteAdvertised(
        _ values: [Int: Advertisement],
        refused: [Int: Failure]
    ) -> Action? {
        advertising.note(values, refused: refused)
        // What is refused of a demand leads back to what was before.
        let isRefused = !refused.isEmpty && advertising.firstRefusal != nil
        if isRefused, !isReported, !isStopRequested, !acceptsPart || advertising.isNothingRegistered {
            return stopAdvertising(advertising.firstRefusal)
        }
        return advertise()
    }

    /// There is nothing more to be done.
    private mutating func settle() -> Action? {
        let refusal = isPowered ? advertising.firstRefusal : nil
        isAdvertising = isPowered && refusal == nil && advertising.isAnythingMeant
        guard isReported else {
            state = .reportingPublication
            return .reportPublication
        }
        advertising.completeDemand()
        if let refusal {
            failedRenewals += 1
            state = .awaitingRenewal
            return .awaitRenewal(after: Self.renewalDelay(after: failedRenewals), because: refusal)
        }
        if isPowered { failedRenewals = 0 }
        state = .published
        return nil
    }

    /// A second after the first failure, twice that after the next, at most half a minute.
    private static func renewalDelay(after failures: Int) -> Duration {
        .seconds(min(1 << min(failures - 1, 5), 30))
    }

    private mutating func stopAdvertising(_ failure: Failure?) -> Action {
        let numbers = advertising.attempted
        guard !numbers.isEmpty else { return withdrawApplication(failure) }
        isAdvertising = false
        state = .stoppingAdvertisements(failure)
        return .withdrawAdvertisements(numbers)
    }

    private mutating func withdrawApplication(_ failure: Failure?) -> Action {
        isAdvertising = false
        state = .withdrawingApplication(failure)
        return .withdrawApplication
    }

    private mutating func withdrawAgent(_ failure: Failure?) -> Action {
        state = .withdrawingAgent(failure)
        return .withdrawAgent
    }

    private mutating func finish(_ failure: Failure?) -> Action {
        state = .finished
        return .finish(failure)
    }
}

// MARK: - What is the case

extension RegistrationStateMachine {
    /// Whether the program was told that the peripheral is published, and nothing is withdrawn yet.
    var isPublished: Bool { isReported && isRegistered && !isStopping }

    /// Whether bluetoothd serves the database.
    var isRegistered: Bool {
        switch state {
        case .idle, .registeringAgent, .registeringApplication, .withdrawingApplication, .withdrawingAgent,
            .finished:
            false
        case .withdrawingAdvertisements, .registeringAdvertisements, .changingAdvertisements,
            .reportingPublication, .published, .awaitingRenewal, .stoppingAdvertisements:
            true
        }
    }

    /// Whether all is done that could be, and nothing is refused.
    var isComplete: Bool {
        if case .published = state { isPowered } else { false }
    }

    private var isStopping: Bool {
        if case .stoppingAdvertisements = state { true } else { false }
    }

    /// Whether the next step waits for something to happen.
    private var isSettled: Bool {
        switch state {
        case .published, .awaitingRenewal: true
        default: false
        }
    }
}

// MARK: - What happens meanwhile

extension RegistrationStateMachine {
    private mutating func stop() -> Action? {
        switch state {
        case .stoppingAdvertisements, .withdrawingApplication, .withdrawingAgent, .idle, .finished: return nil
        default: isStopRequested = true
        }
        return isSettled ? advertise() : nil
    }

    private mutating func demand(_ new: [Advertisement], _ restarted: Set<Int>) -> Action? {
        advertising.demand(new, restarted: restarted)
        return isSettled ? advertise() : nil
    }

    private mutating func changeConnections(_ count: Int) -> Action? {
        let before = advertising.wanted
        advertising.connections = count
        guard adapter.connectionsInterruptAdvertising || advertising.wanted != before else { return nil }
        if adapter.connectionsInterruptAdvertising { advertising.outdateAll() }
        // What the adapter could not do with that central, it may be able to do without.
        advertising.refusals = [:]
        return isSettled ? advertise() : nil
    }

    private mutating func changePower(_ isOn: Bool) -> Action? {
        guard isOn != isPowered else { return nil }
        isPowered = isOn
        advertising.outdateAll()
        advertising.refusals = [:]
        if !isOn { isAdvertising = false }
        return isSettled ? advertise() : nil
    }

    private mutating func releaseAdvertisement(_ number: Int) -> Action? {
        if advertising.endsByItself(number) {
            advertising.end(number)
            if isAdvertising { isAdvertising = advertising.isAnythingMeant }
            return nil
        }
        // bluetoothd does so when the adapter is about to go, too.
        guard advertising.noteLost(number, because: .advertisementLost) else { return nil }
        if isReported { isAdvertising = false }
        return isSettled ? advertise() : nil
    }

    /// Nothing can be withdrawn any more, nor has to be: what bluetoothd still has, it drops with the connection.
    private mutating func end(_ failure: Failure) -> Action? {
        advertising.completeDemand()
        switch state {
        case .idle, .finished: return nil
        case .stoppingAdvertisements(let first), .withdrawingApplication(let first),
            .withdrawingAgent(let first):
            return finish(first)
        default: return finish(failure)
        }
    }
}

extension RegistrationStateMachine.Failure {
    fileprivate static let advertisementLost = Self(
        code: .connectionLost,
        message: "bluetoothd has withdrawn the advertisement; look into its log for the reason."
    )

    /// Whether bluetoothd is still there, so that other things can be withdrawn from it.
    var leavesDaemon: Bool {
        code != .connectionLost && code != .stackUnavailable
    }
}
