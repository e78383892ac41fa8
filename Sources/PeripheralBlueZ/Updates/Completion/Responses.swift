/// How many of the packets that an adapter sends are responses to what centrals send.
///
/// Nobody tells. A packet that was received is taken for a request that is responded to, which keeps too little from
/// counting as an update. But of a central that uploads, few are: it writes without response, or what takes several packets.
/// More have then been received than sent, beyond what may still be responded to; for a time after that, only those
/// requests count that bluetoothd has asked the program about. It answers others by itself, when it is discovered, for one
/// thing.
struct Responses {
    /// Each link may have a request that is not responded to yet, or one for each bearer.
    private static let mostOutstanding = 8
    private static let patience = Duration.seconds(10)

    /// The requests that bluetoothd has asked about, of which none has been counted.
    var asked = 0
    /// How many more were received than sent, as far as they have come to nothing.
    private var excess = 0
    /// What was taken for responses, and may have been none.
    private var doubtful = 0
    private var uploadEnds: ContinuousClock.Instant?

    /// Takes what was counted so far for what it was.
    mutating func forgetDoubts() { doubtful = 0 }

    /// Counts the responses among what was sent of late.
    ///
    /// - Parameters:
    ///   - sent: The packets that were sent.
    ///   - received: The packets that were received.
    ///   - now: The time.
    /// - Returns: How many of those sent were responses; less than none when some of before were not.
    mutating func count(among sent: Int, to received: Int, at now: ContinuousClock.Instant) -> Int {
        let asked = min(asked, received)
        self.asked -= asked
        excess = max(0, excess + received - sent)
        if excess > Self.mostOutstanding {
            excess = 0
            uploadEnds = now + Self.patience
        }
        guard let uploadEnds, now < uploadEnds else {
            doubtful += received - asked
            return received
        }
        defer { doubtful = 0 }
        return asked - doubtful
    }
}
