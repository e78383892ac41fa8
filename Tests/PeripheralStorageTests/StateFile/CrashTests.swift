import PeripheralKit
import PeripheralStorage
import TestSupport
import Testing

@testable import struct PeripheralStorage.StateFileName

@Suite(.timeLimit(.minutes(5)))
struct CrashTests {
    private let directory: TemporaryDirectory
    private let identifier = "com.example.lamp"

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// A writer is killed at any instant: what it said to be saved is there, or the one that it was about to
    /// save.
    @Test(arguments: [51 as UInt64]) func killedWriterLeavesAWholeState(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        var preserved = 0
        for round in 0..<50 {
            let child = try ChildProcess("save", in: directory, identifier)
            let awaited = Int.random(in: 0...10, using: &generator)
            var saved = preserved
            for _ in 0..<awaited {
                saved = try #require(child.line().flatMap { Int($0) })
            }
            spin(rounds: Int.random(in: 0...200_000, using: &generator))
            child.kill()
            // What it said in its last moments.
            saved = child.lines().last.flatMap { Int($0) } ?? saved

            let record = try await directory.store.open(identifier)
            let restorationState = try await record.load()
            await record.close()
            guard let restorationState else {
                #expect(saved == 0, "round \(round), seed \(seed): nothing is there after \(saved)")
                continue
            }
            preserved = try #require(
                number(of: restorationState),
                "round \(round), seed \(seed): a mix: \(restorationState)"
            )
            #expect((saved...saved + 1).contains(preserved), "round \(round), seed \(seed)")
        }
        #expect(preserved > 50)
        let name = StateFileName(identifier: identifier)
        #expect(directory.names == [name.lock, name.state].sorted())
    }

    /// Uses the processor for a time that cannot be predicted.
    private func spin(rounds: Int) {
        var generator = SeededGenerator(seed: 0)
        var sum: UInt64 = 0
        for _ in 0..<rounds { sum &+= generator.next() }
        #expect(sum != 1)
    }

    /// The number of a document of the helper, `nil` when it is not whole.
    private func number(of restorationState: RestorationState) -> Int? {
        guard restorationState.groups.count == 1, let group = restorationState["Document"],
            let number = group["Number"].flatMap({ Int($0) }),
            group.entries.count == 1 + number % 97, group.entries.allSatisfy({ $0.value == "\(number)" })
        else { return nil }
        return number
    }
}
