internal import PeripheralCore
internal import PeripheralKit

/// Measures the speed of each link, if only the total of all links is known.
///
/// The trial first waits until all updates are sent. Then one central after the other receives updates, while
/// the other centrals receive none. The duration shows the speed of the central's link. From then on, packets
/// are attributed to each central by its speed.
struct SpeedTrial {
    typealias Entry = CompletionEstimate.Entry
    typealias Amount = CompletionEstimate.Amount

    /// The smallest number of updates for a measurement, because the controller may accept fewer at once.
    static let leastGiven = 12
    private static let leastSent = 3
    /// The time that the trial waits for a central that has nothing to send.
    private static let patience = Duration.milliseconds(50)
    /// The time after which the speed of a slow link is known well enough.
    private static let longestPart = Duration.milliseconds(500)

    /// The measurement of one central.
    private struct Part {
        var central: Central.ID
        var start: ContinuousClock.Instant
        var given = 0
        var sent = 0
        /// The time when the controller was full, because packets that it accepts at once show nothing about
        /// the link.
        var fullAt: ContinuousClock.Instant?
        var sentBefore = 0

        /// The speed, in values per second.
        func speed(at time: ContinuousClock.Instant) -> Double {
            let count = sent - sentBefore
            guard let fullAt, count >= SpeedTrial.leastSent else {
                return Double(sent) / max((time - start) / .seconds(1), 0.001)
            }
            return Double(count) / max((time - fullAt) / .seconds(1), 0.001)
        }
    }

    /// The updates that are not known to be sent, in the order in which bluetoothd received them.
    private(set) var entries: [Entry] = []
    /// The updates that are sent, but do not count as completed yet.
    private(set) var held: [Entry] = []
    private var waiting: [Central.ID]
    private var part: Part?
    private var surplus: Amount
    let start: ContinuousClock.Instant
    /// The measured speeds, in values per second.
    private(set) var speeds: [Central.ID: Double] = [:]
    private(set) var isOver = false

    /// Begins with the centrals in the order in which they are measured.
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

    /// Removes and returns the updates that are sent, but do not count as completed yet.
    mutating func takeHeld() -> [Entry] {
        defer { held = [] }
        return held
    }

    /// Removes and returns the first missing update of each central.
    mutating func takeOldest() -> [Entry] {
        CompletionEstimate.takeOldest(of: &entries)
    }

    /// Records the amount that was sent.
    ///
    /// - Returns: The updates that count as completed.
    mutating func sent(_ amount: Amount, at time: ContinuousClock.Instant) -> [Entry] {
        surplus = surplus + amount
        // Remaining updates of a slow link follow the updates for the next central.
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
