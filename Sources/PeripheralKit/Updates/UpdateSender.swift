internal import PeripheralCore
internal import Synchronization

/// Sends updates through the backend, and reports their outcomes to waiting calls.
final class UpdateSender: Sendable {
    struct State {
        /// The link to the backend, which also exists while the backend is off the air.
        var link: (any BackendLink)?
        var isOffTheAir = true
        var isStopped = false
        var queues: TransmitQueues
        /// The next updates for the link.
        var outgoing: [BackendUpdate] = []
        var isSubmitting = false
        /// The calls that wait for room in the queues, or for the outcome of a value.
        var callers: [TransmitQueues.Ticket: Caller] = [:]
        /// The calls that wait for the end of a transfer.
        var transfers: [(ticket: TransmitQueues.Ticket, report: TransferReport)] = []
        var nextTicket: TransmitQueues.Ticket = 0
        var completionReporting = CompletionReporting.unknown

        /// Updates, with the link for them.
        struct Outgoing {
            let link: any BackendLink
            var updates: [BackendUpdate]
        }

        /// The link for updates.
        var linkOnTheAir: (any BackendLink)? { isOffTheAir ? nil : link }
    }

    typealias Caller = CheckedContinuation<Result<Void, any Error>, Never>

    let stopwatch: Stopwatch
    let deadlines: Deadlines
    let retained: Preservation?
    let activity: ActivityLog?
    let state: Mutex<State>

    /// Creates a sender.
    ///
    /// - Parameters:
    ///   - policies: The policies of the characteristics that can be updated, by their value handles.
    ///   - clock: The clock for deadlines.
    ///   - retained: The updates that are retained until they have been sent.
    ///   - activity: The log of the updates.
    init(
        policies: [AttributeHandle: UpdatePolicy],
        clock: any Clock<Duration>,
        sending retained: Preservation? = nil,
        activity: ActivityLog? = nil
    ) {
        self.retained = retained
        self.activity = activity
        stopwatch = Stopwatch(clock)
        deadlines = Deadlines(by: stopwatch)
        state = Mutex(State(queues: TransmitQueues(policies: policies)))
    }

    /// Returns the link to the backend.
    ///
    /// - Throws: ``PeripheralError`` with the code `stopped`, or `connectionLost` while the peripheral is off
    ///   the air.
    func link() throws(PeripheralError) -> any BackendLink {
        let (link, isStopped) = state.withLock { ($0.linkOnTheAir, $0.isStopped) }
        guard !isStopped else { throw .stopped }
        guard let link else { throw .offTheAir }
        return link
    }

    /// How the backend knows the completion of updates.
    var completionReporting: CompletionReporting { state.withLock(\.completionReporting) }

    func begin(_ published: PublishedPeripheral) {
        let now = stopwatch.elapsed()
        change { state in
            if !state.isStopped { (state.link, state.isOffTheAir) = (published.link, false) }
            state.completionReporting = published.completionReporting
            state.queues.setWindow(published.window)
            // A central may have subscribed before, so that updates have waited for the link.
            state.queues.restartDeadlines(at: now)
        }
    }

    /// Records that the backend is off the air: updates in flight and new updates have no recipients.
    func suspend() {
        change { state in
            state.isOffTheAir = true
            state.queues.suspended()
            state.outgoing = []
        }
    }

    /// Ends all waiting calls and stops the backend.
    ///
    /// Later calls have no effect.
    func stop() {
        let (waiting, link) = state.withLock { state in
            for transfer in state.transfers { transfer.report.end(.failure(PeripheralError.stopped)) }
            state.transfers = []
            state.isStopped = true
            state.outgoing = []
            // The link retains the backend, which retains its host.
            defer { (state.callers, state.link) = ([:], nil) }
            return (Array(state.callers.values), state.link)
        }
        for caller in waiting { caller.resume(returning: .failure(PeripheralError.stopped)) }
        link?.stop()
    }

    /// Updates the data of a central.
    func connected(_ central: Central) {
        change { $0.queues.connected(central) }
    }

    /// Handles a subscription.
    func subscribed(_ subscription: BackendSubscription) {
        change { state in
            if let central = subscription.central {
                state.queues.connected(central)
            }
            state.queues.subscribed(
                subscription.central?.id,
                to: subscription.characteristic,
                number: subscription.number,
                isAddressable: subscription.isAddressable,
                sharesUpdatesForAll: subscription.sharesUpdatesForAll,
                address: subscription.central?.address,
                kind: subscription.kind
            )
        }
    }

    /// Handles a change of a subscription.
    func changed(_ subscription: BackendSubscription) {
        change {
            $0.queues.changed(
                subscription.central?.id,
                of: subscription.characteristic,
                isAddressable: subscription.isAddressable,
                kind: subscription.kind
            )
        }
    }

    /// Handles the end of a subscription.
    func unsubscribed(_ characteristic: AttributeHandle, by central: Central.ID?) {
        change { $0.queues.unsubscribed(central, from: characteristic) }
    }

    /// Changes the number of values that may be in flight to a central.
    func windowChanged(of central: Central.ID, to window: Int) {
        change { $0.queues.setWindow(window, of: central) }
    }

    /// Adds the characteristics of an added service.
    func add(_ policies: [AttributeHandle: UpdatePolicy]) {
        change { $0.queues.queues.add(policies) }
    }

    /// Ends the updates of a service that is about to be removed, except those in flight.
    func close(_ handles: ClosedRange<AttributeHandle>) {
        change { $0.queues.close(handles) }
    }

    /// - Throws: ``PeripheralError`` with the code `serviceRemoved` if the service of a characteristic is
    ///   about to be removed.
    func checkIsOpen(_ characteristic: AttributeHandle) throws(PeripheralError) {
        guard state.withLock({ $0.queues.queues.isClosed(characteristic) }) else { return }
        throw .serviceRemoved
    }

    /// Removes the characteristics of a removed service.
    ///
    /// - Returns: The counts of the values of each characteristic.
    func remove(
        _ handles: ClosedRange<AttributeHandle>
    ) -> [(characteristic: AttributeHandle, counters: UpdateCounters)] {
        change { $0.queues.remove(handles) }
    }

    /// Records that the stack has accepted an update, which is in flight now.
    func taken(_ id: BackendUpdate.ID) {
        change { $0.queues.taken(id) }
    }

    /// Records the outcomes of updates.
    func ended(_ updates: [(BackendUpdate.ID, BackendUpdateOutcome)]) {
        change { state in
            for (id, outcome) in updates { state.queues.ended(id, outcome.result, isKnown: outcome.isKnown) }
        }
    }

    /// Handles a disconnection, which ends all updates for the central.
    func disconnected(_ central: Central.ID) {
        change { $0.queues.disconnected(central) }
    }

    /// Sends retained updates for which there is room.
    ///
    /// A call is necessary when other updates are retained, or may be sent.
    func sendRetained() {
        change { $0.queues.retainedChanged() }
    }

    /// Gives up updates that are not confirmed in time, and sends failed retained updates again, until the
    /// calling task is cancelled.
    func runDeadlines() async {
        await deadlines.run {
            state.withLock { $0.queues.nextDeadline() }
        } passed: { now in
            let (link, late) = change { ($0.link, $0.queues.deadlinesPassed(at: now)) }
            for update in late { link?.giveUp(update) }
        }
    }
}

extension BackendUpdateOutcome {
    fileprivate var isKnown: Bool {
        if case .givenUp = self { false } else { true }
    }

    fileprivate var result: Result<Void, PeripheralError> {
        switch self {
        case .completed, .givenUp: .success(())
        case .failed(let error): .failure(error)
        }
    }
}
