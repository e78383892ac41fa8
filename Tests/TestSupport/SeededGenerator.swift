/// Random numbers that a seed determines, so that what a test found can be found again (SplitMix64).
package struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    package mutating func bytes(count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var random: UInt64 = 0
        for index in bytes.indices {
            random = index % 8 == 0 ? next() : random >> 8
            bytes[index] = UInt8(truncatingIfNeeded: random)
        }
        return bytes
    }

    /// Bytes of which most are small, as those of dates, flags and lengths are.
    package mutating func plausibleBytes(count: Int) -> [UInt8] {
        var bytes = bytes(count: count)
        var random: UInt64 = 0
        for index in bytes.indices {
            random = index % 32 == 0 ? next() : random >> 2
            if random & 3 != 0 {
                bytes[index] &= 0x0F
            }
        }
        return bytes
    }
}
