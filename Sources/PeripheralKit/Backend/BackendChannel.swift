public import PeripheralCore

/// A listener for L2CAP channels, without its handler.
///
/// The index of the listener in ``BackendPublication/listeners`` identifies it.
public struct BackendListener: Hashable, Sendable {
    /// The requested number.
    public let psm: L2CAPListener.PSM
    /// The security that the link of a central must have.
    ///
    /// The stack refuses a channel over a link with less security.
    public let security: SecurityLevel
    /// The longest packet to receive, in bytes.
    public let mtu: Int
    /// The memory for packets of one channel that the host has not received yet, in bytes.
    public let bufferedBytes: Int

    init(_ listener: L2CAPListener) {
        psm = listener.requestedPSM
        security = listener.security
        mtu = listener.mtu
        bufferedBytes = listener.limits.bufferedBytes
    }
}

/// An L2CAP channel of a backend, which a central has opened.
///
/// The backend passes a channel to ``PeripheralHost/open(_:of:through:)``. The host calls the
/// functions from any thread, but ``receive()`` and ``send(_:)`` from one thread at a time each. All
/// functions return at once.
public protocol BackendChannel: Sendable {
    /// The longest packet that the stack receives, in bytes.
    var receiveMTU: Int { get }
    /// The longest packet that the central receives, in bytes.
    var sendMTU: Int { get }

    /// Begins to use the channel.
    ///
    /// The central may have closed the channel already. The packets that have arrived can still be received.
    ///
    /// - Parameter report: Called from any thread with each event of the channel. The closure returns at
    ///   once.
    func begin(_ report: @escaping @Sendable (BackendChannelEvent) -> Void)

    /// Takes the next packet.
    func receive() -> BackendChannelInput

    /// Sends a packet, which has from 1 to ``sendMTU`` bytes.
    func send(_ packet: [UInt8]) -> BackendChannelOutput

    /// Closes the channel after the sent packets have left.
    ///
    /// From now on, ``receive()`` and ``send(_:)`` report the end. If nothing leaves for 5 seconds, the
    /// backend closes the channel without the rest. The event ``BackendChannelEvent/closed`` follows.
    func close()

    /// Closes the channel at once.
    ///
    /// After ``begin(_:)``, the event ``BackendChannelEvent/closed`` follows.
    func abort()
}

/// An event of a ``BackendChannel`` that the host uses.
public enum BackendChannelEvent: Hashable, Sendable {
    /// The answer of ``BackendChannel/receive()`` can be different from ``BackendChannelInput/empty`` now.
    case input
    /// The answer of ``BackendChannel/send(_:)`` can be different from ``BackendChannelOutput/full`` now.
    case output
    /// The host has closed the channel, and the stack has released everything that belonged to it.
    ///
    /// The event occurs once. No event follows it.
    case closed
}

/// The answer of ``BackendChannel/receive()``.
public enum BackendChannelInput: Hashable, Sendable {
    /// The next packet.
    case packet([UInt8])
    /// No packet has arrived yet.
    case empty
    /// The channel has ended, and all packets were received.
    case ended
}

/// The answer of ``BackendChannel/send(_:)``.
public enum BackendChannelOutput: Hashable, Sendable {
    /// The stack has taken the packet.
    case sent
    /// There is no room for the packet now.
    case full
    /// The stack never has room for the packet.
    case tooLong
    /// The channel has ended.
    case ended
}
