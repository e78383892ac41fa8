/// The central's end of an L2CAP channel, for tests.
///
/// `TestCentral.openChannel(psm:mtu:)` opens a channel. The channel ends with the connection of its central.
public protocol TestChannel: Sendable {
    /// The longest packet that the peripheral receives, in bytes.
    ///
    /// It is the MTU that the peripheral has declared for its direction (Core Specification, Vol 3, Part A,
    /// 4.22).
    var sendMTU: Int { get }

    /// Sends a packet.
    ///
    /// The method returns when the packet has left the central. While the peripheral grants no credits, the
    /// method waits.
    ///
    /// - Parameter packet: From 1 to ``sendMTU`` bytes.
    /// - Throws: `TestCentralError` with the code `invalidArgument` for another length, `timedOut` if the
    ///   peripheral grants no credits within the central's time limit, or `disconnected` if the channel ends.
    func send(_ packet: [UInt8]) async throws

    /// Waits for the next packet of the peripheral.
    ///
    /// - Returns: The packet; `nil` if the channel has ended, and the test has received all its packets.
    /// - Throws: `TestCentralError` with the code `timedOut` if no packet arrives within the central's time
    ///   limit.
    func receive() async throws -> [UInt8]?

    /// Sets whether the central takes packets.
    ///
    /// At first, it does. A central that takes no packets grants no more credits, so the peripheral must stop
    /// after a few packets.
    func setTakesPackets(_ takes: Bool) async throws

    /// Closes the channel, and keeps the connection.
    ///
    /// The method has no effect on a channel that has ended.
    func close() async throws
}

/// The refusal of an L2CAP channel.
public struct ChannelRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// The result in the answer of the peripheral (Core Specification, Vol 3, Part A, 4.23).
    public let code: UInt16

    /// Creates a refusal.
    public init(code: UInt16) {
        self.code = code
    }

    /// No listener has the requested PSM.
    public static let psmNotSupported = ChannelRefusal(code: 0x0002)
    /// The peripheral has no room for another channel.
    public static let noResources = ChannelRefusal(code: 0x0004)
    /// The listener requires a key of a higher level, such as an authenticated one.
    public static let insufficientAuthentication = ChannelRefusal(code: 0x0005)
    /// The listener requires an encrypted link.
    public static let insufficientEncryption = ChannelRefusal(code: 0x0008)

    /// The refusal as text, such as `L2CAP 0x0002 (PSM not supported)`.
    public var description: String {
        let digits = String(code, radix: 16)
        let number = "L2CAP 0x\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits)"
        let name: String? =
            switch self {
            case .psmNotSupported: "PSM not supported"
            case .noResources: "no resources available"
            case .insufficientAuthentication: "insufficient authentication"
            case .insufficientEncryption: "insufficient encryption"
            default: nil
            }
        return name.map { "\(number) (\($0))" } ?? number
    }
}
