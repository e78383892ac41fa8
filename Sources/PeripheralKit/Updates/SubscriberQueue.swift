internal import PeripheralCore

/// The values and documents of a characteristic that wait for one subscriber.
struct SubscriberQueue {
    /// The index of a queue.
    struct ID: Hashable {
        let index: Int
    }

    /// The index of the characteristic among those that can be updated.
    let characteristicIndex: Int
    let characteristic: AttributeHandle
    /// The subscriber that the stack can reach alone; `nil` for all subscribers together.
    let central: Central.ID?
    /// The subscribers of a value in flight; empty for all subscribers together.
    let subscribers: [TransmitQueues.SubscriberID]

    /// A waiting value, or the rest of a document.
    struct Entry {
        enum Content {
            case value([UInt8])
            case chunks(ChunkCursor)
        }

        /// The position in the order of arrival across all queues.
        var sequence: UInt64
        var ticket: TransmitQueues.Ticket?
        var content: Content
        /// The subscribers for which a value is retained; empty for other values.
        let retained: [RetainedDelivery.Part]
        /// Whether a value for one subscriber is sent to all together if the stack cannot reach it alone.
        let fallsBack: Bool
        /// The time at which the value or the next part of a document began to wait; `nil` until that time is
        /// known.
        var since: Duration?
        /// The size of the value; `nil` for a document, which occupies no room because the program holds it
        /// anyway.
        fileprivate let size: Int?

        init(
            _ content: Content,
            sequence: UInt64,
            for ticket: TransmitQueues.Ticket? = nil,
            retainedFor retained: [RetainedDelivery.Part] = [],
            fallsBack: Bool = false
        ) {
            self.sequence = sequence
            self.ticket = ticket
            self.content = content
            self.retained = retained
            self.fallsBack = fallsBack
            size = if case .value(let value) = content { value.count } else { nil }
        }
    }

    /// The next value or chunk to send.
    struct NextUpdate {
        var value: [UInt8]
        var ticket: TransmitQueues.Ticket?
        /// The number of bytes of a document; `nil` for a value.
        var documentBytes: Int?
        var retained: [RetainedDelivery.Part] = []
        /// The position of a value that is sent to all together if the stack cannot reach the subscriber
        /// alone; `nil` for other values.
        var fallback: UInt64?
        /// Whether the central confirms the chunk.
        var isConfirmed = false

        var kind: InFlightUpdate.Kind {
            if let documentBytes { return .chunk(bytes: documentBytes) }
            return fallback.map { .valueWithFallback(value, sequence: $0) } ?? .value
        }
    }

    let policy: UpdatePolicy
    private(set) var entries: [Entry] = []
    private var (count, bytes) = (0, 0)
    /// Whether the time at which a part of the contents began to wait is not known yet.
    private var hasNew = false
    /// The number of values and chunks in flight.
    private(set) var inFlight = 0
    /// Whether a chunk that needs confirmation is in flight.
    ///
    /// Such a chunk is the only chunk in flight.
    private var isConfirming = false
    var counters = UpdateCounters()

    init(
        characteristicIndex: Int,
        of characteristic: AttributeHandle,
        to central: Central.ID?,
        _ policy: UpdatePolicy
    ) {
        self.characteristicIndex = characteristicIndex
        self.characteristic = characteristic
        self.central = central
        subscribers = central.map { [$0] } ?? []
        self.policy = policy
    }

    var recipients: BackendUpdate.Recipients { central.map { .central($0) } ?? .subscribers }

    /// The position of the first entry in the order of arrival across all queues.
    var firstSequence: UInt64? { entries.isEmpty ? nil : entries[0].sequence }
    var isEmpty: Bool { entries.isEmpty }
    /// Returns whether a value up to a position waits.
    func hasValue(upTo lastSequence: UInt64) -> Bool {
        entries.contains { $0.size != nil && $0.sequence <= lastSequence }
    }
    /// Whether the next value is a part of a document.
    var beginsWithDocument: Bool { !entries.isEmpty && entries[0].size == nil }
    /// Whether the next value is a part of a document that is confirmed chunk by chunk.
    var beginsWithConfirmed: Bool {
        if beginsWithDocument, case .chunks(let cursor) = entries[0].content {
            cursor.isConfirmed
        } else {
            false
        }
    }
    /// Whether the next value is a part of a document of which another part was sent.
    var beginsWithBegunDocument: Bool {
        if beginsWithDocument, case .chunks(let cursor) = entries[0].content {
            cursor.hasBegun
        } else {
            false
        }
    }
    /// The position of the first document that is confirmed chunk by chunk.
    var firstConfirmedDocument: UInt64? {
        entries.first { if case .chunks(let cursor) = $0.content { cursor.isConfirmed } else { false } }?
            .sequence
    }
    /// Whether the next value is the first part of a document that has an end marker.
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

    /// Returns whether there is room for a value of this size.
    func hasRoom(for size: Int) -> Bool {
        switch policy.kind {
        case .latest: true
        case .reject(let count, let limit):
            self.count == 0 || self.count < count && bytes <= limit - min(size, limit)
        }
    }

    /// Returns whether there is room for a value of this size and more, so that waiting calls wake up less
    /// often.
    func hasAmpleRoom(for size: Int) -> Bool {
        switch policy.kind {
        case .latest: true
        case .reject(let count, _): self.count <= count / 2 && hasRoom(for: size)
        }
    }

    /// Adds a document, or a value for which there is room.
    ///
    /// - Returns: The entry that the new entry replaces.
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

    /// Adds a value before all later values, although there may be no room.
    mutating func insert(_ entry: consuming Entry) {
        account(for: entry, 1)
        hasNew = true
        let index = entries.firstIndex { $0.sequence > entry.sequence } ?? entries.count
        entries.insert(entry, at: index)
    }

    /// Records that the contents wait.
    mutating func waits(since now: () -> Duration) {
        guard hasNew else { return }
        hasNew = false
        let now = now()
        // The rest of a document is first, and its waiting time is not known yet.
        if !entries.isEmpty, entries[0].since == nil { entries[0].since = now }
        for index in entries.indices.reversed() {
            guard entries[index].since == nil else { return }
            entries[index].since = now
        }
    }

    /// Takes the first value, or the next chunk of the first document, to submit it.
    ///
    /// The chunk is not longer than the limit.
    mutating func takeFirst(at now: () -> Duration, limit: Int) -> NextUpdate? {
        guard !entries.isEmpty else { return nil }
        let next: NextUpdate
        let since = entries[0].since
        if entries[0].size == nil, case .chunks(var cursor) = entries[0].content {
            isConfirming = cursor.isConfirmed
            guard let chunk = cursor.next(limit: limit) else { return nil }
            next = NextUpdate(
                value: chunk.value,
                ticket: entries[0].ticket,
                documentBytes: chunk.size,
                isConfirmed: isConfirming
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
            next = NextUpdate(
                value: value,
                ticket: entry.ticket,
                retained: entry.retained,
                fallback: entry.fallsBack ? entry.sequence : nil
            )
            count -= 1
            bytes -= value.count
        }
        if let since { counters.count(wait: now() - since) }
        inFlight += 1
        return next
    }

    private mutating func account(for entry: Entry, _ sign: Int) {
        guard let size = entry.size else { return }
        count += sign
        bytes += sign * size
    }

    /// Records that a value or chunk has completed, or could not be sent.
    mutating func ended(_ result: Result<Void, PeripheralError>, isKnown: Bool) {
        inFlight -= 1
        isConfirming = false
        counters.count(result, isKnown: isKnown)
    }

    /// Returns whether the value at a position waits.
    func hasValue(at sequence: UInt64) -> Bool {
        entries.contains { $0.size != nil && $0.sequence == sequence }
    }

    /// Removes the value at a position that is sent to all together.
    mutating func withdrawFallback(at sequence: UInt64) {
        for entry in entries where entry.fallsBack && entry.sequence == sequence { account(for: entry, -1) }
        entries.removeAll { $0.fallsBack && $0.sequence == sequence }
    }

    /// Records that a value in flight takes another route.
    mutating func rerouted() {
        inFlight -= 1
    }

    /// The counters with the waiting values as dropped, for a queue that is removed.
    var finalCounters: UpdateCounters {
        var counters = counters
        counters.dropped += count
        return counters
    }

    /// Removes all entries, and counts the values as dropped.
    mutating func dropAll() -> [Entry] {
        defer { removeAll() }
        counters.dropped += count
        return entries
    }

    /// Removes all entries.
    mutating func removeAll() {
        (entries, count, bytes) = ([], 0, 0)
    }

    /// Removes the document of a ticket, but keeps an end marker for a subscriber of a part of the document.
    ///
    /// Without the end marker, the subscriber would mistake the next update for the rest of the document.
    mutating func cutShort(_ ticket: TransmitQueues.Ticket) {
        entries = entries.compactMap { entry in
            guard entry.ticket == ticket, case .chunks(let cursor) = entry.content else { return entry }
            return cursor.cutShort.map { Entry(.chunks($0), sequence: entry.sequence, for: nil) }
        }
    }

    /// Adds an end marker at the start of a document that has not begun.
    mutating func markRest(of ticket: TransmitQueues.Ticket) {
        for index in entries.indices where entries[index].ticket == ticket {
            guard case .chunks(var cursor) = entries[index].content else { continue }
            cursor.marksRest = cursor.hasMarker
            entries[index].content = .chunks(cursor)
        }
    }

    /// Removes the entries of a ticket.
    mutating func withdraw(_ ticket: TransmitQueues.Ticket) {
        for entry in entries where entry.ticket == ticket && entry.size != nil {
            counters.dropped += 1
            account(for: entry, -1)
        }
        entries.removeAll { $0.ticket == ticket }
    }
}
