internal import PeripheralCore
internal import PeripheralKit
internal import PeripheralTesting
internal import PeripheralVirtualServer
private import Synchronization

// The course of one program.
extension CrashTestRun {
    func live(_ running: RunningProgram, _ plan: CrashTestPlan, _ round: Int) async throws {
        if plan.course == .start { return try await Task.sleep(for: plan.time) }
        try await running.wait { $0.isReady }
        judge(running, round)
        try await meet(running)
        try await notifyWitness(running, plan)
        if plan.course == .away {
            let before = running.said.departures
            try await central.disconnect()
            state.withLock { $0.isConnected = false }
            // Updates that the program sends before it notices the disconnection are lost, even without a
            // kill.
            try await running.wait { $0.departures > before }
        }
        try await withThrowingTaskGroup { group in
            group.addTask {
                try await Task.sleep(for: plan.time)
                running.kill()
            }
            if plan.course == .use { group.addTask { try await self.use(running, plan) } }
            if plan.course == .away || plan.hasEntries {
                group.addTask { try await self.post(running, plan) }
            }
            do {
                try await group.waitForAll()
            } catch {
                // No task waits for further output.
                running.kill()
                throw error
            }
        }
    }

    /// Connects the central to a restarted program and uses the handles that the central already knows.
    private func meet(_ running: RunningProgram) async throws {
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
        try await running.wait { $0.listenings > 0 }
        if expected.isSubscribed {
            try await central.subscribe(handles.signal, to: .notification)
            try await running.wait { $0.subscriptions > 0 }
        }
        try await receiveEntries(running, handles.log)
    }

    /// Connects the second central and receives all durable values so far.
    private func notifyWitness(_ running: RunningProgram, _ plan: CrashTestPlan) async throws {
        guard let handles = state.withLock({ $0.handles }) else { return }
        try await witness.meet(running, beside: central)
        try await writeDurably(to: handles)
        try await witness.takeAll(upTo: state.withLock { $0.history.latest.durable })
        if !plan.keepsWitness { try await witness.leave(running) }
    }

    private func writeDurably(to handles: Handles) async throws {
        try await write(to: handles.durable, isPreserved: true) { $0.durable = $1 }
        witness.promise(state.withLock { $0.history.latest.durable })
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

    /// Orders an entry, and receives all entries up to this entry.
    private func receiveEntries(_ running: RunningProgram, _ handle: AttributeHandle) async throws {
        let barrier = order(running)
        try await running.wait { $0.kept.contains(barrier) }
        // Entries that previous programs reported as preserved are already recorded.
        state.withLock { state in
            for number in running.said.kept { state.entries.kept(number) }
        }
        var last: UInt32 = 0
        while last != barrier {
            last = try UInt32(gattBytes: await central.nextUpdate(of: handle).value)
            try state.withLock { try $0.entries.received(last) }
        }
    }

    private func order(_ running: RunningProgram) -> UInt32 {
        let number = state.withLock { state in
            let number = state.entries.order()
            state.coverage[number] = state.history.lastEnded
            return number
        }
        running.order(number)
        return number
    }

    /// Orders entries until the program is killed.
    private func post(_ running: RunningProgram, _ plan: CrashTestPlan) async throws {
        var generator = SplitMix64(state: plan.seed ^ 1)
        while running.killTime == nil {
            let number = order(running)
            do {
                try await running.wait { $0.kept.contains(number) || !$0.problems.isEmpty }
            } catch {
                guard running.killTime == nil else { return }
                throw error
            }
            try await Task.sleep(for: .milliseconds(Int.random(in: 0...20, using: &generator)))
        }
    }

    /// Writes, subscribes and unsubscribes until the program is killed.
    private func use(_ running: RunningProgram, _ plan: CrashTestPlan) async throws {
        guard let handles = state.withLock({ $0.handles }) else { return }
        var generator = SplitMix64(state: plan.seed)
        while running.killTime == nil {
            do {
                switch Int.random(in: 0..<20, using: &generator) {
                case 0:
                    try await changeSubscription(handles.signal, running)
                case 1...2 where plan.hasDurableWrites:
                    try await writeDurably(to: handles)
                default:
                    try await write(to: handles.first) { $0.first = $1 }
                    let number = state.withLock { $0.number }
                    try await write(number, to: handles.second) { $0.second = $1 }
                }
            } catch {
                guard running.killTime == nil else { return }
                throw error
            }
        }
    }

    /// Writes the given number, or the next number if none is given.
    private func write(
        _ given: UInt32? = nil,
        to handle: AttributeHandle,
        isPreserved: Bool = false,
        _ change: (inout CrashTestState, UInt32) -> Void
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

    private func changeSubscription(_ handle: AttributeHandle, _ running: RunningProgram) async throws {
        let before = running.said
        let subscribes = state.withLock { state in
            state.history.begin { $0.isSubscribed.toggle() }
            return state.history.latest.isSubscribed
        }
        if subscribes {
            try await central.subscribe(handle, to: .notification)
            try await running.wait { $0.subscriptions > before.subscriptions }
        } else {
            try await central.unsubscribe(handle)
            try await running.wait { $0.unsubscriptions > before.unsubscriptions }
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
