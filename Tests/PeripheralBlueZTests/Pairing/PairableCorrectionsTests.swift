import Testing

@testable import PeripheralBlueZ

/// How often a run makes its adapter pairable again, or not pairable.
struct PairableCorrectionsTests {
    @Test(arguments: [true, false]) func aChangeIsUndoneAndTheWantedValueIsLeftAlone(wanted: Bool) {
        var corrections = PairableCorrections()
        #expect(corrections.changed(to: wanted, wanted: wanted) == nil)
        #expect(corrections.changed(to: !wanted, wanted: wanted) == .set(wanted))
        #expect(corrections.changed(to: wanted, wanted: wanted) == nil)
        #expect(corrections.periodEnded(wanted: wanted) == nil)
    }

    /// bluetoothd makes the adapter not pairable each second, because its `PairableTimeout` is 1.
    @Test func theShortestTimeoutIsUndoneEachTime() {
        var corrections = PairableCorrections()
        for _ in 0..<10 {
            for _ in 0..<10 {
                #expect(corrections.changed(to: false, wanted: true) == .set(true))
                #expect(corrections.changed(to: true, wanted: true) == nil)
            }
            #expect(corrections.periodEnded(wanted: true) == nil)
        }
    }

    @Test(arguments: [true, false]) func aRunStopsUntilTheEndOfThePeriod(wanted: Bool) {
        var corrections = PairableCorrections()
        let limit = wanted ? 12 : 3
        for _ in 0..<2 {
            for _ in 1..<limit {
                #expect(corrections.changed(to: !wanted, wanted: wanted) == .set(wanted))
            }
            #expect(corrections.changed(to: !wanted, wanted: wanted) == .set(wanted))
            #expect(corrections.changed(to: !wanted, wanted: wanted) == .wait)
            // The end counts as the first correction of the next period.
            #expect(corrections.periodEnded(wanted: wanted) == .set(wanted))
            #expect(corrections.periodEnded(wanted: !wanted) == nil)
        }
    }

    /// Each run changes the adapter as soon as the other one has.
    @Test(arguments: [true, false]) func theRunThatLetsCentralsPairPrevails(isPairableAtFirst: Bool) {
        var (allowing, refusing) = (PairableCorrections(), PairableCorrections())
        var (isPairable, changes) = (isPairableAtFirst, 0)
        for _ in 0..<3 {
            while changes < 100 {
                // Both runs learn of each change.
                let actions = [
                    allowing.changed(to: isPairable, wanted: true),
                    refusing.changed(to: isPairable, wanted: false),
                ]
                guard actions.contains(.set(!isPairable)) else { break }
                isPairable.toggle()
                changes += 1
            }
            #expect(isPairable)
            #expect(allowing.periodEnded(wanted: true) == nil)
            if refusing.periodEnded(wanted: false) == .set(false) { isPairable = false }
        }
        #expect(changes < 30)
    }
}
