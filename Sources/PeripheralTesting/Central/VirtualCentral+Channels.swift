internal import PeripheralKit
public import PeripheralVirtualServer

extension VirtualCentral {
    /// Opens an L2CAP channel to the peripheral.
    ///
    /// - Parameters:
    ///   - psm: The number of the listener.
    ///   - mtu: The longest packet that the central receives, from 23 to 65,535 bytes.
    /// - Returns: The central's end of the channel.
    /// - Throws: `ChannelRefusal`, or `TestCentralError` with the code `notConnected`, `invalidArgument` or
    ///   `disconnected`.
    public func openChannel(psm: UInt16, mtu: Int) async throws -> any TestChannel {
        guard (23...65_535).contains(mtu) else {
            throw TestCentralError(
                code: .invalidArgument,
                message: "No channel has an MTU of \(mtu) bytes. Use an MTU from 23 to 65535 bytes."
            )
        }
        let channel = try server.openChannel(psm: psm, mtu: mtu, on: connection())
        return VirtualCentralChannel(channel, central: self)
    }
}

/// A virtual central's end of a channel.
private struct VirtualCentralChannel: TestChannel {
    private let channel: VirtualChannel
    private let central: VirtualCentral

    init(_ channel: VirtualChannel, central: VirtualCentral) {
        (self.channel, self.central) = (channel, central)
    }

    var sendMTU: Int { channel.receiveMTU }

    func send(_ packet: [UInt8]) async throws {
        guard (1...channel.receiveMTU).contains(packet.count) else {
            throw TestCentralError(
                code: .invalidArgument,
                message: "The peripheral receives packets of 1 to \(channel.receiveMTU) bytes, not of "
                    + "\(packet.count) bytes."
            )
        }
        try await central.withPatience("The peripheral has granted no credits") {
            try await channel.deliver(packet)
        }
    }

    func receive() async throws -> [UInt8]? {
        try await central.withPatience("No packet has arrived") { try await channel.take() }
    }

    func setTakesPackets(_ takes: Bool) { channel.setTakesPackets(takes) }

    func close() { channel.end() }
}
