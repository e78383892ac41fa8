internal import PeripheralKit

/// One registration with bluetoothd, on one adapter: which step follows which, whatever happens.
///
/// Events go in, the next step comes out; the machine does no I/O and knows no clock. One step is under way at a
/// time: its outcome is an event like those from outside, which come at any time, and a step that is decided on
/// before that outcome takes its place. Order matters: the database is registered before the advertisement, so that
/// no central finds an empty peripheral, and the advertisement is withdrawn first, for the same reason; the pairing
/// agent is there before and after both, since a central pairs by what it found when it connected.
struct RegistrationStateMachine {
    enum Event: Hashable {
        // What becomes of the step that is under way:

        case registeredAgent
        case registeredApplication
        case registeredAdvertisements
        case reportedPublication
        case renewalIsDue
        case withdrewAdvertisements
        case withdrewApplication
        case withdrewAgent
        case failed(Failure)

        // What happens to the registration:

        case stopRequested
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
        case registerAgent(adapter: String)
        case registerApplication(adapter: String)
        /// Those with these numbers; none is registered.
        case registerAdvertisements(adapter: String, Set<Int>)
        case reportPublication(adapter: String)
        /// The advertisement could not be renewed; that is to be told, and tried again later.
        case awaitRenewal(after: Duration, because: Failure)
        /// Those that are registered.
        case withdrawAdvertisements(adapter: String)
        case withdrawApplication(adapter: String)
        case withdrawAgent(adapter: String)
        case finish(Failure?)
    }

    /// Why the registration ends; equal by its kind and words.
    struct Failure: Error, Hashable {
        var code: PeripheralError.Code
        var message: String
        /// What is wrong with the declaration, if that is the reason.
        var issues: [DeclarationIssue] = []
        /// What it tells of the radio; `nil` for what follows from the code.
        var radio: PeripheralState.Radio?
    }

    private enum State {
        case idle
        case registeringAgent(String)
        case registeringApplication(String)
        case registeringAdvertisement(String)
        case reportingPublication(String)
        /// Nothing is under way.
        case published(String)
        /// The advertisement is withdrawn, to be registered again.
        case interruptingAdvertisement(String)
        case renewingAdvertisement(String)
        case awaitingRenewal(String)
        case withdrawingAdvertisement(String, Failure?)
        case withdrawingApplication(String, Failure?)
        case withdrawingAgent(Failure?)
        case finished
    }

    /// What there is to know of an advertisement.
    struct AdvertisementTraits: Hashable {
        /// It is off the air while a central is connected.
        var pausesWhileConnected = false
        /// bluetoothd drops it after a time, for good.
        var hasTimeout = false
    }

    let adapter: AdapterDescription
    private let advertisements: [AdvertisementTraits]
    /// The numbers of those whose time is over.
    private(set) var endedAdvertisements: Set<Int>
    private var connections = 0
    private var state = State.idle
    private var failedRenewals = 0
    private(set) var isPowered = true
    /// Whether centrals find the peripheral, apart from the moments that it takes to renew the advertisement.
    private(set) var isAdvertising = false

    // What happens while a registration is under way, whose outcome has to be awaited:

    private var isStopRequested = false
    private var isAdvertisementReleased = false
    private var isRenewalNeeded = false

    /// - Parameters:
    ///   - adapter: One that is powered on.
    ///   - advertisements: What is advertised; the numbers are their places.
    ///   - endedAdvertisements: The numbers of those whose time is over already.
    init(
        on adapter: AdapterDescription,
        advertisements: [AdvertisementTraits] = [AdvertisementTraits()],
        endedAdvertisements: Set<Int> = []
    ) {
        self.adapter = adapter
        self.advertisements = advertisements
        self.endedAdvertisements = endedAdvertisements
    }

    /// What has to be on the air now.
    private var wanted: Set<Int> {
        let wanted = advertisements.indices.filter { number in
            !endedAdvertisements.contains(number)
                && !(advertisements[number].pausesWhileConnected && connections > 0)
        }
        return Set(wanted)
    }

    /// Begins.
    mutating func start() -> Action {
        state = .registeringAgent(adapter.path)
        return .registerAgent(adapter: adapter.path)
    }

    /// Takes note of an event; `nil` when what is under way goes on.
    mutating func handle(_ event: Event) -> Action? {
        switch event {
        case .stopRequested: stop()
        case .connectionsChanged(let count): changeConnections(count)
        case .advertisementReleased(let number): releaseAdvertisement(number)
        case .powerChanged(let isPowered): changePower(isPowered)
        case .lost(let failure): end(failure)
        case .failed(let failure): failure.leavesDaemon ? fail(failure) : end(failure)
        default: proceed(event)
        }
    }
}

// MARK: - Steps

extension RegistrationStateMachine {
    /// A step is done: the next.
    private mutating func proceed(_ event: Event) -> Action? {
        switch (state, event) {
        case (.registeringAgent(let adapter), .registeredAgent):
            if isStopRequested { return withdrawAgent(from: adapter, nil) }
            state = .registeringApplication(adapter)
            return .registerApplication(adapter: adapter)
        case (.registeringApplication(let adapter), .registeredApplication):
            if isStopRequested { return withdrawApplication(from: adapter, nil) }
            state = .registeringAdvertisement(adapter)
            return .registerAdvertisements(adapter: adapter, wanted)
        case (.registeringAdvertisement(let adapter), .registeredAdvertisements):
            if let end = endIfRequested(on: adapter) { return end }
            noteAdvertising()
            state = .reportingPublication(adapter)
            return .reportPublication(adapter: adapter)
        case (.reportingPublication(let adapter), .reportedPublication):
            return settle(on: adapter)
        case (.interruptingAdvertisement(let adapter), .withdrewAdvertisements):
            return renewAdvertisement(on: adapter)
        case (.renewingAdvertisement(let adapter), .registeredAdvertisements):
            failedRenewals = 0
            noteAdvertising()
            return settle(on: adapter)
        case (.awaitingRenewal(let adapter), .renewalIsDue):
            guard isPowered else { return awaitPower(on: adapter) }
            return interruptAdvertisement(on: adapter)
        case (.withdrawingAdvertisement(let adapter, let failure), .withdrewAdvertisements):
            return withdrawApplication(from: adapter, failure)
        case (.withdrawingApplication(let adapter, let failure), .withdrewApplication):
            return withdrawAgent(from: adapter, failure)
        case (.withdrawingAgent(let failure), .withdrewAgent):
            return finish(failure)
        default:
            return nil
        }
    }

    /// A step failed, and bluetoothd is still there, so that what is registered can be withdrawn from it.
    private mutating func fail(_ failure: Failure) -> Action? {
        switch state {
        case .registeringAgent(let adapter), .registeringApplication(let adapter):
            return withdrawAgent(from: adapter, failure)
        case .registeringAdvertisement(let adapter):
            return withdrawApplication(from: adapter, failure)
        case .reportingPublication(let adapter):
            return withdrawAdvertisement(from: adapter, failure)
        case .interruptingAdvertisement(let adapter):
            // After a renewal that failed, there is nothing to withdraw.
            return renewAdvertisement(on: adapter)
        case .renewingAdvertisement(let adapter):
            if isStopRequested { return withdrawApplication(from: adapter, nil) }
            guard isPowered else { return awaitPower(on: adapter) }
            return awaitRenewal(on: adapter, because: failure)
        case .withdrawingAdvertisement(let adapter, let first):
            return withdrawApplication(from: adapter, first)
        case .withdrawingApplication(let adapter, let first):
            return withdrawAgent(from: adapter, first)
        case .withdrawingAgent(let first):
            return finish(first)
        case .idle, .published, .awaitingRenewal, .finished:
            return nil
        }
    }

    /// Takes note of what is on the air after what was wanted is registered; what pauses counts as if it was.
    private mutating func noteAdvertising() {
        isAdvertising =
            isPowered && !isAdvertisementReleased && endedAdvertisements.count < advertisements.count
    }

    /// The advertisement is on the air, but for what has happened since it was sent there.
    private mutating func settle(on adapter: String) -> Action? {
        if let end = endIfRequested(on: adapter) { return end }
        guard isPowered else { return awaitPower(on: adapter) }
        if isAdvertisementReleased { return awaitRenewal(on: adapter, because: .advertisementLost) }
        if isRenewalNeeded { return interruptAdvertisement(on: adapter) }
        state = .published(adapter)
        return nil
    }

    /// The way out when an advertisement is registered that must not be.
    private mutating func endIfRequested(on adapter: String) -> Action? {
        guard isStopRequested else { return nil }
        return isAdvertisementReleased
            ? withdrawApplication(from: adapter, nil) : withdrawAdvertisement(from: adapter, nil)
    }

    private mutating func awaitRenewal(on adapter: String, because failure: Failure) -> Action {
        failedRenewals += 1
        isAdvertising = false
        state = .awaitingRenewal(adapter)
        return .awaitRenewal(after: Self.renewalDelay(after: failedRenewals), because: failure)
    }

    /// Without power, nothing can be advertised; with it, what was is not on the air again by itself everywhere.
    private mutating func awaitPower(on adapter: String) -> Action? {
        isRenewalNeeded = true
        state = .published(adapter)
        return nil
    }

    private mutating func interruptAdvertisement(on adapter: String) -> Action {
        state = .interruptingAdvertisement(adapter)
        return .withdrawAdvertisements(adapter: adapter)
    }

    private mutating func renewAdvertisement(on adapter: String) -> Action? {
        if isStopRequested { return withdrawApplication(from: adapter, nil) }
        guard isPowered else { return awaitPower(on: adapter) }
        isRenewalNeeded = false
        isAdvertisementReleased = false
        state = .renewingAdvertisement(adapter)
        return .registerAdvertisements(adapter: adapter, wanted)
    }

    /// A second after the first failure, twice that after the next, at most half a minute.
    private static func renewalDelay(after failures: Int) -> Duration {
        .seconds(min(1 << min(failures - 1, 5), 30))
    }

    private mutating func withdrawAdvertisement(from adapter: String, _ failure: Failure?) -> Action {
        isAdvertising = false
        state = .withdrawingAdvertisement(adapter, failure)
        return .withdrawAdvertisements(adapter: adapter)
    }

    private mutating func withdrawApplication(from adapter: String, _ failure: Failure?) -> Action {
        isAdvertising = false
        state = .withdrawingApplication(adapter, failure)
        return .withdrawApplication(adapter: adapter)
    }

    private mutating func withdrawAgent(from adapter: String, _ failure: Failure?) -> Action {
        state = .withdrawingAgent(failure)
        return .withdrawAgent(adapter: adapter)
    }

    private mutating func finish(_ failure: Failure?) -> Action {
        state = .finished
        return .finish(failure)
    }
}

// MARK: - What is the case

extension RegistrationStateMachine {
    /// Whether the program was told that the peripheral is published.
    var isPublished: Bool {
        switch state {
        case .published, .interruptingAdvertisement, .renewingAdvertisement, .awaitingRenewal: true
        default: false
        }
    }

    /// Whether bluetoothd serves the database.
    var isRegistered: Bool {
        switch state {
        case .registeringAdvertisement, .reportingPublication, .withdrawingAdvertisement: true
        default: isPublished
        }
    }
}

// MARK: - What happens meanwhile

extension RegistrationStateMachine {
    private mutating func stop() -> Action? {
        switch state {
        case .published(let adapter), .awaitingRenewal(let adapter):
            return withdrawAdvertisement(from: adapter, nil)
        case .registeringAgent, .registeringApplication, .registeringAdvertisement, .reportingPublication,
            .interruptingAdvertisement, .renewingAdvertisement:
            isStopRequested = true
            return nil
        case .idle, .withdrawingAdvertisement, .withdrawingApplication, .withdrawingAgent, .finished:
            return nil
        }
    }

    private mutating func changeConnections(_ count: Int) -> Action? {
        let before = wanted
        connections = count
        guard adapter.connectionsInterruptAdvertising || wanted != before else { return nil }
        guard isPowered else { return noteRenewal() }
        return renewIfPublished()
    }

    private mutating func changePower(_ isOn: Bool) -> Action? {
        guard isOn != isPowered else { return nil }
        isPowered = isOn
        if !isOn { isAdvertising = false }
        return isOn ? renewIfPublished() : noteRenewal()
    }

    private mutating func noteRenewal() -> Action? {
        isRenewalNeeded = true
        return nil
    }

    private mutating func renewIfPublished() -> Action? {
        switch state {
        case .published(let adapter):
            return interruptAdvertisement(on: adapter)
        case .awaitingRenewal(let adapter):
            // What the adapter could not do with that central, it may be able to do without.
            return interruptAdvertisement(on: adapter)
        case .registeringAdvertisement, .reportingPublication, .renewingAdvertisement:
            isRenewalNeeded = true
            return nil
        case .idle, .registeringAgent, .registeringApplication, .interruptingAdvertisement,
            .withdrawingAdvertisement, .withdrawingApplication, .withdrawingAgent, .finished:
            return nil
        }
    }

    private mutating func releaseAdvertisement(_ number: Int) -> Action? {
        guard !(advertisements.indices.contains(number) && advertisements[number].hasTimeout) else {
            return endAdvertisement(number)
        }
        switch state {
        case .published(let adapter):
            // It goes on as it has begun: bluetoothd does so when the adapter is about to go, too.
            return isPowered ? awaitRenewal(on: adapter, because: .advertisementLost) : noteRenewal()
        case .withdrawingAdvertisement(let adapter, let failure):
            return withdrawApplication(from: adapter, failure)
        case .registeringAdvertisement, .reportingPublication, .renewingAdvertisement:
            isAdvertisementReleased = true
            return nil
        case .idle, .registeringAgent, .registeringApplication, .interruptingAdvertisement,
            .awaitingRenewal, .withdrawingApplication, .withdrawingAgent, .finished:
            return nil
        }
    }

    /// The time of an advertisement is over; the others stay as they are.
    private mutating func endAdvertisement(_ number: Int) -> Action? {
        endedAdvertisements.insert(number)
        if isAdvertising { noteAdvertising() }
        return nil
    }

    /// Nothing can be withdrawn any more, nor has to be: what bluetoothd still has, it drops with the connection.
    private mutating func end(_ failure: Failure) -> Action? {
        switch state {
        case .idle, .finished: nil
        case .withdrawingAdvertisement(_, let first), .withdrawingApplication(_, let first),
            .withdrawingAgent(let first):
            finish(first)
        default: finish(failure)
        }
    }
}

extension RegistrationStateMachine.Failure {
    fileprivate static let advertisementLost = Self(
        code: .connectionLost,
        message: "bluetoothd has withdrawn the advertisement; look into its log for the reason."
    )

    /// Whether bluetoothd is still there, so that other things can be withdrawn from it.
    fileprivate var leavesDaemon: Bool {
        code != .connectionLost && code != .stackUnavailable
    }
}
