internal import PeripheralCore
internal import PeripheralKit
private import Synchronization

/// A ``KillTrial`` under way: what is known of the peripheral from one program to the next.
final class KillTrialRun: Sendable {
    /// Where the central has found everything in the first round, and uses it ever since.
    private struct Handles {
        var first, second, durable, signal, log: AttributeHandle
    }

    private struct State {
        var history = KillTrialHistory()
        var entries = KillTrialEntries()
        /// What the entry waits for that the program was told to send: all changes up to this are preserved with it.
        var coverage: [UInt32: Int] = [:]
        var number: UInt32 = 0
        var lastKill = ContinuousClock.now
        /// Whether the program that was killed last had been used for long.
        var wasUsedLong = false
        /// Whether what the program has restored is judged.
        var isJudged = false
        var isConnected = false
        var isPaired = false
        var handles: Handles?
        var outcome = KillTrial.Outcome()
    }

    /// How long a round may take.
    private static let limit = Duration.seconds(60)

    private let trial: KillTrial
    private let twin: KillTrialPeripheral
    private let central: any TestCentral
    private let state = Mutex(State())

    init(_ trial: KillTrial, _ twin: KillTrialPeripheral, _ central: any TestCentral) {
        self.trial = trial
        self.twin = twin
        self.central = central
    }

    var outcome: KillTrial.Outcome {
        state.withLock { state in
            var outcome = state.outcome
            outcome.updates = state.entries.count
            outcome.longestRepeat = Int(state.entries.longestRepeat)
            return outcome
        }
    }

    /// Has one program live and die.
    func round(_ number: Int, _ plan: KillTrialPlan, in program: any KillableProgram) async throws {
        let life = KilledLife(of: program)
        let result = await withTaskCancellationHandler {
            await withTaskGroup(of: Void.self) { group -> Result<Void, any Error> in
                group.addTask { await life.listen() }
                group.addTask {
                    guard (try? await Task.sleep(for: Self.limit)) != nil else { return }
                    life.kill()
                }
                let result: Result<Void, any Error>
                do {
                    result = .success(try await live(life, plan, number))
                } catch {
                    result = .failure(error)
                }
                life.kill()
                // What it has said in its last moments.
                await group.next()
                group.cancelAll()
                return result
            }
        } onCancel: {
            life.kill()
        }
        judge(life, number)
        settle(life, number, plan)
        try result.get()
    }

    /// Begins anew after a round that has failed.
    func giveUp(_ reason: String, isMended: Bool) async {
        try? await central.disconnect()
        state.withLock { state in
            state.isConnected = false
            state.entries.forget()
            if isMended {
                state.outcome.troubles.append(reason)
            } else {
                state.outcome.failures.append(reason)
            }
        }
    }
}

// MARK: - What the program restores

extension KillTrialRun {
    private func fail(_ round: Int, _ text: String) {
        state.withLock { $0.outcome.failures.append("round \(round), seed \(trial.seed): \(text)") }
    }

    /// Judges what a program has restored, and takes it for the case from now on; once.
    private func judge(_ life: KilledLife, _ round: Int) {
        let said = life.said
        // One that had nothing to restore says nothing.
        guard let restored = said.restored ?? (said.isReady ? KillTrialState() : nil) else { return }
        let limit = trial.interval + trial.tolerance
        let failure = state.withLock { state -> String? in
            guard !state.isJudged else { return nil }
            state.isJudged = true
            defer { state.history = KillTrialHistory(from: restored) }
            do throws(ConformanceFailure) {
                let age = try state.history.age(of: restored, at: state.lastKill)
                state.outcome.ages.append(age)
                if state.wasUsedLong { state.outcome.agesAfterLongUse.append(age) }
                return age <= limit
                    ? nil : "\(restored) was restored, which had ceased to be true for \(age)."
            } catch {
                return error.description
            }
        }
        if let failure { fail(round, failure) }
    }

    /// Takes note of what is known about a program once it is gone.
    private func settle(_ life: KilledLife, _ round: Int, _ plan: KillTrialPlan) {
        let said = life.said
        state.withLock { state in
            state.outcome.kills += 1
            state.lastKill = life.killTime ?? .now
            state.wasUsedLong = plan.isLong
            state.isJudged = false
            for number in said.kept {
                state.entries.kept(number)
                if let step = state.coverage[number] { state.history.preserved(upTo: step) }
            }
            state.coverage = [:]
            state.entries.killed()
        }
        for problem in said.problems { fail(round, problem) }
    }
}

// MARK: - What happens to the program

extension KillTrialRun {
    private func live(_ life: KilledLife, _ plan: KillTrialPlan, _ round: Int) async throws {
        if plan.course == .start { return try await Task.sleep(for: plan.time) }
        try await life.wait { $0.isReady }
        judge(life, round)
        try await meet(life)
        if plan.course == .away {
            try await central.disconnect()
            state.withLock { $0.isConnected = false }
            // What it sends before it knows that nobody is there is lost, killed or not.
            try await life.wait { $0.isAlone }
        }
        try await withThrowingTaskGroup { group in
            group.addTask {
                try await Task.sleep(for: plan.time)
                life.kill()
            }
            if plan.course == .use { group.addTask { try await self.use(life, plan) } }
            if plan.course == .away || plan.hasEntries { group.addTask { try await self.post(life, plan) } }
            do {
                try await group.waitForAll()
            } catch {
                // Nobody waits any more for what it says.
                life.kill()
                throw error
            }
        }
    }

    /// Has the central come back to a program that has begun anew, by the handles that it knows.
    private func meet(_ life: KilledLife) async throws {
        let (isConnected, isPaired, known) = state.withLock { ($0.isConnected, $0.isPaired, $0.handles) }
        if !isConnected { try await central.connect() }
        state.withLock { $0.isConnected = true }
        if !isPaired { try await central.pair(.justWorks) }
        state.withLock { $0.isPaired = true }
        let handles = if let known { known } else { try await locate() }
        let expected = state.withLock { state in
            state.handles = handles
            return state.history.latest
        }
        try expect("first value", try await read(handles.first), is: expected.first)
        try expect("second value", try await read(handles.second), is: expected.second)
        try expect("durable value", try await read(handles.durable), is: expected.durable)
        try await central.subscribe(handles.log, to: .notification)
        try await life.wait { $0.listenings > 0 }
        if expected.isSubscribed {
            try await central.subscribe(handles.signal, to: .notification)
            try await life.wait { $0.subscriptions > 0 }
        }
        try await receiveEntries(life, handles.log)
    }

    private func locate() async throws -> Handles {
        Handles(
            first: try await central.locate(twin.first).valueHandle,
            second: try await central.locate(twin.second).valueHandle,
            durable: try await central.locate(twin.durable).valueHandle,
            signal: try await central.locate(twin.signal).valueHandle,
            log: try await central.locate(twin.log).valueHandle
        )
    }

    private func read(_ handle: AttributeHandle) async throws -> UInt32 {
        try UInt32(gattBytes: await central.read(handle, offset: 0))
    }

    /// Has the program send an entry, and takes all that come before it, and it.
    private func receiveEntries(_ life: KilledLife, _ handle: AttributeHandle) async throws {
        let barrier = order(life)
        try await life.wait { $0.kept.contains(barrier) }
        // What programs before have said to be kept is noted already.
        state.withLock { state in
            for number in life.said.kept { state.entries.kept(number) }
        }
        var last: UInt32 = 0
        while last != barrier {
            last = try UInt32(gattBytes: await central.nextUpdate(of: handle).value)
            try state.withLock { try $0.entries.received(last) }
        }
    }

    private func order(_ life: KilledLife) -> UInt32 {
        let number = state.withLock { state in
            let number = state.entries.order()
            state.coverage[number] = state.history.lastEnded
            return number
        }
        life.order(number)
        return number
    }

    /// Has the program send entries until it is killed.
    private func post(_ life: KilledLife, _ plan: KillTrialPlan) async throws {
        var generator = SplitMix64(state: plan.seed ^ 1)
        while life.killTime == nil {
            let number = order(life)
            do {
                try await life.wait { $0.kept.contains(number) || !$0.problems.isEmpty }
            } catch {
                guard life.killTime == nil else { return }
                throw error
            }
            try await Task.sleep(for: .milliseconds(Int.random(in: 0...20, using: &generator)))
        }
    }

    /// Has the central write, subscribe and unsubscribe until the program is killed.
    private func use(_ life: KilledLife, _ plan: KillTrialPlan) async throws {
        guard let handles = state.withLock({ $0.handles }) else { return }
        var generator = SplitMix64(state: plan.seed)
        while life.killTime == nil {
            do {
                switch Int.random(in: 0..<20, using: &generator) {
                case 0:
                    try await changeSubscription(handles.signal, life)
                case 1...2 where plan.hasDurableWrites:
                    try await write(to: handles.durable, isPreserved: true) { $0.durable = $1 }
                default:
                    try await write(to: handles.first) { $0.first = $1 }
                    let number = state.withLock { $0.number }
                    try await write(number, to: handles.second) { $0.second = $1 }
                }
            } catch {
                guard life.killTime == nil else { return }
                throw error
            }
        }
    }

    /// Writes a number, the next one unless another is given.
    private func write(
        _ given: UInt32? = nil,
        to handle: AttributeHandle,
        isPreserved: Bool = false,
        _ change: (inout KillTrialState, UInt32) -> Void
    ) async throws {
        let number = state.withLock { state in
            if given == nil { state.number += 1 }
            let number = given ?? state.number
            state.history.begin { change(&$0, number) }
            return number
        }
        try await central.write(handle, number.gattBytes)
        end(isPreserved: isPreserved)
    }

    private func changeSubscription(_ handle: AttributeHandle, _ life: KilledLife) async throws {
        let before = life.said
        let subscribes = state.withLock { state in
            state.history.begin { $0.isSubscribed.toggle() }
            return state.history.latest.isSubscribed
        }
        if subscribes {
            try await central.subscribe(handle, to: .notification)
            try await life.wait { $0.subscriptions > before.subscriptions }
        } else {
            try await central.unsubscribe(handle)
            try await life.wait { $0.unsubscriptions > before.unsubscriptions }
        }
        end()
    }

    private func end(isPreserved: Bool = false) {
        let now = ContinuousClock.now
        state.withLock { state in
            state.history.end(at: now, isPreserved: isPreserved)
            state.outcome.changes += 1
        }
    }
}
