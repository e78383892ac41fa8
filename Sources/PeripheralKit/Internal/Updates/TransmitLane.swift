internal import PeripheralCore

/// The values of a characteristic that wait to be sent to one receiver.
struct TransmitLane {
    /// Which lane it is.
    enum Key: Hashable {
        /// To one subscriber, whom the stack can reach alone.
        case central(AttributeHandle, Central.ID)
        /// To all subscribers together.
        case shared(AttributeHandle)

        var characteristic: AttributeHandle {
            switch self {
            case .central(let characteristic, _), .shared(let characteristic): characteristic
            }
        }

        var recipients: Update.Recipients {
            switch self {
            case .central(_, let central): .central(central)
            case .shared: .subscribers
            }
        }
    }

    /// A value that waits.
    struct Entry {
        /// The order in which the values of all lanes came.
        var sequence: UInt64
        var ticket: TransmitQueues.Ticket?
        var value: [UInt8]
        var since: Duration
    }

    let policy: UpdatePolicy
    private(set) var entries: [Entry] = []
    private var bytes = 0
    /// How many have been handed on and have not left.
    private(set) var inFlight = 0
    var counters = UpdateCounters()

    init(_ policy: UpdatePolicy) {
        self.policy = policy
    }

    var first: Entry? { entries.first }
    var isEmpty: Bool { entries.isEmpty }
    var mayHaveMoreInFlight: Bool { inFlight < policy.inFlightLimit }

    /// Whether a value of this size would be taken.
    func hasRoom(for size: Int) -> Bool {
        switch policy.kind {
        case .latest: true
        case .reject(let count, let limit):
            entries.isEmpty || entries.count < count && bytes <= limit - min(size, limit)
        }
    }

    /// Takes a value for which there is room.
    ///
    /// - Returns: What it replaces.
    mutating func append(_ entry: Entry) -> Entry? {
        var replaced: Entry?
        if policy.kind == .latest { replaced = entries.popFirst() }
        if replaced != nil { counters.dropped += 1 }
        bytes += entry.value.count - (replaced?.value.count ?? 0)
        entries.append(entry)
        return replaced
    }

    /// Takes the first out, to be handed on.
    mutating func takeFirst(at now: Duration) -> Entry? {
        guard let entry = entries.popFirst() else { return nil }
        bytes -= entry.value.count
        inFlight += 1
        counters.longestWait = max(counters.longestWait, now - entry.since)
        return entry
    }

    /// Takes note that one has left, or could not be sent.
    mutating func left(_ result: Result<Void, PeripheralError>) {
        inFlight -= 1
        switch result {
        case .success: counters.sent += 1
        case .failure: counters.dropped += 1
        }
    }

    /// Takes out what belongs to a ticket.
    mutating func withdraw(_ ticket: TransmitQueues.Ticket) {
        let kept = entries.filter { $0.ticket != ticket }
        guard kept.count < entries.count else { return }
        counters.dropped += entries.count - kept.count
        entries = kept
        bytes = entries.reduce(0) { $0 + $1.value.count }
    }
}

/// What has become of the values of a lane.
struct UpdateCounters: Hashable {
    var sent = 0
    var dropped = 0
    var refused = 0
    var waits = 0
    var longestWait = Duration.zero
}
