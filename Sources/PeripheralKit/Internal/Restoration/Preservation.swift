internal import Logging
internal import PeripheralCore
private import Synchronization

/// Preserves the state of a running peripheral: takes note of what changes, and has it saved.
///
/// Nothing here waits for the store but ``keepSaving()`` and those who ask for it.
final class Preservation: Sendable {
    fileprivate struct State {
        /// Why there is no record.
        var failure: RestorationError?
        var isStopping = false
        var preserved: PreservedState
        var history: SubscriberHistory
        var outbox: Outbox
        var schedule: SavingSchedule
        /// What is in the store.
        var saved: PreservedState?
        var restored: RestoredState?
        /// Where the services stood when the peripheral was last on the air.
        var lastStarts: [Int: AttributeHandle]
        /// The session is over: who has subscribed stays as it was.
        var isFrozen = false
        /// Nothing is saved any more.
        var isClosed = false
        var waiters: [(change: UInt64, continuation: CheckedContinuation<RestorationError?, Never>)] = []
        var statistics = RestorationStatistics()
        /// The kinds of failure that the log was told of.
        var told: Set<RestorationError.Code> = []
        /// Hears of each save.
        var listener: (@Sendable () -> Void)?
    }

    private let start: RestorationStart
    private let stopwatch: Stopwatch
    private let wallClock: @Sendable () -> Int64
    private let logger: Logger
    private let tell: @Sendable (SessionEvent) -> Void
    private let wakeup = Wakeup()
    /// Wakes up whoever sends what is in the outbox.
    let outboxWakeup = Wakeup()
    /// Tells that there may be room for updates.
    private let outboxChanges = EventBroadcast<Void>(capacity: 1)
    private let state: Mutex<State>

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
        stopwatch = Stopwatch(clock)
        self.wallClock = wallClock
        self.logger = logger
        self.tell = tell
        state = Mutex(
            State(
                failure: start.failure,
                preserved: start.state,
                history: start.history,
                outbox: start.outbox,
                schedule: SavingSchedule(interval: interval),
                saved: start.loaded,
                restored: start.restored,
                lastStarts: start.state.database.startsOnAir
            )
        )
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

    var statistics: RestorationStatistics { state.withLock { $0.statistics } }

    /// Returns when all is saved that has changed so far.
    func flush() async throws(RestorationError) {
        if let failure = state.withLock(\.failure) { throw failure }
        let error = await withCheckedContinuation { continuation in
            let answer: RestorationError?? = state.withLock { state in
                let change = state.schedule.demand()
                guard state.schedule.saved < change else { return .some(nil) }
                guard !state.isClosed else { return .ended }
                state.waiters.append((change, continuation))
                return nil
            }
            if let answer { continuation.resume(returning: answer) } else { wakeup.wake() }
        }
        if let error { throw error }
    }

    // MARK: Saving

    /// Saves until ``stop()``, and then what is left.
    func keepSaving() async {
        guard let record = await record() else { return }
        while true {
            let now = stopwatch.elapsed()
            switch state.withLock({ $0.schedule.next(at: now) }) {
            case .save: await save(to: record)
            case .wait(let due): await wakeup.wait(atMost: due - now, by: stopwatch)
            case .rest: await wakeup.wait()
            case .finish:
                end()
                return await record.close()
            }
        }
    }

    /// Has ``keepSaving()`` end.
    func stop() {
        state.withLock { state in
            state.isStopping = true
            state.schedule.stop()
        }
        wakeup.wake()
    }

    /// The record; one that could not be opened is tried again, after 1, 2, 4, … 60 seconds, and at the end.
    private func record() async -> (any RestorationRecord)? {
        if let record = start.record { return record }
        guard let reopen = start.reopen else { return nil }
        var delay = Duration.seconds(1)
        while true {
            let due = stopwatch.elapsed() + delay
            while !state.withLock(\.isStopping), stopwatch.elapsed() < due {
                await wakeup.wait(atMost: due - stopwatch.elapsed(), by: stopwatch)
            }
            let isLast = state.withLock(\.isStopping)
            do throws(RestorationError) {
                let record = try await reopen()
                guard await isEmptied(record) else { return nil }
                state.withLock { $0.failure = nil }
                change { _ in }
                return record
            } catch {
                state.withLock { state in
                    state.failure = error
                    state.statistics.failures += 1
                }
                tell(.restorationFailed(RestorationProblem(.open, error)))
            }
            guard !isLast else { return nil }
            delay = min(delay * 2, .seconds(60))
        }
    }

    /// Gets what is there out of the way: the peripheral has begun without it.
    private func isEmptied(_ record: any RestorationRecord) async -> Bool {
        var found: RestorationError?
        do throws(RestorationError) {
            guard try await record.load() != nil else { return true }
            found = RestorationError(
                code: .unreadable,
                message: "What is preserved could not be opened when the peripheral began."
            )
        } catch {
            found = error
        }
        do throws(RestorationError) {
            let place = try await record.setAside()
            if let found { tell(.restorationFailed(RestorationProblem(.restore, found, setAside: place))) }
            return true
        } catch {
            state.withLock { $0.failure = error }
            tell(.restorationFailed(RestorationProblem(.open, error)))
            await record.close()
            return false
        }
    }

    private func save(to record: any RestorationRecord) async {
        let (preserved, saved) = state.withLock { state in
            var preserved = state.preserved
            preserved.subscribers = state.history.preserved
            preserved.updates = state.outbox.preserved
            return (preserved, state.saved)
        }
        guard preserved != saved else { return noteSaved(preserved, byWriting: false) }
        do throws(RestorationError) {
            try await record.save(preserved.document)
            noteSaved(preserved, byWriting: true)
        } catch {
            note(error)
        }
    }

    private func noteSaved(_ preserved: PreservedState, byWriting wasWritten: Bool) {
        let (waiters, listener) = state.withLock { state in
            state.schedule.succeeded()
            state.saved = preserved
            if wasWritten { state.statistics.saves += 1 }
            return (state.takeWaiters(upTo: state.schedule.saved), state.listener)
        }
        listener?()
        outboxWakeup.wake()
        for waiter in waiters { waiter.resume(returning: nil) }
    }

    private func note(_ error: RestorationError) {
        let now = stopwatch.elapsed()
        let (waiters, isNew) = state.withLock { state in
            let attempted = state.schedule.failed(at: now)
            state.statistics.failures += 1
            // What has failed may have been written all the same.
            state.saved = nil
            return (state.takeWaiters(upTo: attempted), state.told.insert(error.code).inserted)
        }
        if isNew {
            logger.warning(
                "The state of the peripheral cannot be preserved; it is tried again.",
                metadata: ["peripheral.reason": "\(error)"]
            )
        }
        tell(.restorationFailed(RestorationProblem(.save, error)))
        for waiter in waiters { waiter.resume(returning: error) }
    }

    private func end() {
        let waiters = state.withLock { state in
            state.isClosed = true
            return state.takeWaiters(upTo: .max)
        }
        for waiter in waiters { waiter.resume(returning: .ended) }
    }
}

// MARK: - What changes

extension Preservation {
    /// Takes note of a value, and of the durable updates that it brings about: whatever save has the one has the others.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - handle: The characteristic, by its value handle.
    ///   - updates: What is kept for all who have subscribed, or are expected.
    ///   - isHeld: Whether nothing of it is sent before it is saved.
    ///   - isUrgent: Whether updates are kept also where there is no room with somebody who is there.
    /// - Returns: The number of the change; `nil` when there is no room, and nothing has changed.
    func set(
        _ value: [UInt8],
        of handle: AttributeHandle,
        posting updates: [DurableUpdate] = [],
        isHeld: Bool = false,
        isUrgent: Bool = true
    ) -> UInt64? {
        let now = stopwatch.elapsed()
        let change = state.withLock { state -> UInt64? in
            guard isUrgent || updates.allSatisfy({ state.hasRoom(of: $0.characteristic, limit: $0.limit) })
            else { return nil }
            state.preserved.values[handle] = value
            state.preserved.formerValues[handle] = nil
            state.schedule.changed(at: now)
            let change = state.schedule.latest
            for update in updates { state.post(update, after: isHeld ? change : 0) }
            return change
        }
        wakeup.wake()
        if !updates.isEmpty { outboxWakeup.wake() }
        return change
    }

    /// The number of the last change that is saved.
    var lastSaved: UInt64 { state.withLock { $0.schedule.saved } }

    /// Has somebody hear of each save, before those who wait for it.
    func whenSaved(_ listener: @escaping @Sendable () -> Void) {
        state.withLock { $0.listener = listener }
    }

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

    /// Takes note of a subscription.
    ///
    /// - Returns: Whom the program is to be told of.
    func subscribed(_ subscription: Subscription) -> [RestoredSubscriber] {
        guard let central = subscription.central else { return [] }
        let time = wallClock()
        return noteSubscribers {
            $0.history.subscribed(central, to: subscription.handle, kind: subscription.kind, at: time)
        }
    }

    func unsubscribed(_ central: DeviceAddress?, from characteristic: AttributeHandle) {
        changeSubscribers { $0.history.unsubscribed(central, from: characteristic) }
    }

    func disconnected(_ central: DeviceAddress) {
        changeSubscribers { $0.history.disconnected(central) }
    }

    func suspended() {
        changeSubscribers { $0.history.suspended() }
    }

    /// Takes note of what is known of a central, which may have shown its lasting address.
    ///
    /// - Parameters:
    ///   - central: The central.
    ///   - former: The address by which it was known.
    /// - Returns: Whom the program is to be told of.
    func connected(_ central: Central, formerly former: DeviceAddress?) -> [RestoredSubscriber] {
        noteSubscribers { state in
            var told: [RestoredSubscriber] = []
            if let former, former != central.address {
                told = state.history.moved(from: former, to: central)
                state.outbox.move(from: former, to: central.address)
            }
            return told + state.history.changed(central)
        }
    }

    /// Takes note of who is bonded.
    func bonded(_ centrals: [Central]) {
        let addresses = Set(centrals.map(\.address))
        changeSubscribers { $0.history.bonded(addresses) }
    }

    /// Keeps an update for all who have subscribed to a durable characteristic, or are expected.
    ///
    /// Who is away gets the newest: nobody knows whether a central comes back, and what is kept for it holds up nobody else.
    ///
    /// - Parameters:
    ///   - value: The new value.
    ///   - characteristic: The characteristic, by its value handle.
    ///   - limit: How many updates of the characteristic may wait for a subscriber.
    /// - Returns: Whether it is kept.
    func post(_ value: [UInt8], of characteristic: AttributeHandle, limit: Int) -> Bool {
        let now = stopwatch.elapsed()
        let isPosted = state.withLock { state in
            guard state.hasRoom(of: characteristic, limit: limit) else { return false }
            let update = DurableUpdate(characteristic: characteristic, value: value, limit: limit)
            if state.post(update) { state.schedule.changed(at: now) }
            return true
        }
        if isPosted { wakeup.wake() }
        return isPosted
    }

    /// Returns when there is room for an update with all who have subscribed and are there.
    ///
    /// - Throws: ``PeripheralError`` with the code `stopped`, or `CancellationError`.
    func untilRoom(of characteristic: AttributeHandle, limit: Int) async throws {
        var changes = outboxChanges.listen().makeAsyncIterator()
        while !state.withLock({ $0.hasRoom(of: characteristic, limit: limit) }) {
            guard await changes.next() != nil else {
                try Task.checkCancellation()
                throw PeripheralError.stopped
            }
        }
    }

    /// Whose updates wait to be sent.
    var waitingUpdates: Set<Outbox.Key> { state.withLock { $0.outbox.keys } }

    /// The first update but for these; `nil` also while that has to be saved before.
    func nextUpdate(for key: Outbox.Key, besides numbers: [UInt64]) -> Outbox.Entry? {
        state.withLock { state in
            guard let entry = state.outbox.next(for: key, besides: numbers),
                entry.change <= state.schedule.saved
            else { return nil }
            return entry
        }
    }

    /// Takes note that updates have been sent.
    func sent(_ updates: [UInt64]) {
        guard !updates.isEmpty else { return }
        change { state in
            for update in updates { state.outbox.remove(update) }
        }
        outboxChanges.send(())
    }

    /// Keeps who has subscribed as it is, since the session is over.
    func freezeSubscribers() {
        state.withLock { $0.isFrozen = true }
        outboxChanges.finish()
    }

    private func changeSubscribers(_ change: (inout State) -> [RestoredSubscriber]) {
        for subscriber in noteSubscribers(change) { tell(.restoredSubscriberChanged(subscriber)) }
    }

    private func noteSubscribers(
        _ change: (inout State) -> [RestoredSubscriber]
    ) -> [RestoredSubscriber] {
        let now = stopwatch.elapsed()
        let maximum = PreservedSchema.maximumSubscribers
        let (told, isOverflowing) = state.withLock { state -> ([RestoredSubscriber], Bool) in
            guard !state.isFrozen else { return ([], false) }
            let former = state.history.preserved
            let told = change(&state)
            let present = state.history.preserved
            guard present != former else { return (told, false) }
            state.outbox.keep(
                Set(present.map { Outbox.Key(characteristic: $0.characteristic, address: $0.address) })
            )
            state.schedule.changed(at: now)
            return (told, former.count <= maximum && maximum < present.count)
        }
        if isOverflowing {
            let error = RestorationError(
                code: .tooLarge,
                message: "There are more than \(maximum) subscriptions; "
                    + "those that came last are not preserved."
            )
            tell(.restorationFailed(RestorationProblem(.save, error)))
        }
        wakeup.wake()
        // Nobody waits for who is gone.
        outboxChanges.send(())
        return told
    }

    private func change(_ change: (inout State) -> Void) {
        let now = stopwatch.elapsed()
        state.withLock { state in
            change(&state)
            state.schedule.changed(at: now)
        }
        wakeup.wake()
    }
}

extension Preservation.State {
    fileprivate func hasRoom(of characteristic: AttributeHandle, limit: Int) -> Bool {
        outbox.hasRoom(of: characteristic, for: history.liveAddresses(of: characteristic), limit: limit)
    }

    /// Keeps an update for all who have subscribed or are expected, and tells whether there are any.
    @discardableResult
    fileprivate mutating func post(_ update: DurableUpdate, after change: UInt64 = 0) -> Bool {
        let addresses = history.addresses(of: update.characteristic)
        statistics.droppedUpdates += outbox.add(
            update.value,
            of: update.characteristic,
            for: addresses,
            limit: update.limit,
            sparing: history.liveAddresses(of: update.characteristic),
            after: change
        )
        return !addresses.isEmpty
    }

    fileprivate mutating func takeWaiters(
        upTo change: UInt64
    ) -> [CheckedContinuation<RestorationError?, Never>] {
        let taken = waiters.filter { $0.change <= change }.map(\.continuation)
        waiters.removeAll { $0.change <= change }
        return taken
    }
}

extension RestorationError {
    fileprivate static let ended = RestorationError(code: .closed, message: "The peripheral has ended.")
}
