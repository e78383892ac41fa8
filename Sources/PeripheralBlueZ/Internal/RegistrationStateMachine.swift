internal import PeripheralKit

/// The life of a registration with bluetoothd: which step follows which, whatever happens.
///
/// Events go in, the next step comes out; the machine does no I/O and knows no clock. One step is under way at a
/// time: its outcome is an event like those from outside, which come at any time, and a step that is decided on
/// before that outcome takes its place. Order matters: the database is registered before the advertisement, so that
/// no central finds an empty peripheral, and the advertisement is withdrawn first, for the same reason; the pairing
/// agent is there before and after both, since a central pairs by what it found when it connected.
struct RegistrationStateMachine {
    enum Event: Hashable {
        // What becomes of the step that is under way:

        /// The adapters that bluetoothd has, in its order.
        case foundAdapters([AdapterDescription])
        case registeredAgent
        case registeredApplication
        case registeredAdvertisement
        case reportedPublication
        case renewalIsDue
        case withdrewAdvertisement
        case withdrewApplication
        case withdrewAgent
        case failed(Failure)

        // What happens to the registration:

        case stopRequested
        /// A central has come or gone.
        case connectionChanged
        /// bluetoothd has dropped the advertisement by itself.
        case advertisementReleased
        /// What the registration needs is gone, and all that was registered with it.
        case lost(Failure)
    }

    enum Action: Hashable {
        case findAdapters
        case registerAgent(adapter: String)
        case registerApplication(adapter: String)
        case registerAdvertisement(adapter: String)
        case reportPublication(adapter: String)
        /// The advertisement could not be renewed; that is to be told, and tried again later.
        case awaitRenewal(after: Duration, because: Failure)
        case withdrawAdvertisement(adapter: String)
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
    }

    private enum State {
        case idle
        case findingAdapters
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

    private let selection: AdapterSelection
    private var state = State.idle
    private var connectionsInterruptAdvertising = false
    private var failedRenewals = 0

    // What happens while a registration is under way, whose outcome has to be awaited:

    private var isStopRequested = false
    private var isAdvertisementReleased = false
    private var isRenewalNeeded = false

    init(selection: AdapterSelection) {
        self.selection = selection
    }

    /// Begins.
    mutating func start() -> Action {
        state = .findingAdapters
        return .findAdapters
    }

    /// Takes note of an event; `nil` when what is under way goes on.
    mutating func handle(_ event: Event) -> Action? {
        switch event {
        case .stopRequested: stop()
        case .connectionChanged: changeConnection()
        case .advertisementReleased: releaseAdvertisement()
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
        case (.findingAdapters, .foundAdapters(let adapters)):
            return registerAgent(choosing: adapters)
        case (.registeringAgent(let adapter), .registeredAgent):
            if isStopRequested { return withdrawAgent(from: adapter, nil) }
            state = .registeringApplication(adapter)
            return .registerApplication(adapter: adapter)
        case (.registeringApplication(let adapter), .registeredApplication):
            if isStopRequested { return withdrawApplication(from: adapter, nil) }
            state = .registeringAdvertisement(adapter)
            return .registerAdvertisement(adapter: adapter)
        case (.registeringAdvertisement(let adapter), .registeredAdvertisement):
            if let end = endWithoutAdvertising(on: adapter) { return end }
            state = .reportingPublication(adapter)
            return .reportPublication(adapter: adapter)
        case (.reportingPublication(let adapter), .reportedPublication):
            return settle(on: adapter)
        case (.interruptingAdvertisement(let adapter), .withdrewAdvertisement):
            return renewAdvertisement(on: adapter)
        case (.renewingAdvertisement(let adapter), .registeredAdvertisement):
            failedRenewals = 0
            return settle(on: adapter)
        case (.awaitingRenewal(let adapter), .renewalIsDue):
            return interruptAdvertisement(on: adapter)
        case (.withdrawingAdvertisement(let adapter, let failure), .withdrewAdvertisement):
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
        case .findingAdapters:
            return finish(failure)
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
            failedRenewals += 1
            state = .awaitingRenewal(adapter)
            return .awaitRenewal(after: Self.renewalDelay(after: failedRenewals), because: failure)
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

    private mutating func registerAgent(choosing adapters: [AdapterDescription]) -> Action {
        switch selection.choose(from: adapters) {
        case .success(let adapter):
            connectionsInterruptAdvertising = adapter.connectionsInterruptAdvertising
            state = .registeringAgent(adapter.path)
            return .registerAgent(adapter: adapter.path)
        case .failure(let failure):
            return finish(failure)
        }
    }

    /// The advertisement is on the air, but for what has happened since it was sent there.
    private mutating func settle(on adapter: String) -> Action? {
        if let end = endWithoutAdvertising(on: adapter) { return end }
        if isRenewalNeeded { return interruptAdvertisement(on: adapter) }
        state = .published(adapter)
        return nil
    }

    /// The way out when an advertisement is registered that must not be, or is not any more.
    private mutating func endWithoutAdvertising(on adapter: String) -> Action? {
        if isAdvertisementReleased {
            return withdrawApplication(from: adapter, isStopRequested ? nil : .advertisementLost)
        }
        if isStopRequested { return withdrawAdvertisement(from: adapter, nil) }
        return nil
    }

    private mutating func interruptAdvertisement(on adapter: String) -> Action {
        state = .interruptingAdvertisement(adapter)
        return .withdrawAdvertisement(adapter: adapter)
    }

    private mutating func renewAdvertisement(on adapter: String) -> Action {
        if isStopRequested { return withdrawApplication(from: adapter, nil) }
        isRenewalNeeded = false
        isAdvertisementReleased = false
        state = .renewingAdvertisement(adapter)
        return .registerAdvertisement(adapter: adapter)
    }

    /// A second after the first failure, twice that after the next, at most half a minute.
    private static func renewalDelay(after failures: Int) -> Duration {
        .seconds(min(1 << min(failures - 1, 5), 30))
    }

    private mutating func withdrawAdvertisement(from adapter: String, _ failure: Failure?) -> Action {
        state = .withdrawingAdvertisement(adapter, failure)
        return .withdrawAdvertisement(adapter: adapter)
    }

    private mutating func withdrawApplication(from adapter: String, _ failure: Failure?) -> Action {
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

// MARK: - What happens meanwhile

extension RegistrationStateMachine {
    private mutating func stop() -> Action? {
        switch state {
        case .findingAdapters:
            return finish(nil)
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

    private mutating func changeConnection() -> Action? {
        guard connectionsInterruptAdvertising else { return nil }
        switch state {
        case .published(let adapter):
            return interruptAdvertisement(on: adapter)
        case .awaitingRenewal(let adapter):
            // What the adapter could not do with that central, it may be able to do without.
            return interruptAdvertisement(on: adapter)
        case .registeringAdvertisement, .reportingPublication, .renewingAdvertisement:
            isRenewalNeeded = true
            return nil
        case .idle, .findingAdapters, .registeringAgent, .registeringApplication, .interruptingAdvertisement,
            .withdrawingAdvertisement, .withdrawingApplication, .withdrawingAgent, .finished:
            return nil
        }
    }

    private mutating func releaseAdvertisement() -> Action? {
        switch state {
        case .published(let adapter):
            return withdrawApplication(from: adapter, .advertisementLost)
        case .withdrawingAdvertisement(let adapter, let failure):
            return withdrawApplication(from: adapter, failure)
        case .registeringAdvertisement, .reportingPublication, .renewingAdvertisement:
            isAdvertisementReleased = true
            return nil
        case .idle, .findingAdapters, .registeringAgent, .registeringApplication, .interruptingAdvertisement,
            .awaitingRenewal, .withdrawingApplication, .withdrawingAgent, .finished:
            return nil
        }
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
