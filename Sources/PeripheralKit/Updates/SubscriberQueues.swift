internal import PeripheralCore

/// The characteristics that have had subscribers, the queues to the subscribers, and their links.
struct SubscriberQueues {
    private var policies: [AttributeHandle: UpdatePolicy]
    /// The number of values that may be in flight to a central, unless the stack has set another number.
    var window: Int
    var links = SubscriberLinks()
    var characteristics: [SubscribedCharacteristic] = []
    /// The indices of the characteristics, by their handles.
    ///
    /// An array is faster than a dictionary.
    private var characteristicIndices: [Int?] = []
    private var queues: [SubscriberQueue] = []
    /// The unused indices of queues.
    private var free: [Int] = []
    /// The characteristics of services that are about to be removed.
    var closed: [ClosedRange<AttributeHandle>] = []
    /// The unused indices of characteristics.
    private var freeCharacteristics: [Int] = []

    init(policies: [AttributeHandle: UpdatePolicy], window: Int) {
        (self.policies, self.window) = (policies, window)
    }

    // MARK: Queues

    /// A queue in use.
    subscript(_ place: SubscriberQueue.ID) -> SubscriberQueue {
        get { queues[place.index] }
        _modify { yield &queues[place.index] }
    }

    /// The queues in use.
    var places: [SubscriberQueue.ID] {
        queues.indices.filter { !free.contains($0) }.map { SubscriberQueue.ID(index: $0) }
    }

    /// Adds a queue for one subscriber of a characteristic, or for all together.
    mutating func makeQueue(of characteristicIndex: Int, to central: Central.ID?) -> SubscriberQueue.ID {
        let characteristic = characteristics[characteristicIndex]
        let queue = SubscriberQueue(
            characteristicIndex: characteristicIndex,
            of: characteristic.characteristic,
            to: central,
            characteristic.policy
        )
        guard let index = free.popLast() else {
            queues.append(queue)
            return SubscriberQueue.ID(index: queues.count - 1)
        }
        queues[index] = queue
        return SubscriberQueue.ID(index: index)
    }

    /// Removes a queue.
    mutating func remove(_ place: SubscriberQueue.ID) -> SubscriberQueue {
        free.append(place.index)
        defer { queues[place.index].removeAll() }
        return queues[place.index]
    }

    // MARK: Characteristics

    /// Returns the index of a characteristic, which exists after the first subscription.
    func characteristicIndex(_ characteristic: AttributeHandle) -> Int? {
        let handle = Int(characteristic.rawValue)
        return handle < characteristicIndices.count ? characteristicIndices[handle] : nil
    }

    /// Returns the index of a characteristic, and adds the characteristic if necessary.
    mutating func makeIndex(_ characteristic: AttributeHandle) -> Int {
        if let characteristicIndex = characteristicIndex(characteristic) { return characteristicIndex }
        let subscribed = SubscribedCharacteristic(characteristic, policies[characteristic] ?? .reject)
        let index = freeCharacteristics.popLast() ?? characteristics.count
        if index < characteristics.count {
            characteristics[index] = subscribed
        } else {
            characteristics.append(subscribed)
        }
        let handle = Int(characteristic.rawValue)
        if handle >= characteristicIndices.count {
            characteristicIndices += repeatElement(nil, count: handle + 1 - characteristicIndices.count)
        }
        characteristicIndices[handle] = index
        return index
    }

    /// Adds the characteristics of an added service, with their policies.
    mutating func add(_ policies: [AttributeHandle: UpdatePolicy]) {
        self.policies.merge(policies) { $1 }
    }

    /// Removes a characteristic that has no subscribers and no updates.
    ///
    /// - Returns: The counts of its values; `nil` if it never had a subscriber.
    mutating func remove(_ characteristic: AttributeHandle) -> UpdateCounters? {
        policies[characteristic] = nil
        guard let index = characteristicIndex(characteristic) else { return nil }
        characteristicIndices[Int(characteristic.rawValue)] = nil
        freeCharacteristics.append(index)
        let past = characteristics[index].past
        // An unused index has no counts.
        characteristics[index].past = UpdateCounters()
        return past
    }

    /// Returns whether the service of a characteristic is about to be removed.
    func isClosed(_ characteristic: AttributeHandle) -> Bool {
        !closed.isEmpty && closed.contains { $0.contains(characteristic) }
    }

    /// Returns the characteristic of a queue.
    func characteristic(of place: SubscriberQueue.ID) -> SubscribedCharacteristic {
        characteristics[self[place].characteristicIndex]
    }

    // MARK: Subscribers

    /// Updates the data of a central.
    mutating func connected(_ central: Central) {
        links.setMaximumLength(central.maximumUpdateValueLength, for: central.id)
        for index in characteristics.indices {
            characteristics[index].setAddress(central.address, of: central.id)
        }
    }

    /// Returns the subscribers that a queue reaches.
    func subscribers(of place: SubscriberQueue.ID) -> [TransmitQueues.SubscriberID] {
        guard self[place].central == nil else { return self[place].subscribers }
        return characteristic(of: place).subscribers.map(\.central)
    }

    /// Returns whether the subscribers of a queue may confirm.
    ///
    /// In the queue of all together, some subscribers may confirm.
    func takesIndications(_ place: SubscriberQueue.ID) -> Bool {
        let subscriber = self[place].central.flatMap { characteristic(of: place).subscriber($0) }
        return subscriber?.takesIndications ?? true
    }

    /// Returns whether the stack can no longer reach a single subscriber alone.
    func isNotAddressable(_ place: SubscriberQueue.ID) -> Bool {
        guard let central = self[place].central else { return false }
        return characteristic(of: place).subscriber(central).map { !$0.isAddressable } ?? false
    }
}
