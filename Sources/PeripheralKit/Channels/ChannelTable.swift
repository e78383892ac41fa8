internal import PeripheralCore

/// The channels of a run, and the limits of their listeners.
struct ChannelTable {
    /// A channel, from its request until its handler has returned.
    struct Entry {
        let number: UInt64
        var listener: Int
        var central: Central.ID
        var channel: L2CAPChannel?
        var task: Task<Void, Never>?
    }

    /// The reason for which a channel is refused.
    enum Refusal: Equatable {
        case centralHasTooMany
        case listenerHasTooMany
        case ended
    }

    private let limits: [ChannelLimits]
    /// The channels, of which there are few.
    private(set) var entries: [Entry] = []
    private var nextNumber: UInt64 = 0
    private(set) var hasEnded = false

    init(limits: [ChannelLimits]) {
        self.limits = limits
    }

    /// Admits a channel.
    ///
    /// - Returns: The number of the channel.
    mutating func admit(_ central: Central.ID, through listener: Int) -> Result<UInt64, Refusal> {
        guard !hasEnded else { return .failure(.ended) }
        let present = entries.filter { $0.listener == listener }
        guard present.count < max(1, limits[listener].channels) else { return .failure(.listenerHasTooMany) }
        guard present.count(where: { $0.central == central }) < max(1, limits[listener].channelsPerCentral)
        else {
            return .failure(.centralHasTooMany)
        }
        defer { nextNumber += 1 }
        entries.append(Entry(number: nextNumber, listener: listener, central: central))
        return .success(nextNumber)
    }

    /// Records the channel and the task of its handler.
    ///
    /// - Returns: Whether the run still continues.
    mutating func begin(_ number: UInt64, _ channel: L2CAPChannel, _ task: Task<Void, Never>) -> Bool {
        // The handler may have returned already.
        if let index = entries.firstIndex(where: { $0.number == number }) {
            entries[index].channel = channel
            entries[index].task = task
        }
        return !hasEnded
    }

    /// Removes a channel whose handler has returned, or that did not begin.
    mutating func remove(_ number: UInt64) {
        entries.removeAll { $0.number == number }
    }

    /// Refuses all further channels.
    mutating func end() {
        hasEnded = true
    }
}

extension ChannelTable.Refusal: Error {}
