internal import PeripheralCore

/// A characteristic that can be updated, and the lanes to those who have subscribed to it.
struct Outlet {
    struct Subscriber {
        var central: TransmitQueues.Receiver
        var isAddressable: Bool
        /// Whether it gets what is for all together with the others, although it can be reached alone.
        var sharesUpdatesForAll: Bool
        /// Whether it has not asked for notifications instead, as far as is known.
        var takesIndications: Bool
        /// Its own lane alone; none for those whom the stack does not name.
        var lane: [TransmitLane.Place]
        /// Whether it has a part of a document that no mark has ended.
        var hasRest = false

        /// Whether it is sent by itself what is for all.
        var getsAllAlone: Bool { isAddressable && !sharesUpdatesForAll }
    }

    let characteristic: AttributeHandle
    let policy: UpdatePolicy
    private(set) var subscribers: [Subscriber] = []
    /// The lane to all together alone, as long as there is anybody.
    private(set) var shared: [TransmitLane.Place] = []
    /// The lanes that a value takes to all subscribers.
    private(set) var toAll: [TransmitLane.Place] = []
    /// What has become of the values whose lanes are gone.
    var past = UpdateCounters()

    init(_ characteristic: AttributeHandle, _ policy: UpdatePolicy) {
        self.characteristic = characteristic
        self.policy = policy
    }

    func subscriber(_ central: TransmitQueues.Receiver) -> Subscriber? {
        subscribers.first { $0.central == central }
    }

    mutating func add(_ subscriber: Subscriber, shared: TransmitLane.Place?) {
        subscribers.append(subscriber)
        if let shared { self.shared = [shared] }
        choose()
    }

    mutating func change(_ central: TransmitQueues.Receiver, isAddressable: Bool, takesIndications: Bool) {
        guard let index = subscribers.firstIndex(where: { $0.central == central }) else { return }
        subscribers[index].isAddressable = isAddressable && central != nil
        subscribers[index].takesIndications = takesIndications
        choose()
    }

    /// Takes note of who has a part of a document that no mark has ended; `nil` for those whom the stack does not name.
    ///
    /// - Returns: Whether somebody of these was known to have one.
    @discardableResult
    mutating func setHasRest(_ hasRest: Bool, of centrals: [TransmitQueues.Receiver]) -> Bool {
        var hadRest = false
        for index in subscribers.indices where centrals.contains(subscribers[index].central) {
            hadRest = hadRest || subscribers[index].hasRest
            subscribers[index].hasRest = hasRest
        }
        return hadRest
    }

    /// Takes a subscriber out.
    ///
    /// - Returns: The lanes that are of no use any more.
    mutating func remove(_ central: TransmitQueues.Receiver) -> [TransmitLane.Place] {
        guard let index = subscribers.firstIndex(where: { $0.central == central }) else { return [] }
        var idle = subscribers.remove(at: index).lane
        if subscribers.isEmpty {
            idle += shared
            shared = []
        }
        choose()
        return idle
    }

    private mutating func choose() {
        toAll = subscribers.allSatisfy(\.getsAllAlone) ? subscribers.flatMap(\.lane) : shared
    }
}
