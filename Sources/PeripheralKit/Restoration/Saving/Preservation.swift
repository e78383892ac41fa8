internal import Logging
internal import PeripheralCore
internal import Synchronization

/// Preserves the state of a running peripheral: takes note of what changes, and has it saved.
final class Preservation: Sendable {
    struct State {
        var preserved: PreservedState
        var history: SubscriberHistory
        var outbox: Outbox
        var restored: RestoredState?
        /// Where the services stood when the peripheral was last on the air.
        var lastStarts: [Int: AttributeHandle]
        /// The session is over: who has subscribed stays as it was.
        var isFrozen = false
        /// How many updates went for newer ones.
        var droppedUpdates = 0
    }

    private let start: RestorationStart
    let wallClock: @Sendable () -> Int64
    private let logger: Logger
    let tell: @Sendable (SessionEvent) -> Void
    let saver: StateSaver
    /// Wakes up whoever sends what is in the outbox.
    let outboxWakeup = Wakeup()
    /// Tells that there may be room for updates.
    let outboxChanges = EventBroadcast<Void>(capacity: 1)
    /// Changes are noted by the saver while this is locked, so that what is saved has all that the saver knows of.
    let state: Mutex<State>

    /// - Parameters:
    ///   - start: What was found.
    ///   - interval: The shortest time between two saves.
    ///   - clock: What measures that time.
    ///   - wallClock: The seconds since 1970.
    ///   - logger: Who is told of what fails.
    ///   - tell: Tells the program.
    init(
        _ start: RestorationStart,
        savingEvery interval: Duration,
        clock: any Clock<Duration>,
        wallClock: @escaping @Sendable () -> Int64,
        logger: Logger,
        tell: @escaping @Sendable (SessionEvent) -> Void
    ) {
        self.start = start
        self.wallClock = wallClock
        self.logger = logger
        self.tell = tell
        saver = StateSaver(
            start,
            savingEvery: interval,
            stopwatch: Stopwatch(clock),
            logger: logger,
            tell: tell
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
        for problem in start.problems { tell(.restorationFailed(problem)) }
    }

    // MARK: For the session

    /// What was restored, as it is now.
    var restored: RestoredState? {
        state.withLock { state in
            var restored = state.restored
            restored?.subscribers = state.history.restored
            return restored
        }
    }

    /// Whether subscribers are missing who may return.
    var isExpectingCentrals: Bool { state.withLock { $0.history.isExpecting } }

    var statistics: RestorationStatistics {
        var statistics = saver.statistics
        statistics.droppedUpdates = state.withLock(\.droppedUpdates)
        return statistics
    }

    /// Returns when all is saved that has changed so far.
    func flush() async throws(RestorationError) {
        try await saver.flush()
    }

    // MARK: Saving

    /// Saves until ``stop()``, and then what is left.
    func keepSaving() async {
        await saver.keepSaving {
            state.withLock { state in
                var preserved = state.preserved
                preserved.subscribers = state.history.preserved
                preserved.updates = state.outbox.preserved
                return preserved
            }
        }
    }

    /// Has ``keepSaving()`` end.
    func stop() {
        saver.stop()
    }

    /// The number of the last change that is saved.
    var lastSaved: UInt64 { saver.lastSaved }

    /// Has somebody hear of each save, before those who wait for it.
    func whenSaved(_ listener: @escaping @Sendable () -> Void) {
        saver.whenSaved { [outboxWakeup] in
            listener()
            outboxWakeup.wake()
        }
    }

    // MARK: What is published

    /// Takes note of what is advertised.
    func advertised(_ advertisements: [Advertisement]) {
        change { $0.preserved.advertisements = advertisements }
    }

    /// Takes note of a handle on the air.
    func assigned(_ onAir: AttributeHandle, to handle: AttributeHandle) {
        let table = start.state.database.table
        guard case .serviceDeclaration(let service) = table[handle]?.kind,
            onAir.advanced(by: table.serviceRange(service).upperBound.offset(from: handle)) != nil
        else { return }
        change { $0.preserved.database.startsOnAir[service] = onAir }
    }

    /// Preserves what the backend needs in its next run.
    func backendStateChanged(_ new: String) {
        guard new.utf8.count <= PreservedSchema.maximumBackendState else { return }
        change { $0.preserved.backendState = new }
    }

    /// Takes note that the peripheral is on the air.
    func published(on adapter: DeviceAddress?) {
        let hasMoved = state.withLock { state in
            state.preserved.adapter = adapter ?? state.preserved.adapter
            let starts = state.preserved.database.startsOnAir
            let hasMoved = state.lastStarts.contains { starts[$0.key] != $0.value }
            state.lastStarts = starts
            if hasMoved { state.restored = start.restored(at: starts) }
            return hasMoved
        }
        change { _ in }
        changeSubscribers { $0.history.published(on: adapter) }
        guard hasMoved else { return }
        logger.warning("The services stand at other handles than before: another program has taken theirs.")
        tell(.handlesChanged)
    }

    func change(_ change: (inout State) -> Void) {
        state.withLock { state in
            change(&state)
            saver.changed()
        }
        saver.wake()
    }
}
