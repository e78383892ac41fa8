internal import Logging
internal import PeripheralCore
private import Synchronization

/// Logs the activity of a run, at the levels info, debug and trace.
///
/// The article "Logging" lists the lines. The log never contains a value of an attribute.
final class ActivityLog: Sendable {
    /// How far centrals reach the peripheral.
    fileprivate enum Reach {
        case offTheAir
        /// The services are registered, but not all advertisements are sent.
        case notAdvertised
        case onTheAir
    }

    private struct State {
        var reach = Reach.offTheAir
        var isEnding = false
    }

    private let logger: Logger
    private let name: String
    private let declaration: CurrentDeclaration
    private let state = Mutex(State())

    init(of name: String, _ declaration: CurrentDeclaration, to logger: Logger) {
        self.logger = logger
        self.name = name
        self.declaration = declaration
    }

    /// Whether requests and updates are logged.
    ///
    /// Each request and each update checks this first. Below this level, they cost no more than this check.
    var isTracing: Bool { logger.logLevel <= .trace }
}

// MARK: - On the air and off

extension ActivityLog {
    /// Records that the run is ending, which explains why the peripheral goes off the air.
    func isEnding() {
        state.withLock { $0.isEnding = true }
    }

    /// Logs that the backend has published the peripheral, and how it learns that updates are completed.
    func published(with completion: CompletionReporting) {
        logger.debug(
            "The backend has published the peripheral.",
            metadata: ["peripheral.completion": "\(completion)"]
        )
    }

    /// Logs that the run has ended, unless the peripheral was off the air before.
    func ended() {
        isEnding()
        stateChanged(to: .initial)
    }

    /// Logs whether the peripheral is on the air, if this has changed.
    ///
    /// While a backend publishes or withdraws the peripheral, the peripheral is registered without
    /// advertisements for a moment. This is logged only if it lasts after the publication.
    func stateChanged(to new: PeripheralState, isPublished: Bool = false) {
        let reach = Reach(of: new)
        let (isNew, isEnding) = state.withLock { state in
            let isBetween = state.isEnding || state.reach == .offTheAir && !isPublished
            let isMoment = reach == .notAdvertised && isBetween
            guard reach != state.reach, !isMoment else { return (false, state.isEnding) }
            state.reach = reach
            return (true, state.isEnding)
        }
        guard isNew else { return }
        var metadata: Logger.Metadata = ["peripheral.name": "\(name)"]
        if reach != .onTheAir, let reason = new.reason ?? (isEnding ? "The run has ended." : nil) {
            metadata["peripheral.reason"] = .bounded(reason)
        }
        logger.info(reach.line, metadata: metadata)
    }
}

extension ActivityLog.Reach {
    fileprivate init(of state: PeripheralState) {
        self =
            if !state.isRegistered || state.radio == .poweredOff {
                .offTheAir
            } else {
                state.isAdvertising ? .onTheAir : .notAdvertised
            }
    }

    fileprivate var line: Logger.Message {
        switch self {
        case .offTheAir: "The peripheral is off the air."
        case .notAdvertised: "The peripheral serves centrals, but does not send all of its advertisements."
        case .onTheAir: "The peripheral is on the air."
        }
    }
}

// MARK: - Centrals

extension ActivityLog {
    /// Logs connections, pairing and subscriptions.
    func log(_ events: [SessionEvent]) {
        guard !events.isEmpty, logger.logLevel <= .debug else { return }
        for event in events {
            switch event {
            case .connected(let central):
                log("A central has connected.", central)
            case .changed(let central):
                log("A connected central has changed.", central)
            case .disconnected(let central, let reason):
                log("A central has disconnected.", central, ["peripheral.reason": "\(reason)"])
            case .paired(let central):
                log("A central has bonded.", central)
            case .pairingFailed(let central, let failure):
                log("An attempt to pair has made no bond.", central, ["peripheral.reason": "\(failure)"])
            case .bondRemoved(let central):
                log("The bond of a central was removed.", central)
            case .pairingWindowOpened:
                logger.debug("A pairing window has opened.")
            case .pairingWindowClosed:
                logger.debug("The pairing window has closed.")
            case .subscribed(let subscription):
                log("A central has subscribed.", subscription)
            case .unsubscribed(let subscription):
                log("A subscription has ended.", subscription)
            case .advertisementEnded, .restoredSubscriberChanged, .handlesChanged, .restorationFailed:
                break
            }
        }
    }

    /// Logs that the Bluetooth stack has removed a central, and its bond if there was one.
    func forgotten(_ central: Central.ID) {
        logger.debug(
            "The Bluetooth stack has removed a central, and its bond if there was one.",
            metadata: ["peripheral.central": "\(central)"]
        )
    }

    private func log(_ message: Logger.Message, _ central: Central, _ more: Logger.Metadata = [:]) {
        let metadata: Logger.Metadata = [
            "peripheral.central": "\(central.address)",
            "peripheral.bonded": "\(central.isBonded)",
            "peripheral.mtu": "\(central.mtu)",
        ]
        logger.debug(message, metadata: metadata.merging(more) { $1 })
    }

    private func log(_ message: Logger.Message, _ subscription: Subscription) {
        let central = subscription.central.map { "\($0.address)" } ?? "not identified"
        let kind = subscription.kind.map { "\($0)" } ?? "unknown"
        logger.debug(
            message,
            metadata: [
                "peripheral.attribute": "\(declaration.name(of: subscription))",
                "peripheral.central": "\(central)",
                "peripheral.kind": "\(kind)",
            ]
        )
    }
}

// MARK: - Requests and updates

extension ActivityLog {
    /// Logs a read when it is answered.
    func trace(_ answer: BackendAnswer, to request: BackendReadRequest) -> BackendAnswer {
        trace(answer) { [self] outcome in
            var metadata = metadata("read", request.attribute, by: request.central, outcome)
            if case .success(let value) = outcome { metadata["peripheral.length"] = "\(value.count)" }
            if request.offset > 0 { metadata["peripheral.offset"] = "\(request.offset)" }
            logger.trace("A request was handled.", metadata: metadata)
        }
    }

    /// Logs a write when it is answered.
    func trace(_ answer: BackendAnswer, to request: BackendWriteRequest) -> BackendAnswer {
        trace(answer) { [self] outcome in
            let operation =
                request.isOnlyAuthorization
                ? "authorize" : request.expectsResponse ? "write" : "write without response"
            var metadata = metadata(operation, request.attribute, by: request.central, outcome)
            if !request.isOnlyAuthorization { metadata["peripheral.length"] = "\(request.value.count)" }
            logger.trace("A request was handled.", metadata: metadata)
        }
    }

    /// Logs updates that are submitted to the backend.
    func trace(_ updates: [BackendUpdate]) {
        for update in updates {
            let recipients =
                switch update.recipients {
                case .subscribers: "all subscribers"
                case .central(let central): "\(central)"
                }
            logger.trace(
                "An update was submitted.",
                metadata: [
                    "peripheral.attribute": "\(declaration.name(of: update.characteristic))",
                    "peripheral.recipients": "\(recipients)",
                    "peripheral.length": "\(update.value.count)",
                ]
            )
        }
    }

    /// Calls a closure with the outcome of a request, before the backend receives it.
    private func trace(
        _ answer: BackendAnswer,
        _ log: @escaping @Sendable (BackendAnswer.Outcome) -> Void
    ) -> BackendAnswer {
        switch answer {
        case .immediate(let outcome):
            log(outcome)
            return answer
        case .deferred(let start):
            return .deferred { deliver in
                start { outcome in
                    log(outcome)
                    deliver(outcome)
                }
            }
        }
    }

    private func metadata(
        _ operation: String,
        _ attribute: AttributeHandle,
        by central: Central,
        _ outcome: BackendAnswer.Outcome
    ) -> Logger.Metadata {
        let result =
            switch outcome {
            case .success: "success"
            case .failure(let error): "\(error)"
            }
        return [
            "peripheral.operation": "\(operation)",
            "peripheral.attribute": "\(declaration.name(of: attribute))",
            "peripheral.central": "\(central.address)",
            "peripheral.result": "\(result)",
        ]
    }
}
