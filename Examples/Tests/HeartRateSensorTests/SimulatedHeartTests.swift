import Testing

@testable import heart_rate_sensor

@Suite(.timeLimit(.minutes(1)))
struct SimulatedHeartTests {
    @Test(arguments: 0..<20 as Range<UInt64>)
    func beatsAsOftenAsItSays(seed: UInt64) {
        var heart = SimulatedHeart(seed: seed)
        var intervals: [Double] = []
        for _ in 0..<300 {
            let beats = heart.beatForOneSecond()
            intervals += beats
            #expect((40...200).contains(heart.rate), "seed \(seed)")
            for interval in beats {
                #expect((0.3...1.4).contains(interval), "seed \(seed)")
                #expect(abs(60 / interval - heart.rate) < heart.rate / 4, "seed \(seed)")
            }
        }
        // The intervals add up to the elapsed time, except for the one that has not ended yet.
        let total = intervals.reduce(0, +)
        #expect(total <= 300 && total > 298, "seed \(seed)")
    }

    @Test func runsAndRests() {
        var heart = SimulatedHeart(seed: 1)
        var rates: [Double] = []
        for _ in 0..<100 {
            _ = heart.beatForOneSecond()
            rates.append(heart.rate)
        }
        #expect(rates[5] < 75)
        #expect(rates[50] > 120)
        #expect(rates[99] < 85)
    }

    @Test func breathesAtRest() {
        var heart = SimulatedHeart(seed: 1)
        let intervals = (0..<5).flatMap { _ in heart.beatForOneSecond() }
        let spread = (intervals.max() ?? 0) - (intervals.min() ?? 0)
        #expect((0.05...0.2).contains(spread))
    }

    @Test func burnsEnergyUntilItIsReset() {
        var heart = SimulatedHeart(seed: 1)
        var last = 0.0
        for _ in 0..<60 {
            _ = heart.beatForOneSecond()
            #expect(heart.energyExpended > last)
            last = heart.energyExpended
        }
        #expect((15...40).contains(last))
        heart.energyExpended = 0
        _ = heart.beatForOneSecond()
        #expect(heart.energyExpended < 1)
    }

    @Test func followsFromItsSeed() {
        var hearts = [SimulatedHeart(seed: 7), SimulatedHeart(seed: 7), SimulatedHeart(seed: 8)]
        let beats = hearts.indices.map { index in (0..<30).map { _ in hearts[index].beatForOneSecond() } }
        #expect(beats[0] == beats[1])
        #expect(beats[0] != beats[2])
    }
}
