internal import PeripheralCore

/// The queues for a value, and their room.
extension SubscriberQueues {
    /// The number of values for all together that may be in flight besides those for single subscribers.
    static let placesForAll = 2

    /// Returns the queues for a value; empty if the value is for all subscribers and none exists.
    func places(
        of characteristic: AttributeHandle,
        to recipients: UpdateRecipients,
        size: Int,
        fallback: UpdateFallback = .none
    ) -> Result<[SubscriberQueue.ID], PeripheralError> {
        guard !isClosed(characteristic) else { return .failure(.serviceRemoved) }
        let characteristic = characteristicIndex(characteristic).map { characteristics[$0] }
        switch recipients {
        case .subscribers:
            return characteristic?.queues(to: .subscribers, size: size) ?? .success([])
        case .central(let central) where !fallback.isToAll:
            return characteristic?.queues(to: .central(central), size: size) ?? .failure(.notSubscribed)
        case .central(let central):
            return Self.places(of: characteristic, toEach: [central], size: size, fallback: fallback)
        case .centrals(let centrals):
            return Self.places(of: characteristic, toEach: centrals, size: size, fallback: fallback)
        }
    }

    /// Returns the queues for a value to several subscribers, without duplicates.
    private static func places(
        of characteristic: SubscribedCharacteristic?,
        toEach centrals: [Central.ID],
        size: Int,
        fallback: UpdateFallback
    ) -> Result<[SubscriberQueue.ID], PeripheralError> {
        var all: [SubscriberQueue.ID] = []
        for central in centrals {
            guard let characteristic else { return .failure(.notSubscribed) }
            switch characteristic.queues(to: .central(central), size: size) {
            case .failure(let error) where fallback.isToAll && error.code == .notAddressable:
                // An empty value always uses the queue that all share.
                return characteristic.queues(to: .subscribers, size: 0)
            case .failure(let error): return .failure(error)
            case .success(let places): all += places.filter { !all.contains($0) }
            }
        }
        return .success(all)
    }

    // MARK: Room in a queue

    func hasRoom(in places: [SubscriberQueue.ID], for size: Int) -> Bool {
        places.allSatisfy { self[$0].hasRoom(for: size) }
    }

    /// Returns the queues without room for a value, or all queues if other values have precedence.
    func lacking(_ places: [SubscriberQueue.ID], room size: Int) -> [SubscriberQueue.ID] {
        let full = places.filter { !self[$0].hasRoom(for: size) }
        return full.isEmpty ? places : full
    }

    // MARK: Room in flight

    /// Returns whether the first value of a queue may be submitted now.
    func maySend(_ place: SubscriberQueue.ID, to subscribers: [TransmitQueues.SubscriberID]) -> Bool {
        guard self[place].mayHaveMoreInFlight, hasPlace(for: place, to: subscribers),
            let sequence = self[place].firstSequence
        else { return false }
        let characteristic = characteristic(of: place)
        guard self[place].central == nil else {
            // A value that falls back may be older than a document that has begun. It does not interrupt it.
            let isBegun = self[place].beginsWithBegunDocument
            return characteristic.shared.allSatisfy {
                isBegun ? self[$0].inFlight == 0 : isBefore($0, sequence)
            }
        }
        return characteristic.subscribers.allSatisfy { subscriber in
            subscriber.queue.allSatisfy { isBefore($0, sequence) && !self[$0].beginsWithBegunDocument }
        }
    }

    /// Returns whether no older value of the same characteristic is outstanding on another route.
    private func isBefore(_ other: SubscriberQueue.ID, _ sequence: UInt64) -> Bool {
        self[other].inFlight == 0 && self[other].firstSequence.map { $0 > sequence } ?? true
    }

    /// Returns whether one more value may be in flight to each subscriber.
    ///
    /// A value for all together needs room with all subscribers at the same time. Values for single
    /// subscribers would use up that room. Therefore, some room is reserved for values for all.
    private func hasPlace(
        for place: SubscriberQueue.ID,
        to subscribers: [TransmitQueues.SubscriberID]
    ) -> Bool {
        // Only one such chunk is in flight at a time, and it waits for its turn among the confirmed updates.
        if self[place].beginsWithConfirmed { return true }
        if let central = self[place].central { return links.hasPlace(for: central, in: window) }
        return self[place].inFlight < Self.placesForAll || links.hasPlace(forAll: subscribers, in: window)
    }

    // MARK: Turns of confirmed updates

    /// Returns the lanes that a confirmed update of a queue occupies.
    func lanes(of place: SubscriberQueue.ID) -> [ConfirmedTurns.Lane] {
        let centrals = subscribers(of: place).compactMap { $0.map(ConfirmedTurns.Lane.central) }
        guard self[place].central == nil else { return centrals }
        return centrals + [.subscribers(characteristicIndex: self[place].characteristicIndex)]
    }

    /// Returns the position of the oldest confirmed document for the subscribers of a queue, over the same
    /// characteristic; the maximum if there is no such document.
    func oldestConfirmedDocument(on place: SubscriberQueue.ID) -> UInt64 {
        let characteristic = characteristic(of: place)
        let alone = self[place].central == nil ? characteristic.subscribers.flatMap(\.queue) : [place]
        return (characteristic.shared + alone).compactMap { self[$0].firstConfirmedDocument }.min() ?? .max
    }
}
