internal import PeripheralKit

/// The updates in the buffers of the controller, and the estimated times at which the controller sends them.
///
/// The counters of the adapter count a packet when the kernel passes it to the controller, not when the
/// controller sends it. On a slow link, a new value would wait behind the packets in all buffers. While
/// updates wait in the host, the buffers are full, and the kernel passes a packet whenever the controller has
/// sent one. This shows the time for a packet. From then on, an update counts as completed only when the
/// controller has probably sent it.
///
/// The assumed time is a little longer than the measured time. Otherwise, the buffers would slowly fill up
/// again. The time is measured again after some packets, because the link may have become faster.
///
/// The buffers are a pure value. They receive the updates and packets that the counters show, and return the
/// completed updates.
struct ControllerBuffers {
    typealias Delivery = CompletionEstimate.Delivery

    /// The time for a packet below which full buffers delay a value only a little.
    ///
    /// The counters are read too rarely to measure shorter times.
    static let shortestPacketTime = Duration.milliseconds(8)
    /// The time for a packet above which the link has stopped.
    ///
    /// It bounds the time by which the buffers can delay a completion.
    static let longestPacketTime = Duration.milliseconds(100)
    /// The number of packets that show the time for a packet.
    private static let packetsToMeasure = 6
    /// The number of packets after which the time is measured again.
    private static let packetsUntilForgotten = 256

    private struct Update {
        var delivery: Delivery
        var departure: ContinuousClock.Instant
    }

    /// The number of packets that the controller has room for.
    private let room: Int
    /// The updates that have probably not been sent, in order.
    private var updates: [Update] = []
    /// The time for a packet; zero if it is short or unknown.
    private var packetTime = Duration.zero
    /// The time at which the controller has probably sent all packets.
    private var lastDeparture: ContinuousClock.Instant
    /// The number of packets since the time for a packet was measured.
    private var packetsSinceMeasured = 0
    /// Whether updates have been waiting in the host since the latest packets.
    private var isHostWaiting = false
    /// The time of the latest packets, or of the latest update if it is later.
    private var lastChange: ContinuousClock.Instant
    /// The time of the first packet since the buffers have been full; `nil` if they are not full.
    private var fullSince: ContinuousClock.Instant?
    /// The number of packets since then.
    private var measuredPackets = 0

    init(room: Int, at now: ContinuousClock.Instant) {
        self.room = room
        (lastDeparture, lastChange) = (now, now)
    }

    var isEmpty: Bool { updates.isEmpty }

    /// Whether the next packets show the time for a packet.
    var isMeasuring: Bool { isHostWaiting }

    /// The time at which the next update is probably sent; `nil` if there is none.
    var nextDeparture: ContinuousClock.Instant? { updates.first?.departure }

    /// Records that bluetoothd receives an update.
    mutating func given(at now: ContinuousClock.Instant) { lastChange = now }

    /// Records what the counters show.
    ///
    /// - Parameters:
    ///   - deliveries: The updates that the kernel has passed to the controller.
    ///   - packets: The number of packets that the kernel has passed to the controller. If there is none, the
    ///     updates count as completed for another reason.
    ///   - waiting: The number of further updates that wait in the host. If only one waits between two
    ///     packets, its packet may have been mistaken for a response.
    ///   - now: The time.
    /// - Returns: The updates that count as completed since the last call.
    mutating func passed(
        _ deliveries: [Delivery],
        packets: Int,
        waiting: Int,
        at now: ContinuousClock.Instant
    ) -> [Delivery] {
        if packets > 0 { measure(packets, at: now) }
        isHostWaiting = packets > 0 ? waiting > 0 : isHostWaiting && waiting > 1
        guard packets > 0, packetTime > .zero else { return takeSent(at: now) + deliveries }
        lastDeparture = min(max(lastDeparture, now) + packetTime * packets, now + packetTime * room)
        for delivery in deliveries { updates.append(Update(delivery: delivery, departure: lastDeparture)) }
        return takeSent(at: now)
    }

    /// Forgets the updates of a central that has disconnected, and the time for a packet, because the link of
    /// the central may have been the slow one.
    mutating func settled(_ central: Central.ID) {
        updates.removeAll { $0.delivery.central == central }
        packetTime = .zero
    }

    private mutating func measure(_ packets: Int, at now: ContinuousClock.Instant) {
        let time = now - lastChange
        lastChange = now
        packetsSinceMeasured += packets
        if packetsSinceMeasured > Self.packetsUntilForgotten { packetTime = .zero }
        // If nothing waited, the buffers were not full. If packets follow each other or an update quickly,
        // the buffers are not full yet, or the link is fast.
        guard isHostWaiting, time / packets >= Self.shortestPacketTime else { return fullSince = nil }
        // The first packet after a pause has waited for a part of the time only.
        guard let start = fullSince else { return (fullSince, measuredPackets) = (now, 0) }
        measuredPackets += packets
        guard measuredPackets >= Self.packetsToMeasure else { return }
        packetTime = min((now - start) / measuredPackets * 9 / 8, Self.longestPacketTime)
        (fullSince, measuredPackets, packetsSinceMeasured) = (now, 0, 0)
        lastDeparture = now + packetTime * room
    }

    /// Removes and returns the updates that have probably been sent.
    ///
    /// The controller has no room for more packets than its buffers, so the oldest updates beyond these have
    /// been sent.
    private mutating func takeSent(at now: ContinuousClock.Instant) -> [Delivery] {
        var sent: [Delivery] = []
        while let first = updates.first, updates.count > room || packetTime == .zero || first.departure <= now
        {
            sent.append(updates.removeFirst().delivery)
        }
        return sent
    }
}
