internal import PeripheralCore
internal import PeripheralKit
internal import PeripheralTesting
internal import Synchronization

/// A ``KillTrial`` under way: what is known of the peripheral from one program to the next.
final class KillTrialRun: Sendable {
    /// Where the central has found everything in the first round, and uses it ever since.
    struct Handles {
        var first, second, durable, signal, log: AttributeHandle
    }

    struct State {
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

    let trial: KillTrial
    let twin: KillTrialPeripheral
    let central: any TestCentral
    let witness: KillTrialWitness
    let state = Mutex(State())

    init(_ trial: KillTrial, _ twin: KillTrialPeripheral, _ central: any TestCentral) {
        self.trial = trial
        self.twin = twin
        self.central = central
        witness = KillTrialWitness(of: twin)
    }

    var outcome: KillTrial.Outcome {
        state.withLock { state in
            var outcome = state.outcome
            outcome.witnessedUpdates = witness.count
            outcome.updates = state.entries.count + outcome.witnessedUpdates
            outcome.longestRepeat = Int(max(state.entries.longestRepeat, witness.longestRepeat))
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
        await witness.giveUp()
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
    func judge(_ life: KilledLife, _ round: Int) {
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
        witness.promise(restored.durable)
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
        witness.killed()
        for problem in said.problems { fail(round, problem) }
    }
}
