/// Estimates how many of the packets that an adapter sends are responses to requests of centrals.
///
/// The kernel does not report that. Each received packet is taken for a request that is responded to, so that
/// too few packets count as updates rather than too many. But a central that uploads sends few requests: it
/// writes without response, or its writes take several packets. More packets are then received than sent,
/// beyond the requests that may be outstanding. For some time after that, only requests count that bluetoothd
/// has asked the program about. bluetoothd answers other requests alone, for example during discovery.
struct Responses {
    /// Each link may have an outstanding request, or one for each bearer.
    private static let mostOutstanding = 8
    private static let patience = Duration.seconds(10)

    /// The number of requests that bluetoothd has asked about, and that are not counted yet.
    var asked = 0
    /// How many more packets were received than sent, as far as no response has followed.
    private var excess = 0
    /// The number of packets that were taken for responses, and may have been none.
    private var doubtful = 0
    private var uploadEnds: ContinuousClock.Instant?

    /// Accepts everything counted so far.
    mutating func forgetDoubts() { doubtful = 0 }

    /// Counts the responses among the packets sent since the last call.
    ///
    /// - Parameters:
    ///   - sent: The number of packets that were sent.
    ///   - received: The number of packets that were received.
    ///   - now: The time.
    /// - Returns: How many of those sent were responses; negative when earlier packets were wrongly counted.
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
