internal import PeripheralCore

/// The indications and confirmed chunks that wait for their turn, in the order of arrival.
///
/// A central receives the next of them when it has confirmed the previous one (Core Specification, Vol 3,
/// Part F, 3.3.2). An update for several centrals needs its turn with all of them, and no later update takes
/// that turn.
///
/// An indication also waits for the end of an earlier document to one of its centrals over the same
/// characteristic. Meanwhile, later updates of other characteristics take their turns.
struct ConfirmedTurns {
    /// A resource that only one update uses at a time.
    enum Lane: Equatable {
        case central(Central.ID)
        /// The queue that all subscribers of a characteristic share.
        case subscribers(characteristicIndex: Int)
    }

    struct Indication {
        /// The call that waits for the confirmation; `nil` for a retained value.
        let ticket: TransmitQueues.Ticket?
        let value: [UInt8]
        /// The subscribers for which the value is retained; empty for other values.
        let retained: [RetainedDelivery.Part]
        /// The position in the order of arrival across all queues.
        let sequence: UInt64
        let since: Duration
    }

    struct Turn {
        let queue: SubscriberQueue.ID
        let characteristicIndex: Int
        /// `nil` for the next chunk of the first document in the queue.
        let indication: Indication?
        fileprivate var hasWaited = false

        init(of queue: SubscriberQueue.ID, characteristicIndex: Int, _ indication: Indication? = nil) {
            (self.queue, self.characteristicIndex, self.indication) = (queue, characteristicIndex, indication)
        }
    }

    private var turns: [Turn] = []

    var isEmpty: Bool { turns.isEmpty }

    /// Adds an update behind all others.
    ///
    /// A queue has only one turn for chunks.
    mutating func append(_ turn: Turn) {
        guard turn.indication != nil || !turns.contains(where: { $0.queue == turn.queue && $0.isChunk })
        else {
            return
        }
        turns.append(turn)
    }

    /// Takes the first update that may be sent.
    ///
    /// - Parameters:
    ///   - busy: The lanes of the updates in flight.
    ///   - lanes: Returns the lanes of the updates of a queue.
    ///   - waitsForDocument: Returns whether an indication must wait for the end of a document.
    /// - Returns: The update; `nil` if all updates must wait.
    mutating func takeNext(
        besides busy: [Lane],
        lanes: (SubscriberQueue.ID) -> [Lane],
        waitsForDocument: (SubscriberQueue.ID, Indication) -> Bool
    ) -> Turn? {
        // There are few lanes, and an array needs less code than a set.
        var taken = busy
        var waiting: [(characteristicIndex: Int, lanes: [Lane])] = []
        for (index, turn) in turns.enumerated() {
            let own = lanes(turn.queue)
            if let indication = turn.indication {
                // No later indication of the characteristic overtakes an indication that waits for a
                // document.
                let isBehind = waiting.contains { other in
                    other.characteristicIndex == turn.characteristicIndex
                        && own.contains { other.lanes.contains($0) }
                }
                if isBehind || waitsForDocument(turn.queue, indication) {
                    waiting.append((turn.characteristicIndex, own))
                    continue
                }
            }
            if !own.contains(where: { taken.contains($0) }) { return turns.remove(at: index) }
            taken += own
        }
        return nil
    }

    /// Removes the indication of a ticket.
    ///
    /// - Returns: The queue of the indication; `nil` if no indication waits.
    mutating func remove(_ ticket: TransmitQueues.Ticket) -> SubscriberQueue.ID? {
        guard let index = turns.firstIndex(where: { $0.indication?.ticket == ticket }) else { return nil }
        return turns.remove(at: index).queue
    }

    /// Removes all updates of a queue, and returns the indications.
    mutating func removeAll(of queue: SubscriberQueue.ID) -> [Indication] {
        guard !turns.isEmpty else { return [] }
        defer { turns.removeAll { $0.queue == queue } }
        return turns.filter { $0.queue == queue }.compactMap(\.indication)
    }

    /// Moves the indications of a queue to another queue, without a change of their order.
    mutating func move(from former: SubscriberQueue.ID, to queue: SubscriberQueue.ID) {
        for index in turns.indices where turns[index].queue == former {
            var turn = Turn(
                of: queue,
                characteristicIndex: turns[index].characteristicIndex,
                turns[index].indication
            )
            turn.hasWaited = turns[index].hasWaited
            turns[index] = turn
        }
    }

    /// The number of indications that wait in a queue.
    func count(of queue: SubscriberQueue.ID) -> Int {
        turns.count { $0.queue == queue && !$0.isChunk }
    }

    /// Returns whether an indication up to a position waits.
    func hasIndication(upTo lastSequence: UInt64) -> Bool {
        turns.contains { $0.indication.map { $0.sequence <= lastSequence } ?? false }
    }

    /// Returns the queues of the indications that wait since the last call.
    mutating func takeNewlyWaiting() -> [SubscriberQueue.ID] {
        var queues: [SubscriberQueue.ID] = []
        for index in turns.indices where !turns[index].hasWaited {
            turns[index].hasWaited = true
            if !turns[index].isChunk { queues.append(turns[index].queue) }
        }
        return queues
    }
}

extension ConfirmedTurns.Turn {
    fileprivate var isChunk: Bool { indication == nil }
}
