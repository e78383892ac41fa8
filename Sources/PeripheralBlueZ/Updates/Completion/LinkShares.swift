internal import PeripheralCore
internal import PeripheralKit

/// Decides, from the speeds of the links, which central the next packet of the adapter belongs to.
///
/// Each central with missing updates receives a share according to its speed, in turns. A wrong speed makes a
/// central wait for other centrals, or puts more updates in flight to it. It never puts more updates in
/// flight than are in flight to all centrals. Therefore the speeds are measured again. Other centrals do not
/// delay a central that has too few updates for a measurement.
struct LinkShares {
    /// The rest after a trial, as a multiple of its duration; a trial uses at most a ninth of the time.
    private static let restForTrial = 8
    private static let (shortestRest, longestRest) = (Duration.seconds(4), Duration.seconds(60))
    private static let beginning = Duration.milliseconds(250)

    /// The speed of each central, in values per second.
    private var speeds: [Central.ID: Double] = [:]
    private var credits: [Central.ID: Double] = [:]
    private var restsUntil: ContinuousClock.Instant?

    mutating func settled(_ central: Central.ID) {
        speeds[central] = nil
        credits[central] = nil
    }

    /// Returns the index of the oldest entry of the next central; `nil` if there is no entry.
    func next(of entries: [CompletionEstimate.Entry]) -> Int? {
        guard !speeds.isEmpty, let first = entries.first else { return entries.isEmpty ? nil : 0 }
        let centrals = Self.centrals(of: entries)
        guard centrals.count > 1, centrals.contains(where: { speeds[$0] != nil }) else { return 0 }
        let next = centrals.max { credit(after: $0) < credit(after: $1) } ?? first.delivery.central
        return entries.firstIndex { $0.delivery.central == next }
    }

    private func credit(after central: Central.ID) -> Double {
        credits[central, default: 0] + speed(of: central)
    }

    private func speed(of central: Central.ID) -> Double {
        speeds[central] ?? speeds.values.max() ?? 0
    }

    /// Records that an update for a central is completed.
    mutating func took(_ central: Central.ID, of entries: [CompletionEstimate.Entry]) {
        if speeds.isEmpty { return }
        var sum = 0.0
        for other in Self.centrals(of: entries) {
            let speed = speed(of: other)
            credits[other, default: 0] += speed
            sum += speed
        }
        credits[central, default: 0] -= sum
    }

    /// Returns the centrals whose speed must be measured now, the fastest central first.
    mutating func dueTrial(
        of entries: [CompletionEstimate.Entry],
        at time: ContinuousClock.Instant
    ) -> [Central.ID]? {
        var counts: [Central.ID: Int] = [:]
        for entry in entries { counts[entry.delivery.central, default: 0] += 1 }
        let busy = Self.centrals(of: entries).filter { counts[$0, default: 0] >= SpeedTrial.leastGiven }
        guard busy.count > 1 else { return nil }
        // The trial begins when all centrals have begun to send.
        let restsUntil = self.restsUntil ?? time + Self.beginning
        self.restsUntil = restsUntil
        guard time >= restsUntil else { return nil }
        // Centrals of the same speed keep the order of their missing updates.
        let order = busy.enumerated().map { index, central in
            (index: index, central: central, speed: speeds[central, default: .infinity])
        }
        return order.sorted { ($1.speed, $0.index) < ($0.speed, $1.index) }.map(\.central)
    }

    /// Records the result of a trial.
    mutating func ended(_ trial: SpeedTrial, at time: ContinuousClock.Instant) {
        speeds.merge(trial.speeds) { _, new in new }
        credits = [:]
        let rest = (time - trial.start) * Self.restForTrial
        restsUntil = time + min(max(rest, Self.shortestRest), Self.longestRest)
    }

    private static func centrals(of entries: [CompletionEstimate.Entry]) -> [Central.ID] {
        var centrals: [Central.ID] = []
        for entry in entries where !centrals.contains(entry.delivery.central) {
            centrals.append(entry.delivery.central)
        }
        return centrals
    }
}
