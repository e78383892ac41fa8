internal import PeripheralCore
internal import PeripheralKit
internal import PeripheralTesting
internal import Synchronization

/// The state of a running ``CrashTest``, which lasts from one program to the next.
final class CrashTestRun: Sendable {
    /// The handles that the central discovered in the first round and uses from then on.
    struct Handles {
        var first, second, durable, signal, log: AttributeHandle
    }

    struct State {
        var history = CrashTestHistory()
        var entries = CrashTestEntries()
        /// For each ordered entry, the last change that is preserved together with it.
        var coverage: [UInt32: Int] = [:]
        var number: UInt32 = 0
        var lastKill = ContinuousClock.now
        /// Whether the last killed program had been used for a long time.
        var wasUsedLong = false
        /// Whether the restored state has been checked.
        var isJudged = false
        var isConnected = false
        var isPaired = false
        var handles: Handles?
        var outcome = CrashTest.Outcome()
    }

    /// The longest time that a round may take.
    private static let limit = Duration.seconds(60)

    let test: CrashTest
    let twin: CrashTestPeripheral
    let central: any TestCentral
    let witness: CrashTestWitness
    let state = Mutex(State())

    init(_ test: CrashTest, _ twin: CrashTestPeripheral, _ central: any TestCentral) {
        self.test = test
        self.twin = twin
        self.central = central
        witness = CrashTestWitness(of: twin)
    }

    var outcome: CrashTest.Outcome {
        state.withLock { state in
            var outcome = state.outcome
            outcome.witnessedUpdates = witness.count
            outcome.updates = state.entries.count + outcome.witnessedUpdates
            outcome.longestRepeat = Int(max(state.entries.longestRepeat, witness.longestRepeat))
            return outcome
        }
    }

    /// Runs one program until it is killed.
    func round(_ number: Int, _ plan: CrashTestPlan, in program: any KillableProgram) async throws {
        let running = RunningProgram(of: program)
        let result = await withTaskCancellationHandler {
            await withTaskGroup(of: Void.self) { group -> Result<Void, any Error> in
                group.addTask { await running.listen() }
                group.addTask {
                    guard (try? await Task.sleep(for: Self.limit)) != nil else { return }
                    running.kill()
                }
                let result: Result<Void, any Error>
                do {
                    result = .success(try await live(running, plan, number))
                } catch {
                    result = .failure(error)
                }
                running.kill()
                // Handles the last output before the kill.
                await group.next()
                group.cancelAll()
                return result
            }
        } onCancel: {
            running.kill()
        }
        judge(running, number)
        settle(running, number, plan)
        try result.get()
    }

    /// Starts over after a failed round.
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

// MARK: - Restored state

extension CrashTestRun {
    private func fail(_ round: Int, _ text: String) {
        state.withLock { $0.outcome.failures.append("round \(round), seed \(test.seed): \(text)") }
    }

    /// Checks the restored state of a program once, and then uses it as the current state.
    func judge(_ running: RunningProgram, _ round: Int) {
        let said = running.said
        // A program without preserved state reports no restored state.
        guard let restored = said.restored ?? (said.isReady ? CrashTestState() : nil) else { return }
        let limit = test.interval + test.tolerance
        let failure = state.withLock { state -> String? in
            guard !state.isJudged else { return nil }
            state.isJudged = true
            defer { state.history = CrashTestHistory(from: restored) }
            do throws(ConformanceFailure) {
                let age = try state.history.age(of: restored, at: state.lastKill)
                state.outcome.ages.append(age)
                if state.wasUsedLong { state.outcome.agesAfterLongUse.append(age) }
                return age <= limit
                    ? nil : "\(restored) was restored, which had been outdated for \(age)."
            } catch {
                return error.description
            }
        }
        witness.promise(restored.durable)
        if let failure { fail(round, failure) }
    }

    /// Records what is known about a program after its end.
    private func settle(_ running: RunningProgram, _ round: Int, _ plan: CrashTestPlan) {
        let said = running.said
        state.withLock { state in
            state.outcome.kills += 1
            state.lastKill = running.killTime ?? .now
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
