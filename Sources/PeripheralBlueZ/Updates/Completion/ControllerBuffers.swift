internal import PeripheralKit

/// The updates in the buffers of the controller, and the estimated times at which the controller sends them.
///
/// The counters of the adapter count a packet when the kernel passes it to the controller, not when the
/// controller sends it. On a slow link, a new value would wait behind the packets in all buffers. If updates
/// wait in the host for a long time, the buffers are full. The kernel then passes a packet whenever the
/// controller has sent one. This shows the time for a packet. From then on, an update counts as completed
/// only when the controller has probably sent it.
///
/// The assumed time is longer than the measured time. Otherwise, the buffers would slowly fill up again. The
/// time is forgotten and measured again from time to time, because the link may have become faster.
///
/// If the controller sends several packets at once, at the beginning of each connection interval, no time is
/// measured. The updates then count as completed when the kernel passes them to the controller.
///
/// The buffers are a pure value. They receive the updates and packets that the counters show, and return the
/// completed updates.
struct ControllerBuffers {
    typealias Delivery = CompletionEstimate.Delivery

    /// The time for a packet below which full buffers delay a value only a little.
    ///
    /// The counters are read too rarely to measure shorter times.
    static let shortestPacketTime = Duration.milliseconds(8)
    /// The time for a packet above which the link makes a pause.
    static let longestPacketTime = Duration.milliseconds(100)
    /// The longest time for which an update is held back.
    static let longestDelay = Duration.milliseconds(800)
    /// The number of packets that show the time for a packet.
    private static let packetsToMeasure = 6
    /// The time after which the time for a packet is forgotten.
    private static let validity = Duration.seconds(10)

    private struct Update {
        var delivery: Delivery
        var completion: ContinuousClock.Instant
    }

    /// The number of packets that the controller has room for.
    private let room: Int
    /// The updates that have probably not been sent, in order.
    private var updates: [Update] = []
    /// The time for a packet; zero if it is short or unknown.
    private var packetTime = Duration.zero
    /// The time at which the time for a packet is forgotten.
    private var expiry: ContinuousClock.Instant
    /// The time at which the controller has probably sent all packets.
    private var lastCompletion: ContinuousClock.Instant
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
        (expiry, lastCompletion, lastChange) = (now, now, now)
    }

    var isEmpty: Bool { updates.isEmpty }

    /// The time at which the next update is probably sent; `nil` if there is none.
    var nextCompletion: ContinuousClock.Instant? { updates.first?.completion }

    /// Returns whether the next packets show the time for a packet.
    func isMeasuring(at now: ContinuousClock.Instant) -> Bool {
        isHostWaiting && packetTime == .zero && now - lastChange < Self.longestPacketTime
    }

    /// Records that bluetoothd receives an update.
    mutating func given(at now: ContinuousClock.Instant) { lastChange = now }

    /// Records that bluetoothd has not received an update.
    mutating func withdraw(_ update: BackendUpdate.ID) {
        updates.removeAll { $0.delivery.update == update }
    }

    /// Records what the counters show.
    ///
    /// - Parameters:
    ///   - deliveries: The updates that the kernel has passed to the controller.
    ///   - packets: The number of packets that the kernel has passed to the controller. If there is none, the
    ///     updates count as completed for another reason.
    ///   - waiting: The numbers of updates that waited in the host before and that wait now. If only one
    ///     waits between two packets, its packet may have been mistaken for a response.
    ///   - now: The time.
    /// - Returns: The updates that count as completed since the last call.
    mutating func passed(
        _ deliveries: [Delivery],
        packets: Int,
        waiting: (before: Int, now: Int),
        at now: ContinuousClock.Instant
    ) -> [Delivery] {
        // All updates may have been withdrawn since the last call.
        if waiting.before == 0 { isHostWaiting = false }
        if packets > 0 { measure(packets, at: now) }
        isHostWaiting = packets > 0 ? waiting.now > 0 : isHostWaiting && waiting.now > 1
        if packetTime > .zero, now >= expiry { packetTime = .zero }
        // Without an update, the packets are responses, which may have been sent long ago.
        guard packets > 0, packetTime > .zero, !deliveries.isEmpty else {
            return takeSent(at: now) + deliveries
        }
        let latest = now + min(packetTime * room, Self.longestDelay)
        lastCompletion = min(max(lastCompletion, now) + packetTime * packets, latest)
        for delivery in deliveries { updates.append(Update(delivery: delivery, completion: lastCompletion)) }
        return takeSent(at: now)
    }

    /// Forgets the updates of a central that has disconnected, and all that was measured, because the link of
    /// the central may have been the slow one.
    mutating func settled(_ central: Central.ID) {
        updates.removeAll { $0.delivery.central == central }
        (packetTime, isHostWaiting, fullSince) = (.zero, false, nil)
    }

    private mutating func measure(_ packets: Int, at now: ContinuousClock.Instant) {
        let time = (now - lastChange) / packets
        lastChange = now
        // If nothing waited, the buffers were not full. If packets follow each other or an update quickly,
        // the buffers are not full yet, or the link is fast.
        guard isHostWaiting, time >= Self.shortestPacketTime, time <= Self.longestPacketTime else {
            return fullSince = nil
        }
        // The first packet after a pause has waited for a part of the time only.
        guard let start = fullSince else { return (fullSince, measuredPackets) = (now, 0) }
        measuredPackets += packets
        guard measuredPackets >= Self.packetsToMeasure else { return }
        let assumed = (now - start) / measuredPackets * 9 / 8
        (fullSince, measuredPackets) = (now, 0)
        // Once the time is known, the counters are read less often. A shorter time may be an error then.
        if assumed > packetTime { (packetTime, expiry) = (assumed, now + Self.validity) }
        lastCompletion = now + min(packetTime * room, Self.longestDelay)
    }

    /// Removes and returns the updates that have probably been sent.
    ///
    /// The controller has no room for more packets than its buffers, so the oldest updates beyond these have
    /// been sent.
    private mutating func takeSent(at now: ContinuousClock.Instant) -> [Delivery] {
        var sent: [Delivery] = []
        while let first = updates.first,
            updates.count > room || packetTime == .zero || first.completion <= now
        {
            sent.append(updates.removeFirst().delivery)
        }
        return sent
    }
}
