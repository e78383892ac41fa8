import PeripheralKit
import PeripheralTesting
import Synchronization
import TestSupport
import Testing

/// Centrals come, subscribe, unsubscribe, leave and stop confirming, and the link stops, while several tasks
/// update, wait for room, and send documents: all by the public API, in the backend in memory.
@Suite(.timeLimit(.minutes(1)))
struct ConcurrentUpdatesTests {
    /// What has not left when a central subscribes again is for the earlier subscription.
    @Test func whatComesLateIsForNoLaterSubscription() async throws {
        let run = ConcurrentRun(seed: 0)
        let (memory, gate) = (InMemoryBackend(as: .specification), UpdateGate())
        let backend = InterceptedBackend(memory, submit: gate.submit)
        try await run.peripheral.run(on: backend, logger: .silent) { session in
            let central = memory.makeCentral(of: run.peripheral)
            try await central.connect()
            try await central.subscribe(to: run.value)
            gate.close()
            #expect(try session.update(run.value, [1]))
            try await central.unsubscribe(from: run.value)
            try await central.subscribe(to: run.value)
            #expect(try session.update(run.value, [2]))
            gate.open()
            #expect(try await central.nextUpdate(of: run.value) == [2])
        }
    }

    /// Each central receives its updates once, in order and whole, whatever happens.
    ///
    /// No call waits forever.
    @Test(arguments: 0..<500 as Range<UInt64>)
    func whateverHappensNothingIsLostOrMixed(seed: UInt64) async throws {
        let run = ConcurrentRun(seed: seed)
        let (memory, gate) = (InMemoryBackend(as: .specification), UpdateGate())
        let backend = InterceptedBackend(memory, submit: gate.submit)
        try await run.peripheral.run(on: backend, logger: .silent) { session in
            let centrals = (0..<3 as Range<UInt8>).map { number in
                ConcurrentCentral(number, of: run, at: memory.makeCentral(of: run.peripheral))
            }
            let known = centrals.map(\.known)
            let senders = (0..<2 as Range<UInt8>).map { ConcurrentSender($0, of: run, session, to: known) }
            try await withThrowingTaskGroup { group in
                for sender in senders { group.addTask { try await sender.sendAnything() } }
                group.addTask {
                    var random = SeededGenerator(seed: ~seed)
                    for _ in 0..<20 {
                        if Bool.random(using: &random) { gate.close() } else { gate.open() }
                        for _ in 0..<Int.random(in: 0..<20, using: &random) { await Task.yield() }
                    }
                    gate.open()
                }
                for central in centrals { group.addTask { try await central.doAnything() } }
                try await group.waitForAll()
            }
            for sender in senders { try await sender.sendLast() }
            for central in centrals { central.finish() }
            for central in centrals { central.check() }
        }
        #expect(run.documents.withLock(\.count) > 0, "seed \(seed)")
    }
}
