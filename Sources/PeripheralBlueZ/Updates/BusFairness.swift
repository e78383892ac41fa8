/// Ensures that bluetoothd reads the bus while updates are sent through sockets.
///
/// bluetoothd reads the bus only if none of its sockets has data to read, because it dispatches the bus as
/// idle work (BlueZ, `gdbus/mainloop.c`). If bluetoothd reads updates more slowly than the links transmit
/// updates, a document would prevent bluetoothd from reading any answer. Requests of centrals would then time
/// out. Therefore the backend regularly requests an answer of bluetoothd. If the answer is missing after more
/// than a few packets, the backend sends nothing through the sockets. The sockets then become empty.
struct BusFairness {
    /// The number of packets after which an answer of bluetoothd may be requested.
    ///
    /// After the same number of further packets, the backend waits for the answer. Even a slow bluetoothd
    /// handles these packets in less than a second.
    static let packets = 128
    /// The shortest time between an answer and the next request for an answer.
    static let interval = Duration.milliseconds(250)

    /// The number of packets since the last request for an answer, or since the last possible request.
    private var count = 0
    private var isAsked = false
    private var lastAnswer: ContinuousClock.Instant?

    /// Whether the sockets must not send until bluetoothd answers.
    var isAwaited: Bool { isAsked && count >= Self.packets }

    /// Records that packets were sent through sockets.
    ///
    /// - Returns: Whether an answer of bluetoothd must be requested now.
    mutating func sent(_ count: Int, at now: @autoclosure () -> ContinuousClock.Instant) -> Bool {
        self.count += count
        guard !isAsked, self.count >= Self.packets else { return false }
        self.count = 0
        if let lastAnswer, lastAnswer.duration(to: now()) < Self.interval { return false }
        isAsked = true
        return true
    }

    /// Records the answer of bluetoothd.
    mutating func answered(at now: ContinuousClock.Instant) {
        (isAsked, count, lastAnswer) = (false, 0, now)
    }
}
