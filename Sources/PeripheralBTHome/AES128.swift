/// The block cipher AES with a key of 128 bits (FIPS 197), in the direction of encryption.
///
/// The table lookups take a time that can depend on the key. Only programs on the same machine could measure
/// it.
struct AES128: Sendable {
    static let blockLength = 16

    private static let substitutions = makeSubstitutions()

    /// The 16 bytes for each of the 11 rounds.
    private let roundKeys: [UInt8]

    /// Expands the key (FIPS 197, 5.2).
    init(key: BTHomeKey) {
        var words = stride(from: 0, to: 16, by: 4).map { Array(key.bytes[$0..<$0 + 4]) }
        var roundConstant: UInt8 = 1
        for index in 4..<44 {
            var word = words[index - 1]
            if index % 4 == 0 {
                word = [word[1], word[2], word[3], word[0]].map { Self.substitutions[Int($0)] }
                word[0] ^= roundConstant
                roundConstant = Self.doubled(roundConstant)
            }
            words.append(zip(words[index - 4], word).map { $0 ^ $1 })
        }
        roundKeys = Array(words.joined())
    }

    /// Encrypts 16 bytes (FIPS 197, 5.1).
    func encrypt(_ block: [UInt8]) -> [UInt8] {
        var state = addingRoundKey(0, to: block)
        for round in 1...10 {
            // SubBytes and ShiftRows: the byte in row r comes from r columns further right.
            state = (0..<16).map { Self.substitutions[Int(state[($0 + 4 * ($0 % 4)) % 16])] }
            if round < 10 { state = Self.mixingColumns(of: state) }
            state = addingRoundKey(round, to: state)
        }
        return state
    }

    private func addingRoundKey(_ round: Int, to state: [UInt8]) -> [UInt8] {
        (0..<16).map { state[$0] ^ roundKeys[round * 16 + $0] }
    }

    private static func mixingColumns(of state: [UInt8]) -> [UInt8] {
        (0..<16).map { index in
            let column = index / 4 * 4
            func byte(_ offset: Int) -> UInt8 { state[column + (index + offset) % 4] }
            return doubled(byte(0)) ^ doubled(byte(1)) ^ byte(1) ^ byte(2) ^ byte(3)
        }
    }

    /// Doubles an element of the field of FIPS 197, 4.2.
    private static func doubled(_ byte: UInt8) -> UInt8 {
        byte << 1 ^ (byte & 0x80 == 0 ? 0 : 0x1B)
    }

    /// Computes the S-box of FIPS 197, 5.1.1.
    private static func makeSubstitutions() -> [UInt8] {
        var table = [UInt8](repeating: 0x63, count: 256)
        // The element runs through the powers of 3, and the inverse through those of 1/3.
        var (element, inverse): (UInt8, UInt8) = (1, 1)
        repeat {
            element ^= doubled(element)
            inverse ^= inverse << 1
            inverse ^= inverse << 2
            inverse ^= inverse << 4
            if inverse & 0x80 != 0 { inverse ^= 0x09 }
            let rotations = (1...4).map { inverse << $0 | inverse >> (8 - $0) }
            table[Int(element)] = rotations.reduce(inverse ^ 0x63, ^)
        } while element != 1
        return table
    }
}
