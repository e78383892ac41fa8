/// Ensures that bluetoothd looks at the bus while updates go by sockets.
///
/// bluetoothd looks at the bus only when none of its sockets has anything to read: its dispatching is idle
/// work (BlueZ, `gdbus/mainloop.c`). Where it is slower than the links, a document would keep it from all
/// answers, and requests of centrals would time out. So it is asked for an answer now and then. While the
/// answer is missing after more than a few packets, nothing is sent by the sockets, so that they run empty.
struct BusFairness {
    /// After this many packets, bluetoothd may be asked; after as many again, its answer is awaited.
    ///
    /// Even a slow bluetoothd handles them in less than a second.
    static let packets = 128
    /// The shortest time between an answer and the next question.
    static let interval = Duration.milliseconds(250)

    /// The number of packets sent since bluetoothd was asked, or could have been.
    private var count = 0
    private var isAsked = false
    private var lastAnswer: ContinuousClock.Instant?

    /// Whether nothing must be sent by sockets until bluetoothd answers.
    var isAwaited: Bool { isAsked && count >= Self.packets }

    /// Records that packets were sent by sockets.
    ///
    /// - Returns: Whether bluetoothd must be asked now.
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
