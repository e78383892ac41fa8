internal import Logging
internal import PeripheralCore
internal import Synchronization

/// Preserves the state of a running peripheral: it records changes and saves them.
final class Preservation: Sendable {
    struct State {
        var preserved: PreservedState
        var history: SubscriberHistory
        var outbox: Outbox
        var restored: RestoredState?
        /// The handles of the services when the peripheral was last on the air.
        var lastStarts: [Int: AttributeHandle]
        /// Whether the peripheral has been on the air in this run.
        var wasPublished = false
        /// Whether the session is over, so that the subscribers no longer change.
        var isFrozen = false
        /// The number of updates that were dropped to preserve newer updates.
        var droppedUpdates = 0
    }

    private let start: RestorationStart
    let wallClock: @Sendable () -> Int64
    private let logger: Logger
    let report: @Sendable (SessionEvent) -> Void
    let saver: StateSaver
    /// Wakes the sender of the updates in the outbox.
    let outboxWakeup = Wakeup()
    /// Yields when there may be room for updates.
    let outboxChanges = Broadcast<Void>(capacity: 1)
    /// Changes are reported to the saver while this is locked, so that a save includes all changes known to
    /// the saver.
    let state: Mutex<State>

    /// - Parameters:
    ///   - start: The restored state.
    ///   - interval: The minimum time between two saves.
    ///   - clock: The clock for this interval.
    ///   - wallClock: Returns the seconds since 1970.
    ///   - logger: The log for failures.
    ///   - report: Reports an event to the program.
    init(
        _ start: RestorationStart,
        savingEvery interval: Duration,
        clock: any Clock<Duration>,
        wallClock: @escaping @Sendable () -> Int64,
        logger: Logger,
        report: @escaping @Sendable (SessionEvent) -> Void
    ) {
        self.start = start
        self.wallClock = wallClock
        self.logger = logger
        self.report = report
        saver = StateSaver(
            start,
            savingEvery: interval,
            stopwatch: Stopwatch(clock),
            logger: logger,
            report: report
        )
        state = Mutex(
            State(
                preserved: start.state,
                history: start.history,
                outbox: start.outbox,
                restored: start.restored,
                lastStarts: start.state.database.startsOnAir
            )
        )
        whenSaved {}
        for problem in start.problems { report(.restorationFailed(problem)) }
    }

    // MARK: For the session

    /// The restored state, with the present status of its subscribers.
    var restored: RestoredState? {
        state.withLock { state in
            var restored = state.restored
            restored?.subscribers = state.history.restored
            return restored
        }
    }

    /// Whether subscribers that may return are not connected.
    var isExpectingCentrals: Bool { state.withLock { $0.history.isExpecting } }

    var statistics: RestorationStatistics {
        var statistics = saver.statistics
        statistics.droppedUpdates = state.withLock(\.droppedUpdates)
        return statistics
    }

    /// Waits until all changes so far are saved.
    func flush() async throws(RestorationError) {
        try await saver.flush()
    }

    // MARK: Saving

    /// Saves until ``stop()``, and then saves the remaining changes.
    func keepSaving() async {
        await saver.keepSaving {
            state.withLock { state in
                var preserved = state.preserved
                preserved.subscribers = state.history.preserved
                preserved.updates = state.outbox.preserved
                return preserved.renumbered
            }
        }
    }

    /// Ends ``keepSaving()``.
    func stop() {
        saver.stop()
    }

    /// The number of the last saved change.
    var lastSaved: UInt64 { saver.lastSaved }

    /// Sets a listener that is called at each save, before waiting calls continue.
    func whenSaved(_ listener: @escaping @Sendable () -> Void) {
        saver.whenSaved { [outboxWakeup] in
            listener()
            outboxWakeup.wake()
        }
    }

    // MARK: What is published

    /// Records the advertisements.
    func advertised(_ advertisements: [Advertisement]) {
        change { $0.preserved.advertisements = advertisements }
    }

    /// Records a handle on the air.
    func assigned(_ onAir: AttributeHandle, to handle: AttributeHandle) {
        change { state in
            let table = state.preserved.database.table
            guard case .serviceDeclaration(let service) = table[handle]?.kind,
                onAir.advanced(by: table.serviceRange(service).upperBound.offset(from: handle)) != nil
            else { return }
            state.preserved.database.startsOnAir[service] = onAir
            // The program has added the service since then.
            if state.wasPublished, state.lastStarts[service] == nil { state.lastStarts[service] = onAir }
        }
    }

    /// Records the state that the backend needs in its next run.
    func backendStateChanged(_ new: String) {
        guard new.utf8.count <= PreservedSchema.maximumBackendState else { return }
        change { $0.preserved.backendState = new }
    }

    /// Records the centrals that have bonded with the peripheral; the oldest is the first.
    func bondsChanged(_ bonds: [DeviceAddress]) {
        change { $0.preserved.bonds = bonds }
    }

    /// Records that the peripheral is on the air.
    func published(on adapter: DeviceAddress?) {
        let hasMoved = state.withLock { state in
            state.preserved.adapter = adapter ?? state.preserved.adapter
            state.wasPublished = true
            let starts = state.preserved.database.startsOnAir
            let hasMoved = state.lastStarts.contains { starts[$0.key] != $0.value }
            state.lastStarts = starts
            if hasMoved {
                let declared = start.declared.table
                state.restored = start.restored(at: state.preserved.database.startsOnAir(in: declared))
            }
            return hasMoved
        }
        change { _ in }
        changeSubscribers { $0.history.published(on: adapter) }
        guard hasMoved else { return }
        logger.warning(
            """
            The services moved to other handles because another program registered first. \
            Restart it after this one, or pin its handles.
            """
        )
        report(.handlesChanged)
    }

    func change(_ change: (inout State) -> Void) {
        state.withLock { state in
            change(&state)
            saver.changed()
        }
        saver.wake()
    }
}

// MARK: - Values

/// Persistent values with the durable updates that they cause.
///
/// A save includes both the values and their updates, or neither.
extension Preservation {
    /// When the updates of a value are sent.
    enum Sending {
        case atOnce
        /// The framework saves the updates first and sends them afterwards.
        case onceSaved
    }

    /// Records a value that the program sets and whose update the program sends separately.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - handle: The characteristic, by its value handle.
    /// - Returns: The number of the change.
    func set(_ value: [UInt8], of handle: AttributeHandle) -> UInt64 {
        note(value, of: handle, [], .atOnce) { _ in true } ?? 0
    }

    /// Records a value that the program sets and retains its update, if all connected subscribers have room.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - handle: The characteristic, by its value handle.
    ///   - update: The update for all present and expected subscribers.
    ///   - sending: When the update is sent.
    /// - Returns: Whether there is room for the update. Without room, the value has not changed.
    func set(
        _ value: [UInt8],
        of handle: AttributeHandle,
        posting update: DurableUpdate,
        sending: Sending
    ) -> Bool {
        let change = note(value, of: handle, [update], sending) {
            $0.hasRoom(of: update.characteristic, limit: update.limit)
        }
        return change != nil
    }

    /// Records a value that a central writes and retains its updates, even without room.
    ///
    /// A central's write does not wait for subscribers.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - handle: The characteristic, by its value handle.
    ///   - updates: The updates for all present and expected subscribers.
    ///   - sending: When the updates are sent.
    /// - Returns: The number of the change.
    func write(
        _ value: [UInt8],
        to handle: AttributeHandle,
        posting updates: [DurableUpdate],
        sending: Sending
    ) -> UInt64 {
        note(value, of: handle, updates, sending) { _ in true } ?? 0
    }

    private func note(
        _ value: [UInt8],
        of handle: AttributeHandle,
        _ updates: [DurableUpdate],
        _ sending: Sending,
        if hasRoom: (State) -> Bool
    ) -> UInt64? {
        let change = state.withLock { state -> UInt64? in
            guard hasRoom(state) else { return nil }
            state.preserved.values[handle] = value
            state.preserved.formerValues[handle] = nil
            let change = saver.changed()
            for update in updates { state.post(update, after: sending == .onceSaved ? change : 0) }
            return change
        }
        saver.wake()
        if !updates.isEmpty { outboxWakeup.wake() }
        return change
    }
}
