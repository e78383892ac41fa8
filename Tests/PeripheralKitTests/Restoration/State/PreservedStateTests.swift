import PeripheralCore
import PeripheralKit
import TestSupport
import Testing

/// What is preserved is the same when it is read, and nothing else can be read.
@Suite(.timeLimit(.minutes(1)))
struct PreservedStateTests {
    private static let seeds: [UInt64] = Array(1...8)
    /// A seed for so few documents that they are done in a few seconds.
    private static let fuzzSeeds = Array(1...8 as ClosedRange<UInt64>)
    private static let statesOfSeed = 500

    @Test(arguments: seeds) func anyStateIsTheSameWhenItIsRead(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<100 {
            let state = generator.preservedState()
            let restorationState = state.restorationState
            #expect(try PreservedState(decoding: restorationState) == state, "seed \(seed)")
            #expect(
                try PreservedState(decoding: restorationState).restorationState == restorationState,
                "seed \(seed)"
            )
        }
    }

    /// Every document is refused by a typed error, or is a state that is written as one that is read as the
    /// same.
    @Test(arguments: fuzzSeeds) func anyStateIsReadOrRefused(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var taken = 0
        var count = 0
        while count < Self.statesOfSeed {
            let original = generator.preservedState().restorationState
            for _ in 0..<20 {
                count += 1
                let restorationState = generator.damaged(original)
                guard let state = try? PreservedState(decoding: restorationState) else { continue }
                taken += 1
                if try PreservedState(decoding: state.restorationState) != state {
                    Issue.record("seed \(seed), document \(count) is not read as it was written")
                }
            }
        }
        #expect(taken > 0 && taken < count, "\(taken) of \(count) documents were read, seed \(seed)")
    }

    @Test func unknownKeysAndGroupsAreIgnored() throws {
        var generator = SeededGenerator(seed: 9)
        let state = generator.preservedState()
        var restorationState = state.restorationState
        restorationState["peripheral"]?["colour"] = "red"
        restorationState["peripheral"]?["version"] = "1.7"
        var group = RestorationState.Group("weather")
        group["today"] = "rain"
        restorationState.append(group)
        #expect(try PreservedState(decoding: restorationState) == state)
    }

    @Test(arguments: ["2.0", "17.3"]) func aNewerFormIsLeftAlone(version: String) throws {
        var generator = SeededGenerator(seed: 9)
        var restorationState = generator.preservedState().restorationState
        restorationState["peripheral"]?["version"] = version
        let error = #expect(throws: RestorationError.self) { try PreservedState(decoding: restorationState) }
        #expect(error?.code == .newerVersion)
    }

    @Test(arguments: [nil, "", "1", "one.two", "1.x", "-1.0"]) func aFormThatIsNoneIsDamaged(version: String?)
        throws
    {
        var generator = SeededGenerator(seed: 9)
        var restorationState = generator.preservedState().restorationState
        restorationState["peripheral"]?["version"] = version
        let error = #expect(throws: RestorationError.self) { try PreservedState(decoding: restorationState) }
        #expect(error?.code == .damaged)
    }

    @Test func theFingerprintKnowsTheDatabaseAndNotItsPlace() throws {
        var state = try #require(
            PreservedState.example(services: [ServiceDescription(uuid: 0x180F)], startsOnAir: [0: 0x20])
        )
        let fingerprint = state.database.fingerprint
        state.database.startsOnAir = [:]
        #expect(state.database.fingerprint == fingerprint)
        let other = try #require(PreservedState.example(services: [ServiceDescription(uuid: 0x1810)]))
        #expect(other.database.fingerprint != fingerprint)
    }
}

extension PreservedState {
    static func example(
        services: [ServiceDescription],
        startsOnAir: [Int: AttributeHandle] = [:]
    ) -> PreservedState? {
        (try? AttributeTable(services: services)).map {
            PreservedState(name: "Lamp", database: PreservedDatabase(table: $0, startsOnAir: startsOnAir))
        }
    }
}
