/// Sees to it that bluetoothd comes to look at the bus.
///
/// It does that only when none of its sockets has anything to read: its dispatching is idle work (BlueZ, `gdbus/mainloop.c`).
/// Where it is slower than the links, a document would keep it from all answers, and requests of centrals would run into
/// their time limit. So it is asked for an answer now and then, and the sockets are left to run empty while it owes one for
/// more than a few packets.
struct BusFairness {
    /// After so many packets by sockets it is looked whether it is to be asked, and after as many again waited for its answer.
    ///
    /// Less than a second's work for the slowest seen.
    static let packets = 128
    /// It is not asked again before.
    static let interval = Duration.milliseconds(250)

    /// How many have gone since it was looked, or asked.
    private var count = 0
    private var isAsked = false
    private var lastAnswer: ContinuousClock.Instant?

    /// Whether nothing is to go by sockets until it answers.
    var isAwaited: Bool { isAsked && count >= Self.packets }

    /// Takes note that packets have gone by sockets.
    ///
    /// - Returns: Whether it is to be asked now.
    mutating func sent(_ count: Int, at now: @autoclosure () -> ContinuousClock.Instant) -> Bool {
        self.count += count
        guard !isAsked, self.count >= Self.packets else { return false }
        self.count = 0
        if let lastAnswer, lastAnswer.duration(to: now()) < Self.interval { return false }
        isAsked = true
        return true
    }

    /// Takes note of its answer.
    mutating func answered(at now: ContinuousClock.Instant) {
        (isAsked, count, lastAnswer) = (false, 0, now)
    }
}
