/// Counter with CBC-MAC (RFC 3610) with AES-128, a nonce of 13 bytes and a check value of 4 bytes.
struct CCM: Sendable {
    static let nonceLength = 13
    static let checkLength = 4

    private let cipher: AES128

    init(key: BTHomeKey) {
        cipher = AES128(key: key)
    }

    /// Encrypts a message of up to 65,535 bytes.
    ///
    /// - Returns: The encrypted message, which is as long as the message, and the check value.
    func seal(_ message: [UInt8], nonce: [UInt8]) -> (message: [UInt8], check: [UInt8]) {
        let sealed = message.indices.map { index in
            let (block, offset) = index.quotientAndRemainder(dividingBy: AES128.blockLength)
            return message[index] ^ keyStream(UInt16(truncatingIfNeeded: block + 1), nonce)[offset]
        }
        let check = zip(authentication(of: message, nonce), keyStream(0, nonce)).map { $0 ^ $1 }
        return (sealed, Array(check.prefix(Self.checkLength)))
    }

    /// The blocks S_i (RFC 3610, 2.3).
    private func keyStream(_ number: UInt16, _ nonce: [UInt8]) -> [UInt8] {
        cipher.encrypt([0x01] + nonce + number.bigEndianBytes)
    }

    /// The last block of the CBC-MAC (RFC 3610, 2.2).
    private func authentication(of message: [UInt8], _ nonce: [UInt8]) -> [UInt8] {
        // The flags 0x09 denote a check value of 4 bytes, and a length of 2 bytes.
        let first = [0x09] + nonce + UInt16(truncatingIfNeeded: message.count).bigEndianBytes
        var state = cipher.encrypt(first)
        for start in stride(from: 0, to: message.count, by: AES128.blockLength) {
            for (offset, byte) in message[start...].prefix(AES128.blockLength).enumerated() {
                state[offset] ^= byte
            }
            state = cipher.encrypt(state)
        }
        return state
    }
}

extension UInt16 {
    fileprivate var bigEndianBytes: [UInt8] { littleEndianBytes.reversed() }
}
