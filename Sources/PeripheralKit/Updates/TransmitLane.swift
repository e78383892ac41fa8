internal import PeripheralCore

/// The values of a characteristic, and the documents, that wait to be sent to one receiver.
struct TransmitLane {
    /// Where a lane stands among the others.
    struct Place: Hashable {
        let index: Int
    }

    /// The characteristic, by its place among those that can be updated.
    let outlet: Int
    let characteristic: AttributeHandle
    /// The subscriber, whom the stack can reach alone; `nil` for all subscribers together.
    let central: Central.ID?
    /// The same as those whom a value in flight is for; empty for all subscribers together.
    let receivers: [TransmitQueues.Receiver]

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
        /// When it was found waiting, or what comes next of a document; `nil` for what is new.
        var since: Duration?
        /// The size of the value; `nil` for a document, which takes no room: the program has it anyway.
        fileprivate let size: Int?

        init(_ content: Content, sequence: UInt64, for ticket: TransmitQueues.Ticket?) {
            self.sequence = sequence
            self.ticket = ticket
            self.content = content
            size = if case .value(let value) = content { value.count } else { nil }
        }
    }

    /// What goes next.
    struct Departure {
        var value: [UInt8]
        var ticket: TransmitQueues.Ticket?
        /// How much of a document this is; `nil` for a value.
        var documentBytes: Int?
        /// How it is confirmed; `nil` when it is not.
        var confirmation: Confirmation?
    }

    /// A chunk that is confirmed: the first of its document, or one of the others.
    enum Confirmation {
        case first
        case later
    }

    let policy: UpdatePolicy
    private(set) var entries: [Entry] = []
    private var (count, bytes) = (0, 0)
    /// Whether something in it was not found waiting so far.
    private var hasNew = false
    /// How many have been handed on and have not left.
    private(set) var inFlight = 0
    /// Whether what is in flight is a chunk that is to be confirmed, which is then the only one.
    private var isConfirming = false
    var counters = UpdateCounters()

    init(outlet: Int, of characteristic: AttributeHandle, to central: Central.ID?, _ policy: UpdatePolicy) {
        self.outlet = outlet
        self.characteristic = characteristic
        self.central = central
        receivers = central.map { [$0] } ?? []
        self.policy = policy
    }

    var recipients: Update.Recipients { central.map { .central($0) } ?? .subscribers }

    /// Whether it has been used at all.
    var isUsed: Bool { !isEmpty || inFlight > 0 || counters != UpdateCounters() }

    /// When what is first came, among the values of all lanes.
    var firstSequence: UInt64? { entries.isEmpty ? nil : entries[0].sequence }
    var isEmpty: Bool { entries.isEmpty }
    /// Whether the next value is a part of a document, as long as its receivers can take it.
    var beginsWithDocument: Bool { !entries.isEmpty && entries[0].size == nil }
    /// Whether the next value is a part of a document whose parts are confirmed.
    var beginsWithConfirmed: Bool {
        if beginsWithDocument, case .chunks(let cursor) = entries[0].content {
            cursor.isConfirmed
        } else {
            false
        }
    }
    /// Whether the next value is the first of a document that has a mark.
    var beginsWithNewDocument: Bool {
        if beginsWithDocument, case .chunks(let cursor) = entries[0].content {
            !cursor.hasBegun && cursor.hasMarker
        } else {
            false
        }
    }
    var mayHaveMoreInFlight: Bool {
        guard inFlight > 0 else { return true }
        return inFlight < policy.inFlightLimit && !isConfirming && !beginsWithConfirmed
    }

    /// Whether a value of this size would be taken.
    func hasRoom(for size: Int) -> Bool {
        switch policy.kind {
        case .latest: true
        case .reject(let count, let limit):
            self.count == 0 || self.count < count && bytes <= limit - min(size, limit)
        }
    }

    /// Whether there is room for a value of this size, and for more: who waits is not woken up for each place.
    func hasAmpleRoom(for size: Int) -> Bool {
        switch policy.kind {
        case .latest: true
        case .reject(let count, _): self.count <= count / 2 && hasRoom(for: size)
        }
    }

    /// Takes a value for which there is room, or a document.
    ///
    /// - Returns: What it replaces.
    mutating func append(_ entry: consuming Entry) -> Entry? {
        var replaced: Entry?
        if policy.kind == .latest, entry.size != nil, !entries.isEmpty, entries[entries.count - 1].size != nil
        {
            replaced = entries.removeLast()
            counters.dropped += 1
        }
        account(for: entry, 1)
        hasNew = hasNew || entry.since == nil
        entries.append(entry)
        if let replaced { account(for: replaced, -1) }
        return replaced
    }

    /// Takes note that what is in it waits.
    mutating func waits(since now: () -> Duration) {
        guard hasNew else { return }
        hasNew = false
        let now = now()
        // The rest of a document is new again, and first.
        if !entries.isEmpty, entries[0].since == nil { entries[0].since = now }
        for index in entries.indices.reversed() {
            guard entries[index].since == nil else { return }
            entries[index].since = now
        }
    }

    /// Takes the first value out, or the next chunk of the first document, which is not longer than the limit, to be
    /// handed on.
    mutating func takeFirst(at now: () -> Duration, limit: Int) -> Departure? {
        guard !entries.isEmpty else { return nil }
        let departure: Departure
        let since = entries[0].since
        if entries[0].size == nil, case .chunks(var cursor) = entries[0].content {
            isConfirming = cursor.isConfirmed
            let confirmation: Confirmation? = isConfirming ? (cursor.hasBegun ? .later : .first) : nil
            guard let chunk = cursor.next(limit: limit) else { return nil }
            departure = Departure(
                value: chunk.value,
                ticket: entries[0].ticket,
                documentBytes: chunk.size,
                confirmation: confirmation
            )
            if cursor.isAtEnd {
                entries.removeFirst()
            } else {
                entries[0].content = .chunks(cursor)
                (entries[0].since, hasNew) = (nil, true)
            }
        } else {
            let entry = entries.removeFirst()
            guard case .value(let value) = entry.content else { return nil }
            departure = Departure(value: value, ticket: entry.ticket)
            count -= 1
            bytes -= value.count
        }
        if let since { counters.count(wait: now() - since) }
        inFlight += 1
        return departure
    }

    private mutating func account(for entry: Entry, _ sign: Int) {
        guard let size = entry.size else { return }
        count += sign
        bytes += sign * size
    }

    /// Takes note that one has left, or could not be sent.
    mutating func left(_ result: Result<Void, PeripheralError>, isKnown: Bool) {
        inFlight -= 1
        isConfirming = false
        counters.count(result, isKnown: isKnown)
    }

    /// The counters, when what waits in the lane is dropped with it.
    var finalCounters: UpdateCounters {
        var counters = counters
        counters.dropped += count
        return counters
    }

    /// Takes out everything.
    mutating func removeAll() {
        (entries, count, bytes) = ([], 0, 0)
    }

    /// Takes out the document of a ticket, and leaves a mark in its place for who has a part of it: what comes behind it is
    /// not to be taken for the rest.
    mutating func cutShort(_ ticket: TransmitQueues.Ticket) {
        entries = entries.compactMap { entry in
            guard entry.ticket == ticket, case .chunks(let cursor) = entry.content else { return entry }
            return cursor.cutShort.map { Entry(.chunks($0), sequence: entry.sequence, for: nil) }
        }
    }

    /// Has a document that has not begun begin with the mark.
    mutating func markRest(of ticket: TransmitQueues.Ticket) {
        for index in entries.indices where entries[index].ticket == ticket {
            guard case .chunks(var cursor) = entries[index].content else { continue }
            cursor.marksRest = cursor.hasMarker
            entries[index].content = .chunks(cursor)
        }
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
