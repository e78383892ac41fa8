import PeripheralTesting

extension BumbleCentral {
    func openChannel(psm: UInt16, mtu: Int) async throws -> any TestChannel {
        let words = try await ask("channel \(String(psm, radix: 16)) \(mtu)")
        return BumbleChannel(
            central: self,
            number: try number(words.first),
            maximumSendLength: try number(words.last)
        )
    }
}

/// The end of an L2CAP channel on Bumble.
struct BumbleChannel: TestChannel {
    /// How long to wait for a packet, in milliseconds.
    private static let patience = 10_000

    let central: BumbleCentral
    let number: Int
    let maximumSendLength: Int

    func send(_ packet: [UInt8]) async throws {
        _ = try await central.ask("sendpacket \(number) \(central.word(packet))")
    }

    func receive() async throws -> [UInt8]? {
        do {
            guard let word = try await central.ask("nextpacket \(number) \(Self.patience)").first else {
                return nil
            }
            return try central.bytes(word)
        } catch let error as TestCentralError where error.code == .disconnected || error.code == .notConnected
        {
            return nil
        }
    }

    func setTakesPackets(_ takes: Bool) async throws {
        _ = try await central.ask("hold \(number) \(takes ? "no" : "yes")")
    }

    func close() async throws {
        do {
            _ = try await central.ask("closechannel \(number)")
        } catch let error as TestCentralError where error.code == .disconnected || error.code == .notConnected
        {}
    }
}
