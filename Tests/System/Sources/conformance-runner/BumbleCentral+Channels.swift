import PeripheralTesting

extension BumbleCentral {
    func openChannel(psm: UInt16, mtu: Int) async throws -> any TestChannel {
        guard (23...65_535).contains(mtu) else {
            throw TestCentralError(code: .invalidArgument, message: "\(mtu) is not the MTU of a channel.")
        }
        let process = try connectedProcess()
        let words = try await process.askBeside("channel \(String(psm, radix: 16)) \(mtu)")
        guard words.count == 2 else { throw misunderstood("channel") }
        return BumbleChannel(
            central: self,
            process: process,
            number: words[0],
            sendMTU: try number(words[1])
        )
    }
}

/// The end of a channel in a central's process.
struct BumbleChannel: TestChannel {
    let central: BumbleCentral
    /// The process of the connection: the channel's end outlives the connection.
    let process: BumbleProcess
    let number: Substring
    let sendMTU: Int

    func send(_ packet: [UInt8]) async throws {
        guard 1 <= packet.count, packet.count <= sendMTU else {
            throw TestCentralError(
                code: .invalidArgument,
                message: "A packet has from 1 to \(sendMTU) bytes, not \(packet.count)."
            )
        }
        _ = try await process.askBeside("sendpacket \(number) \(central.patience) \(central.word(packet))")
    }

    func receive() async throws -> [UInt8]? {
        do {
            let words = try await process.askBeside("nextpacket \(number) \(central.patience)")
            return try central.bytes(words.first ?? "-")
        } catch let error as TestCentralError where error.code == .disconnected {
            return nil
        }
    }

    func setTakesPackets(_ takes: Bool) async throws {
        _ = try await process.askBeside("hold \(number) \(takes ? "no" : "yes")")
    }

    func close() async throws {
        _ = try await process.askBeside("closechannel \(number)")
    }

    /// Sends one PDU of any content, whatever the credits.
    func sendFrame(_ frame: [UInt8]) async throws {
        _ = try await process.askBeside("sendframe \(number) \(central.word(frame))")
    }

    /// Sends bytes that follow the pattern of PROTOCOL.md, and returns the time in microseconds.
    ///
    /// - Parameters:
    ///   - size: The number of bytes.
    ///   - length: The length of the packets; 0 for random lengths.
    /// - Returns: The time.
    /// - Throws: `TestCentralError`.
    func sendMany(_ size: Int, length: Int) async throws -> Int {
        try central.number(await process.askBeside("sendmany \(number) \(size) \(length)").first)
    }

    /// Receives bytes that follow the pattern, and returns the time in microseconds.
    func takeMany(_ size: Int) async throws -> Int {
        try central.number(await process.askBeside("takemany \(number) \(size)").first)
    }
}
