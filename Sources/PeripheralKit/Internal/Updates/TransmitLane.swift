internal import PeripheralCore

/// The values of a characteristic, and the documents, that wait to be sent to one receiver.
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

    /// A value that waits, or what of a document does.
    struct Entry {
        enum Content {
            case value([UInt8])
            case chunks(ChunkCursor)
        }

        /// The order in which the values of all lanes came.
        var sequence: UInt64
        var ticket: TransmitQueues.Ticket?
        var content: Content
        var since: Duration

        /// The size of the value; `nil` for a document, which takes no room: the program has it anyway.
        fileprivate var size: Int? {
            if case .value(let value) = content { value.count } else { nil }
        }
    }

    /// What goes next.
    struct Departure {
        var value: [UInt8]
        var ticket: TransmitQueues.Ticket?
        /// How much of a document this is; `nil` for a value.
        var documentBytes: Int?
    }

    let policy: UpdatePolicy
    private(set) var entries: [Entry] = []
    private var (count, bytes) = (0, 0)
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
            self.count == 0 || self.count < count && bytes <= limit - min(size, limit)
        }
    }

    /// Takes a value for which there is room, or a document.
    ///
    /// - Returns: What it replaces.
    mutating func append(_ entry: Entry) -> Entry? {
        var replaced: Entry?
        if policy.kind == .latest, entry.size != nil, entries.last?.size != nil {
            replaced = entries.removeLast()
            counters.dropped += 1
        }
        entries.append(entry)
        account(for: entry, 1)
        if let replaced { account(for: replaced, -1) }
        return replaced
    }

    /// Takes the first value out, or the next chunk of the first document, which is not longer than the limit, to be
    /// handed on.
    mutating func takeFirst(at now: Duration, limit: Int) -> Departure? {
        guard let entry = entries.first else { return nil }
        var departure = Departure(value: [], ticket: entry.ticket)
        switch entry.content {
        case .value(let value):
            departure.value = value
            counters.longestWait = max(counters.longestWait, now - entry.since)
            entries.removeFirst()
            account(for: entry, -1)
        case .chunks(var cursor):
            guard let chunk = cursor.next(limit: limit) else { return nil }
            (departure.value, departure.documentBytes) = (chunk.value, chunk.size)
            if cursor.isAtEnd { entries.removeFirst() } else { entries[0].content = .chunks(cursor) }
        }
        inFlight += 1
        return departure
    }

    private mutating func account(for entry: Entry, _ sign: Int) {
        guard let size = entry.size else { return }
        count += sign
        bytes += sign * size
    }

    /// Takes note that one has left, or could not be sent.
    mutating func left(_ result: Result<Void, PeripheralError>) {
        inFlight -= 1
        counters.count(result)
    }

    /// The counters, when what waits in the lane is dropped with it.
    var finalCounters: UpdateCounters {
        var counters = counters
        counters.dropped += count
        return counters
    }

    /// Takes out what belongs to a ticket.
    mutating func withdraw(_ ticket: TransmitQueues.Ticket) {
        for entry in entries where entry.ticket == ticket && entry.size != nil {
            counters.dropped += 1
            account(for: entry, -1)
        }
        entries.removeAll { $0.ticket == ticket }
    }
}
