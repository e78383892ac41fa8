/// Estimates how many of the packets that an adapter sends are responses to requests of centrals.
///
/// The kernel does not report this number. The estimate treats each received packet as a request with a
/// response. Therefore it counts too few packets as updates instead of too many. However, a central that
/// uploads sends few requests, because it writes without response, or because its writes use several packets.
/// The adapter then receives more packets than it sends, beyond the requests that may be outstanding. For
/// some time after that, the estimate counts only requests that bluetoothd has forwarded to the program.
/// bluetoothd answers other requests alone, for example during discovery.
struct Responses {
    /// The largest number of outstanding requests of a link, because each bearer may have one request.
    private static let mostOutstanding = 8
    private static let patience = Duration.seconds(10)

    /// The number of requests that bluetoothd has forwarded and that are not counted yet.
    var asked = 0
    /// The surplus of received packets over sent packets, as far as no response has followed.
    private var excess = 0
    /// The number of packets that were counted as responses, but may be other packets.
    private var doubtful = 0
    private var uploadEnds: ContinuousClock.Instant?

    /// Accepts all packets that were counted as responses so far.
    mutating func forgetDoubts() { doubtful = 0 }

    /// Counts the responses among the packets sent since the last call.
    ///
    /// - Parameters:
    ///   - sent: The number of packets that were sent.
    ///   - received: The number of packets that were received.
    ///   - now: The time.
    /// - Returns: The number of responses among the sent packets. The number is negative if earlier packets
    ///   were wrongly counted.
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
