internal import PeripheralCore
internal import PeripheralKit

/// Measures how fast the links are, where only the total of what all carry is known.
///
/// No central is given more until everything is sent. Then one central after the other is given more, and no
/// other meanwhile, which shows how long its link takes. From then on, packets are attributed to each central
/// by its speed.
struct SpeedTrial {
    typealias Entry = CompletionEstimate.Entry
    typealias Amount = CompletionEstimate.Amount

    /// Fewer updates show nothing: the controller may take as many at once.
    static let leastGiven = 12
    private static let leastSent = 3
    /// How long the trial waits for a central that has nothing to send.
    private static let patience = Duration.milliseconds(50)
    /// By this time, a slow link is known well enough.
    private static let longestPart = Duration.milliseconds(500)

    /// The measurement of one central.
    private struct Part {
        var central: Central.ID
        var start: ContinuousClock.Instant
        var given = 0
        var sent = 0
        /// When the controller was full: packets that it took at once show nothing of the link.
        var fullAt: ContinuousClock.Instant?
        var sentBefore = 0

        /// In values per second.
        func speed(at time: ContinuousClock.Instant) -> Double {
            let count = sent - sentBefore
            guard let fullAt, count >= SpeedTrial.leastSent else {
                return Double(sent) / max((time - start) / .seconds(1), 0.001)
            }
            return Double(count) / max((time - fullAt) / .seconds(1), 0.001)
        }
    }

    /// The updates that are not known to be sent, in their order.
    private(set) var entries: [Entry] = []
    /// The updates that are sent, but do not count as completed yet.
    private(set) var held: [Entry] = []
    private var waiting: [Central.ID]
    private var part: Part?
    private var surplus: Amount
    let start: ContinuousClock.Instant
    /// The speeds that were found, in values per second.
    private(set) var speeds: [Central.ID: Double] = [:]
    private(set) var isOver = false

    /// Begins, with the centrals in the order in which they are measured.
    init(of entries: [Entry], _ centrals: [Central.ID], surplus: Amount, at start: ContinuousClock.Instant) {
        (self.entries, waiting, self.surplus, self.start) = (entries, centrals, surplus, start)
    }

    mutating func add(_ entry: Entry) {
        entries.append(entry)
        if entry.delivery.central == part?.central { part?.given += 1 }
    }

    mutating func withdraw(_ update: BackendUpdate.ID) {
        entries.removeAll { $0.delivery.update == update }
        held.removeAll { $0.delivery.update == update }
    }

    mutating func settled(_ central: Central.ID) {
        entries.removeAll { $0.delivery.central == central }
        held.removeAll { $0.delivery.central == central }
        waiting.removeAll { $0 == central }
        if part?.central == central { part = nil }
        speeds[central] = nil
    }

    /// Takes the updates that are sent, but do not count as completed yet.
    mutating func takeHeld() -> [Entry] {
        defer { held = [] }
        return held
    }

    /// Takes the first missing update of each central.
    mutating func takeOldest() -> [Entry] {
        CompletionEstimate.takeOldest(of: &entries)
    }

    /// Records what was sent.
    ///
    /// - Returns: The updates that count as completed.
    mutating func sent(_ amount: Amount, at time: ContinuousClock.Instant) -> [Entry] {
        surplus = surplus + amount
        // Updates of a slow link that remain from its part come after those given to the next central.
        while let index = part.flatMap(ownIndex) ?? entries.indices.first,
            surplus.covers(entries[index].size)
        {
            surplus.take(entries[index].size)
            if entries[index].delivery.central == part?.central { part?.sent += 1 }
            held.append(entries.remove(at: index))
        }
        guard var part else { return entries.isEmpty ? next(at: time) : [] }
        if part.fullAt == nil, part.given >= Self.leastGiven {
            (part.fullAt, part.sentBefore) = (time, part.sent)
            self.part = part
        }
        let elapsed = time - part.start
        let isIdle = part.given < Self.leastGiven && elapsed >= Self.patience
        let isDone = part.given >= Self.leastGiven && ownIndex(part) == nil
        let isKnown = elapsed >= Self.longestPart && part.sent - part.sentBefore >= Self.leastSent
        guard isIdle || isDone || isKnown else { return [] }
        if !isIdle, part.sent > 0 { speeds[part.central] = part.speed(at: time) }
        return next(at: time)
    }

    private func ownIndex(_ part: Part) -> Int? {
        entries.firstIndex { $0.delivery.central == part.central }
    }

    private mutating func next(at time: ContinuousClock.Instant) -> [Entry] {
        guard let central = waiting.first else {
            isOver = true
            defer { held = [] }
            return held
        }
        waiting.removeFirst()
        surplus = Amount()
        part = Part(central: central, start: time)
        defer { held.removeAll { $0.delivery.central == central } }
        return held.filter { $0.delivery.central == central }
    }
}
