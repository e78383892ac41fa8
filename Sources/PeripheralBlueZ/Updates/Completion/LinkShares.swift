internal import PeripheralCore
internal import PeripheralKit

/// Whose the next packet is that the adapter sends, as far as the speeds of the links tell.
///
/// Of what is missing, each central gets its share by its speed, in turns. A speed that is wrong makes a central wait for
/// others, or has more on its way to it, but never more than is on the way to all: so the speeds are measured again. A central
/// that has too little to send for that is held up by nobody.
struct LinkShares {
    /// A trial costs a ninth of the time, or less.
    private static let restForTrial = 8
    private static let (shortestRest, longestRest) = (Duration.seconds(4), Duration.seconds(60))
    private static let beginning = Duration.milliseconds(250)

    /// Values a second.
    private var speeds: [Central.ID: Double] = [:]
    private var credits: [Central.ID: Double] = [:]
    private var restsUntil: ContinuousClock.Instant?

    mutating func settled(_ central: Central.ID) {
        speeds[central] = nil
        credits[central] = nil
    }

    /// The oldest of the central whose turn it is; `nil` when there is none.
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

    /// Takes note that one for a central has left.
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

    /// The centrals whose speed is to be measured now, the fastest first.
    mutating func dueTrial(
        of entries: [CompletionEstimate.Entry],
        at time: ContinuousClock.Instant
    ) -> [Central.ID]? {
        var counts: [Central.ID: Int] = [:]
        for entry in entries { counts[entry.delivery.central, default: 0] += 1 }
        let busy = Self.centrals(of: entries).filter { counts[$0, default: 0] >= SpeedTrial.leastGiven }
        guard busy.count > 1 else { return nil }
        // Not before all have begun.
        let restsUntil = self.restsUntil ?? time + Self.beginning
        self.restsUntil = restsUntil
        guard time >= restsUntil else { return nil }
        // In the order of what is missing, where the speed is the same.
        let order = busy.enumerated().map { index, central in
            (index: index, central: central, speed: speeds[central, default: .infinity])
        }
        return order.sorted { ($1.speed, $0.index) < ($0.speed, $1.index) }.map(\.central)
    }

    /// Takes note of what a trial has found.
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
