internal import PeripheralKit

/// The life of a registration with bluetoothd: which step follows which, whatever happens.
///
/// Events go in, the next action comes out; the machine does no I/O and knows no clock. Order matters twice:
/// the database is registered before the advertisement, so that no central finds an empty peripheral; and the
/// advertisement is withdrawn first, for the same reason.
struct RegistrationStateMachine {
    enum Event: Hashable {
        /// The adapters that bluetoothd has, in its order.
        case foundAdapters([AdapterDescription])
        case registeredApplication
        case registeredAdvertisement
        case withdrewAdvertisement
        case withdrewApplication
        /// bluetoothd has dropped the advertisement by itself.
        case advertisementReleased
        /// A central has come or gone.
        case connectionChanged
        /// The renewal is over; whether it worked or not, the next interruption leads to another.
        case renewedAdvertisement
        case stopRequested
        /// A step failed, or what was registered is lost.
        case failed(Failure)
    }

    enum Action: Hashable {
        case findAdapters
        case registerApplication(adapter: String)
        case registerAdvertisement(adapter: String)
        case reportPublished
        case renewAdvertisement(adapter: String)
        case withdrawAdvertisement(adapter: String)
        case withdrawApplication(adapter: String)
        case finish(Failure?)
    }

    /// Why the registration ends; equal by its kind and words.
    struct Failure: Error, Hashable {
        var code: PeripheralError.Code
        var message: String
    }

    private enum State: Hashable {
        case idle
        case findingAdapters
        case registeringApplication(String)
        case registeringAdvertisement(String)
        case published(String)
        case renewingAdvertisement(String)
        case withdrawingAdvertisement(String, Failure?)
        case withdrawingApplication(String, Failure?)
        case finished
    }

    private let selection: AdapterSelection
    private var state = State.idle
    /// A stop is requested while a registration is under way, whose outcome has to be awaited.
    private var stopRequested = false
    private var connectionsInterruptAdvertising = false

    init(selection: AdapterSelection) {
        self.selection = selection
    }

    /// Begins.
    mutating func start() -> Action {
        state = .findingAdapters
        return .findAdapters
    }

    /// Takes note of an event; `nil` when nothing is to be done.
    mutating func handle(_ event: Event) -> Action? {
        switch (state, event) {
        case (.finished, _), (.idle, _):
            return nil

        case (.findingAdapters, .foundAdapters(let adapters)):
            if stopRequested { return finish(nil) }
            switch selection.choose(from: adapters) {
            case .success(let adapter):
                connectionsInterruptAdvertising = adapter.connectionsInterruptAdvertising
                state = .registeringApplication(adapter.path)
                return .registerApplication(adapter: adapter.path)
            case .failure(let failure):
                return finish(failure)
            }

        case (.registeringApplication(let adapter), .registeredApplication):
            if stopRequested { return withdrawApplication(from: adapter, nil) }
            state = .registeringAdvertisement(adapter)
            return .registerAdvertisement(adapter: adapter)

        case (.registeringAdvertisement(let adapter), .registeredAdvertisement):
            if stopRequested { return withdrawAdvertisement(from: adapter, nil) }
            state = .published(adapter)
            return .reportPublished

        case (.published(let adapter), .stopRequested):
            return withdrawAdvertisement(from: adapter, nil)

        case (.published(let adapter), .connectionChanged) where connectionsInterruptAdvertising:
            state = .renewingAdvertisement(adapter)
            return .renewAdvertisement(adapter: adapter)

        case (.renewingAdvertisement(let adapter), .renewedAdvertisement):
            state = .published(adapter)
            return stopRequested ? withdrawAdvertisement(from: adapter, nil) : nil

        case (.published(let adapter), .advertisementReleased):
            return withdrawApplication(from: adapter, .advertisementLost)

        case (.withdrawingAdvertisement(let adapter, let failure), .withdrewAdvertisement),
            (.withdrawingAdvertisement(let adapter, let failure), .advertisementReleased):
            return withdrawApplication(from: adapter, failure)

        case (.withdrawingApplication(_, let failure), .withdrewApplication):
            return finish(failure)

        case (.findingAdapters, .stopRequested), (.registeringApplication, .stopRequested),
            (.registeringAdvertisement, .stopRequested), (.renewingAdvertisement, .stopRequested):
            stopRequested = true
            return nil

        case (.registeringAdvertisement(let adapter), .failed(let failure)) where failure.leavesDaemon:
            return withdrawApplication(from: adapter, failure)

        // What cannot be withdrawn in order is dropped by bluetoothd when the connection closes.
        case (.withdrawingAdvertisement(let adapter, let first), .failed(let failure))
        where failure.leavesDaemon:
            return withdrawApplication(from: adapter, first)
        case (.withdrawingAdvertisement(_, let first), .failed),
            (.withdrawingApplication(_, let first), .failed):
            return finish(first)

        case (_, .failed(let failure)):
            return finish(failure)

        default:
            return nil
        }
    }

    private mutating func withdrawAdvertisement(from adapter: String, _ failure: Failure?) -> Action {
        state = .withdrawingAdvertisement(adapter, failure)
        return .withdrawAdvertisement(adapter: adapter)
    }

    private mutating func withdrawApplication(from adapter: String, _ failure: Failure?) -> Action {
        state = .withdrawingApplication(adapter, failure)
        return .withdrawApplication(adapter: adapter)
    }

    private mutating func finish(_ failure: Failure?) -> Action {
        state = .finished
        return .finish(failure)
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
