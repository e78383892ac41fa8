internal import PeripheralCore

/// A characteristic that can be updated, with the queues to its subscribers.
struct SubscribedCharacteristic {
    struct Subscriber {
        var central: TransmitQueues.SubscriberID
        var isAddressable: Bool
        /// Whether updates for all reach the subscriber together with the others, although it can be reached
        /// alone.
        var sharesUpdatesForAll: Bool
        /// The address under which values are retained for the subscriber.
        var address: DeviceAddress?
        /// The kind of updates that the subscriber has asked for; `nil` if it is unknown.
        var kind: UpdateKind?
        /// The queue of the subscriber; empty for a subscriber that the stack does not identify.
        var queue: [SubscriberQueue.ID]
        /// Whether the subscriber has received a part of a document without an end marker.
        var hasRest = false

        /// Whether the subscriber has asked for indications, or may have asked for them.
        var takesIndications: Bool { kind != .notification }

        /// Whether updates for all are sent to the subscriber alone.
        var getsAllAlone: Bool { isAddressable && !sharesUpdatesForAll }
    }

    let characteristic: AttributeHandle
    let policy: UpdatePolicy
    private(set) var subscribers: [Subscriber] = []
    /// The queue to all together; empty without subscribers.
    private(set) var shared: [SubscriberQueue.ID] = []
    /// The queues for a value to all subscribers.
    private(set) var toAll: [SubscriberQueue.ID] = []
    /// The counts of values whose queues no longer exist.
    var past = UpdateCounters()

    init(_ characteristic: AttributeHandle, _ policy: UpdatePolicy) {
        self.characteristic = characteristic
        self.policy = policy
    }

    func subscriber(_ central: TransmitQueues.SubscriberID) -> Subscriber? {
        subscribers.first { $0.central == central }
    }

    // MARK: Routes

    /// Whether a nonempty value for all is sent to each subscriber alone.
    var reachesEach: Bool { subscribers.count == 1 || subscribers.allSatisfy(\.getsAllAlone) }

    /// The error for a central that is not a known subscriber.
    ///
    /// The central may be a subscriber that the stack does not identify.
    var errorForStranger: PeripheralError { subscriber(nil) == nil ? .notSubscribed : .notAddressable }

    /// Returns the queues for a value.
    func queues(
        to recipients: BackendUpdate.Recipients,
        size: Int
    ) -> Result<[SubscriberQueue.ID], PeripheralError> {
        switch recipients {
        case .subscribers:
            return .success(size > 0 ? toAll : shared)
        case .central(let central):
            guard let subscriber = subscriber(central) else { return .failure(errorForStranger) }
            guard size > 0 && subscriber.isAddressable || subscribers.count == 1 else {
                return .failure(.notAddressable)
            }
            return .success(subscriber.queue)
        }
    }

    /// Returns the queue of one subscriber, or of all together; `nil` if there is no such subscriber.
    func queue(for recipients: BackendUpdate.Recipients) -> SubscriberQueue.ID? {
        switch recipients {
        case .subscribers: shared.first
        case .central(let central): subscriber(central)?.queue.first
        }
    }

    // MARK: Subscribers

    mutating func add(_ subscriber: Subscriber, shared: SubscriberQueue.ID?) {
        subscribers.append(subscriber)
        if let shared { self.shared = [shared] }
        choose()
    }

    mutating func change(_ central: TransmitQueues.SubscriberID, isAddressable: Bool, kind: UpdateKind?) {
        guard let index = subscribers.firstIndex(where: { $0.central == central }) else { return }
        subscribers[index].isAddressable = isAddressable && central != nil
        subscribers[index].kind = kind
        choose()
    }

    /// Records the address of a central.
    mutating func setAddress(_ address: DeviceAddress, of central: Central.ID) {
        for index in subscribers.indices where subscribers[index].central == central {
            subscribers[index].address = address
        }
    }

    /// The subscribers for which values can be retained.
    var retaining: [RetainedDelivery.Subscriber] {
        subscribers.compactMap { subscriber in
            guard let central = subscriber.central, let address = subscriber.address else { return nil }
            return RetainedDelivery.Subscriber(
                id: RetainedDelivery.SubscriptionID(characteristic: characteristic, central: central),
                key: Outbox.Key(characteristic: characteristic, address: address),
                kind: subscriber.kind
            )
        }
    }

    /// Records whether subscribers have received a part of a document without an end marker.
    ///
    /// `nil` is for the subscribers that the stack does not identify.
    ///
    /// - Returns: Whether one of these subscribers was known to have received such a part.
    @discardableResult
    mutating func setHasRest(_ hasRest: Bool, of centrals: [TransmitQueues.SubscriberID]) -> Bool {
        var hadRest = false
        for index in subscribers.indices where centrals.contains(subscribers[index].central) {
            hadRest = hadRest || subscribers[index].hasRest
            subscribers[index].hasRest = hasRest
        }
        return hadRest
    }

    /// Removes a subscriber.
    ///
    /// - Returns: The queues that are no longer used.
    mutating func remove(_ central: TransmitQueues.SubscriberID) -> [SubscriberQueue.ID] {
        guard let index = subscribers.firstIndex(where: { $0.central == central }) else { return [] }
        var idle = subscribers.remove(at: index).queue
        if subscribers.isEmpty {
            idle += shared
            shared = []
        }
        choose()
        return idle
    }

    private mutating func choose() {
        toAll = subscribers.allSatisfy(\.getsAllAlone) ? subscribers.flatMap(\.queue) : shared
    }
}
