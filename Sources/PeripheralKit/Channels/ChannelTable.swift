internal import PeripheralCore

/// The channels of a run, and the limits of their listeners.
struct ChannelTable {
    /// A channel, until it is closed and its handler has returned.
    struct Entry {
        let number: UInt64
        let listener: Int
        let central: Central.ID
        fileprivate(set) var channel: L2CAPChannel?
        /// The task of the handler, until the handler has returned.
        fileprivate(set) var task: Task<Void, Never>?
        fileprivate var hasReturned = false
        fileprivate var isClosed = false
    }

    /// The reason for which a channel is not admitted.
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
        if let index = index(of: number) {
            entries[index].channel = channel
            if !entries[index].hasReturned { entries[index].task = task }
        }
        return !hasEnded
    }

    /// Records that the handler of a channel has returned.
    mutating func returned(_ number: UInt64) {
        guard let index = index(of: number) else { return }
        (entries[index].task, entries[index].hasReturned) = (nil, true)
        removeIfOver(index)
    }

    /// Records that a channel is closed.
    mutating func closed(_ number: UInt64) {
        guard let index = index(of: number) else { return }
        entries[index].isClosed = true
        removeIfOver(index)
    }

    private func index(of number: UInt64) -> Int? { entries.firstIndex { $0.number == number } }

    private mutating func removeIfOver(_ index: Int) {
        if entries[index].isClosed, entries[index].hasReturned { entries.remove(at: index) }
    }

    /// Refuses all further channels.
    mutating func end() {
        hasEnded = true
    }
}

extension ChannelTable.Refusal: Error {}
