/// A stream of packets between a central and the peripheral, in both directions.
///
/// A channel is the sequence of the packets that the central sends:
///
/// ```swift
/// for await packet in channel {
///     try await channel.send(packet)
/// }
/// ```
///
/// Each packet arrives once, whole and in order, as long as the channel exists. A program that stops reading
/// grants no more credits, so the central must wait. A channel ends when the central closes it or
/// disconnects, when the program closes it, when the adapter is lost, or when the run ends. The packets that
/// arrived before the end can still be read, except after ``close()`` and after the end of the run. A channel
/// does not report whether the central has sent everything: a protocol on the channel must contain lengths or
/// an end mark. Empty packets of a central are ignored.
public final class L2CAPChannel: AsyncSequence, Sendable {
    /// A packet.
    public typealias Element = [UInt8]

    /// The central that has opened the channel.
    public let central: Central
    /// The PSM of the listener.
    public let psm: UInt16
    /// The longest packet that the peripheral receives, in bytes.
    public let receiveMTU: Int
    /// The longest packet that the central receives, in bytes, at least 23.
    public let sendMTU: Int

    private let channel: any BackendChannel
    private let readers = Turns()
    private let writers = Turns()
    private let input: Wakeup
    private let output: Wakeup

    init(
        _ channel: any BackendChannel,
        of central: Central,
        psm: UInt16,
        input: Wakeup,
        output: Wakeup
    ) {
        self.channel = channel
        self.central = central
        self.psm = psm
        receiveMTU = channel.receiveMTU
        sendMTU = channel.sendMTU
        self.input = input
        self.output = output
    }

    /// Sends a packet, and waits for room if necessary.
    ///
    /// The function returns when the Bluetooth stack has taken the packet. The packet leaves after all
    /// earlier packets, as soon as the central grants credits. Concurrent calls send in the order in which
    /// they were made. If the calling task is cancelled while the function waits, the packet is not sent.
    ///
    /// - Parameter packet: From 1 to ``sendMTU`` bytes.
    /// - Throws: `CancellationError`, or ``PeripheralError`` with one of these codes:
    ///   - ``PeripheralError/Code/invalidValue`` if the packet is empty or longer than ``sendMTU``, or if the
    ///     Bluetooth stack has no room for it, even when nothing waits. A central that takes its packets in
    ///     very small pieces can cause this.
    ///   - ``PeripheralError/Code/disconnected`` if the channel has ended.
    public func send(_ packet: [UInt8]) async throws {
        try checkLength(of: packet)
        try await writers.enter()
        defer { writers.leave() }
        while try !transmit(packet) {
            await output.waitUnlessCancelled()
            try Task.checkCancellation()
        }
    }

    /// Sends a packet if there is room, without waiting.
    ///
    /// - Parameter packet: From 1 to ``sendMTU`` bytes.
    /// - Returns: Whether the packet is sent. If not, there is no room, or a call of ``send(_:)`` waits.
    /// - Throws: The same errors as ``send(_:)``, except `CancellationError`.
    public func trySend(_ packet: [UInt8]) throws -> Bool {
        try checkLength(of: packet)
        guard writers.tryEnter() else { return false }
        defer { writers.leave() }
        return try transmit(packet)
    }

    private func transmit(_ packet: [UInt8]) throws(PeripheralError) -> Bool {
        switch channel.send(packet) {
        case .sent: return true
        case .full: return false
        case .ended: throw .channelEnded
        case .tooLong:
            throw PeripheralError(
                code: .invalidValue,
                message: "The Bluetooth stack has no room for a packet of \(packet.count) bytes, because the "
                    + "central takes it in very small pieces. Send shorter packets."
            )
        }
    }

    private func checkLength(of packet: [UInt8]) throws(PeripheralError) {
        guard (1...sendMTU).contains(packet.count) else {
            throw PeripheralError(
                code: .invalidValue,
                message: "A packet of \(packet.count) bytes cannot be sent. The central receives 1 to "
                    + "\(sendMTU) bytes."
            )
        }
    }

    /// Closes the channel.
    ///
    /// Reading ends at once, and ``send(_:)`` throws an error. The packets that were sent before still leave
    /// as long as the central grants credits. If nothing leaves for 5 seconds, or if the run ends, the
    /// channel closes without the rest. A further call has no effect.
    public func close() {
        channel.close()
        wake()
    }

    /// Ends all waiting calls.
    func end() {
        channel.abort()
        wake()
    }

    /// Lets the waiting calls look at the channel again.
    func wake() {
        input.wake()
        output.wake()
    }

    /// Returns an iterator over the packets.
    ///
    /// Several iterators share the packets: each packet goes to one of them.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(channel: self) }

    /// Iterates over the packets that arrive.
    public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
        fileprivate let channel: L2CAPChannel

        /// Waits for the next packet.
        ///
        /// - Returns: The packet; `nil` if the channel has ended, or if the calling task is cancelled.
        public func next(isolation actor: isolated (any Actor)?) async -> [UInt8]? {
            await channel.receive()
        }

        /// Waits for the next packet.
        ///
        /// - Returns: The packet; `nil` if the channel has ended, or if the calling task is cancelled.
        public func next() async -> [UInt8]? { await channel.receive() }
    }

    private func receive() async -> [UInt8]? {
        guard (try? await readers.enter()) != nil else { return nil }
        defer { readers.leave() }
        while !Task.isCancelled {
            switch channel.receive() {
            // A central can send empty packets, which carry nothing.
            case .packet([]): continue
            case .packet(let packet): return packet
            case .ended: return nil
            case .empty: await input.waitUnlessCancelled()
            }
        }
        return nil
    }
}

extension PeripheralError {
    fileprivate static let channelEnded = PeripheralError(
        code: .disconnected,
        message: "The channel has ended."
    )
}
