/// The heart of a person who rests, runs for a while, and rests again.
///
/// The rate follows the effort with some delay. Each interval between two beats depends on the rate, on
/// breathing, and a little on chance. At rest, a heart beats faster during inhalation. The same seed always
/// gives the same beats.
struct SimulatedHeart {
    /// The mean rate of the last beats, in beats per minute.
    var rate: Double {
        60 * Double(lastIntervals.count) / lastIntervals.reduce(0, +)
    }

    /// The energy expended in kilojoules.
    var energyExpended = 0.0

    /// The durations of rest, run and the whole cycle, in seconds.
    ///
    /// A cycle begins with rest.
    private static let rest = 5
    private static let run = 45
    private static let cycle = 100

    private var random: RandomNumbers
    private var time = 0.0
    private var nextBeat: Double
    private var lastIntervals: [Double]
    /// The rate without breathing and chance.
    private var pace = 64.0
    private var wander = 0.0

    init(seed: UInt64) {
        random = RandomNumbers(state: seed)
        lastIntervals = [60 / pace]
        nextBeat = 60 / pace
    }

    /// Advances by one second.
    ///
    /// - Returns: The intervals that ended with a beat in this second, each in seconds.
    mutating func beatForOneSecond() -> [Double] {
        time += 1
        followEffort()
        var intervals: [Double] = []
        var interval = lastIntervals.last ?? 60 / pace
        while nextBeat <= time {
            intervals.append(interval)
            interval = makeInterval(after: nextBeat)
            nextBeat += interval
            lastIntervals.append(interval)
        }
        lastIntervals = lastIntervals.suffix(6)
        return intervals
    }

    /// Adjusts the pace for one second of the current effort, and adds the energy of that second.
    private mutating func followEffort() {
        let phase = Int(time) % Self.cycle
        let isRunning = phase >= Self.rest && phase < Self.rest + Self.run
        pace += isRunning ? (138 - pace) / 14 : (64 - pace) / 20
        wander += Double.random(in: -1.2...1.2, using: &random) - wander / 8
        // 80 watts at rest, 600 and more at a run.
        energyExpended += 0.08 + max(0, pace - 64) * 0.008
    }

    private mutating func makeInterval(after beat: Double) -> Double {
        let breathingDepth = 0.05 * max(0.2, (140 - pace) / 76)
        let breathing = breathingDepth * Self.breath(at: beat)
        let chance = Double.random(in: -0.01...0.01, using: &random)
        return 60 / (pace + wander) * (1 + breathing + chance)
    }

    /// The state of a breath, which takes four seconds: from 0 to 1, to -1 and back.
    ///
    /// It has the form of two parabolas, which need no math library in the memory of firmware.
    private static func breath(at time: Double) -> Double {
        let phase = time / 4 - Double(Int(time / 4))
        return phase < 0.5 ? 16 * phase * (0.5 - phase) : -16 * (phase - 0.5) * (1 - phase)
    }
}

/// Random numbers that are determined by their seed (SplitMix64).
private struct RandomNumbers: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
