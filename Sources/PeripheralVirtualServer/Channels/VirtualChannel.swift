package import PeripheralKit
private import Synchronization

/// An L2CAP channel between a virtual central and a peripheral in the same process.
///
/// The central grants credits for few packets while it takes none, and the peripheral has limited memory, as
/// on a real link.
package final class VirtualChannel: BackendChannel {
    private enum Phase {
        case open
        /// The peripheral has closed the channel, and the central still takes what was sent.
        case closing
        case ended

        var hasEnded: Bool { if case .ended = self { true } else { false } }
    }

    private struct State {
        var phase = Phase.open
        var toPeripheral: [[UInt8]] = []
        var toCentral: [[UInt8]] = []
        var centralTakes = true
        /// Receives the events until the channel is closed.
        var report: (@Sendable (BackendChannelEvent) -> Void)?

        /// Whether the central has granted credits for another packet.
        var hasCredits: Bool {
            toCentral.count < (centralTakes ? VirtualChannel.waitingLimit : VirtualChannel.credits)
        }

        /// The bytes that the peripheral has not received yet.
        var buffered: Int { toPeripheral.reduce(0) { $0 + $1.count } }
    }

    /// The number of packets that a central accepts while it takes none.
    private static let credits = 8
    /// The number of packets that wait for the test until the central grants no more credits.
    private static let waitingLimit = 256
    /// The time that a closing channel waits for the central.
    private static let closingLimit = Duration.seconds(5)

    /// The longest packet that the peripheral receives.
    package let receiveMTU: Int
    /// The longest packet that the central receives.
    package let sendMTU: Int
    private let bufferedBytes: Int
    private let clock: any Clock<Duration>
    private let state = Mutex(State())
    /// Wakes the central that waits for a packet or for room.
    private let input = Wakeup()
    private let output = Wakeup()
    private let senders = Turns()
    private let takers = Turns()

    /// - Parameters:
    ///   - receiveMTU: The longest packet that the peripheral receives.
    ///   - sendMTU: The longest packet that the central receives.
    ///   - bufferedBytes: The memory for packets that the peripheral has not received yet.
    ///   - clock: The clock that measures the limit of 5 seconds for a closing channel.
    package init(receiveMTU: Int, sendMTU: Int, bufferedBytes: Int, clock: any Clock<Duration>) {
        (self.receiveMTU, self.sendMTU, self.bufferedBytes) = (receiveMTU, sendMTU, bufferedBytes)
        self.clock = clock
    }

    // MARK: The peripheral

    package func begin(_ report: @escaping @Sendable (BackendChannelEvent) -> Void) {
        state.withLock { $0.report = report }
    }

    package func receive() -> BackendChannelInput {
        let answer: BackendChannelInput = state.withLock { state in
            switch state.phase {
            case .closing: return .ended
            case .open, .ended:
                guard state.toPeripheral.isEmpty else { return .packet(state.toPeripheral.removeFirst()) }
                guard case .ended = state.phase else { return .empty }
                return .ended
            }
        }
        if case .packet = answer { output.wake() }
        return answer
    }

    package func send(_ packet: [UInt8]) -> BackendChannelOutput {
        let answer: BackendChannelOutput = state.withLock { state in
            guard case .open = state.phase else { return .ended }
            guard state.hasCredits else { return .full }
            state.toCentral.append(packet)
            return .sent
        }
        if answer == .sent { input.wake() }
        return answer
    }

    package func close() {
        let phase: Phase? = state.withLock { state in
            switch state.phase {
            case .open: state.phase = state.centralTakes ? .ended : .closing
            case .ended: break
            case .closing: return nil
            }
            state.toPeripheral = []
            return state.phase
        }
        switch phase {
        case .closing: Task { await self.endLater() }
        case .ended: released()
        case .open, nil: return
        }
        wakeAll()
    }

    /// Ends a closing channel whose central takes nothing.
    private func endLater() async {
        do { try await clock.sleep(for: Self.closingLimit) } catch { return }
        abort()
    }

    package func abort() {
        state.withLock { state in
            state.phase = .ended
            state.toPeripheral = []
        }
        wakeAll()
        released()
    }

    /// Reports once that the channel is closed.
    private func released() {
        let report = state.withLock { state in
            defer { state.report = nil }
            return state.report
        }
        report?(.closed)
    }

    // MARK: The central

    /// Whether the channel has ended for both sides.
    var hasEnded: Bool { state.withLock(\.phase.hasEnded) }

    /// Sends a packet to the peripheral, and waits for room.
    ///
    /// - Throws: ``TestCentralError`` with the code `disconnected`, or `CancellationError`.
    package func deliver(_ packet: [UInt8]) async throws {
        try await senders.enter()
        defer { senders.leave() }
        while true {
            try Task.checkCancellation()
            let isTaken: Bool? = state.withLock { state in
                guard case .open = state.phase else { return nil }
                guard state.toPeripheral.isEmpty || state.buffered + packet.count <= bufferedBytes else {
                    return false
                }
                state.toPeripheral.append(packet)
                return true
            }
            guard let isTaken else { throw TestCentralError.channelEnded }
            if isTaken {
                state.withLock(\.report)?(.input)
                return
            }
            await output.waitUnlessCancelled()
        }
    }

    /// Waits for the next packet from the peripheral.
    ///
    /// - Returns: The packet; `nil` if the channel has ended.
    /// - Throws: `CancellationError`.
    package func take() async throws -> [UInt8]? {
        try await takers.enter()
        defer { takers.leave() }
        while true {
            let (packet, report): ([UInt8]??, (@Sendable (BackendChannelEvent) -> Void)?) =
                state.withLock { state in
                    if state.centralTakes || state.phase.hasEnded, !state.toCentral.isEmpty {
                        let wasFull = !state.hasCredits
                        return (state.toCentral.removeFirst(), wasFull ? state.report : nil)
                    }
                    return (state.phase.hasEnded ? .some(nil) : nil, nil)
                }
            report?(.output)
            if let packet { return packet }
            try Task.checkCancellation()
            await input.waitUnlessCancelled()
        }
    }

    /// Sets whether the central takes packets, and so grants credits.
    package func setTakesPackets(_ takes: Bool) {
        let (isClosed, report) = state.withLock { state in
            state.centralTakes = takes
            guard takes, case .closing = state.phase else { return (false, state.report) }
            state.phase = .ended
            return (true, state.report)
        }
        input.wake()
        report?(.output)
        if isClosed { released() }
    }

    /// Ends the channel for both sides.
    package func end() {
        let wasClosing = state.withLock { state in
            defer { state.phase = .ended }
            if case .closing = state.phase { return true }
            return false
        }
        wakeAll()
        if wasClosing { released() }
    }

    private func wakeAll() {
        input.wake()
        output.wake()
        let report = state.withLock(\.report)
        report?(.input)
        report?(.output)
    }
}

extension TestCentralError {
    package static let channelEnded = TestCentralError(code: .disconnected, message: "The channel has ended.")
}
