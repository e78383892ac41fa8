internal import PeripheralCore
internal import PeripheralKit

/// The trial of how fast the links are, where only the sum of what all carry is known.
///
/// Nobody is given more until all is sent; then one central after the other, and no other meanwhile, which tells how long
/// its link takes for that. From then on, what is sent counts for each as its speed has it.
struct SpeedTrial {
    typealias Entry = CompletionEstimate.Entry
    typealias Amount = CompletionEstimate.Amount

    /// Fewer tell nothing: the controller may take as many at once.
    static let leastGiven = 12
    private static let leastSent = 3
    /// As long is waited for a central that has nothing to send.
    private static let patience = Duration.milliseconds(50)
    /// A slow link is known well enough by then.
    private static let longestPart = Duration.milliseconds(500)

    /// One central that is given more.
    private struct Part {
        var central: Central.ID
        var start: ContinuousClock.Instant
        var given = 0
        var sent = 0
        /// When the controller was full: what it took at once says nothing of the link.
        var fullAt: ContinuousClock.Instant?
        var sentBefore = 0

        /// Values a second.
        func speed(at time: ContinuousClock.Instant) -> Double {
            let count = sent - sentBefore
            guard let fullAt, count >= SpeedTrial.leastSent else {
                return Double(sent) / max((time - start) / .seconds(1), 0.001)
            }
            return Double(count) / max((time - fullAt) / .seconds(1), 0.001)
        }
    }

    /// What is not known to be sent, in its order.
    private(set) var entries: [Entry] = []
    /// What is sent, but does not count as having left yet.
    private(set) var held: [Entry] = []
    private var waiting: [Central.ID]
    private var part: Part?
    private var surplus: Amount
    let start: ContinuousClock.Instant
    /// What was found, in values a second.
    private(set) var speeds: [Central.ID: Double] = [:]
    private(set) var isOver = false

    /// Begins, with those that are to be tried in their order.
    init(of entries: [Entry], _ centrals: [Central.ID], surplus: Amount, at start: ContinuousClock.Instant) {
        (self.entries, waiting, self.surplus, self.start) = (entries, centrals, surplus, start)
    }

    mutating func add(_ entry: Entry) {
        entries.append(entry)
        if entry.delivery.central == part?.central { part?.given += 1 }
    }

    mutating func withdraw(_ update: Update.ID) {
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

    /// Takes what is sent, and does not count as having left yet.
    mutating func takeHeld() -> [Entry] {
        defer { held = [] }
        return held
    }

    /// Takes the first that is missing for each central.
    mutating func takeOldest() -> [Entry] {
        CompletionEstimate.takeOldest(of: &entries)
    }

    /// Takes note of what was sent.
    ///
    /// - Returns: What counts as having left.
    mutating func sent(_ amount: Amount, at time: ContinuousClock.Instant) -> [Entry] {
        surplus = surplus + amount
        // What a slow link has left over from its part is behind what is given to another one.
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
