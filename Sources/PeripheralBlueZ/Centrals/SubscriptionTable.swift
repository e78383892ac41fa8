internal import PeripheralCore
internal import PeripheralKit

/// Tracks the subscriptions of centrals, and the route to each subscriber.
///
/// The table is a pure value. bluetoothd does not reveal the client characteristic configurations. The table
/// infers the configurations from calls, from the ends of sockets and from connections. Each of these sources
/// shows only a part.
struct SubscriptionTable {
    /// The route to a subscriber.
    enum Route: Hashable {
        /// A separate socket.
        case socket
        /// A D-Bus signal.
        ///
        /// The signal contains the value. bluetoothd sends this value to all subscribers.
        case bus
    }

    struct Subscriber: Hashable {
        var central: Central
        var route: Route
        /// The number of the subscription, in the order of all subscriptions.
        var number: UInt64
    }

    /// The identity of a socket, which consists of the reached central and the characteristic.
    struct Socket: Hashable {
        var characteristic: AttributeHandle
        var central: Central.ID
    }

    /// The subscribers in the order of their subscriptions, which is also bluetoothd's order of the sockets.
    private var subscribers: [AttributeHandle: [Subscriber]] = [:]
    /// The characteristics with a subscriber that bluetoothd has not named, and the numbers of these
    /// subscriptions.
    private var subscribedByStrangers: [AttributeHandle: UInt64] = [:]
    /// The number of the newest subscription.
    private(set) var lastNumber: UInt64 = 0
    /// The subscriptions of bonded centrals that are disconnected.
    ///
    /// bluetoothd keeps these subscriptions, and does not report when they resume.
    private var dormant: [Central.ID: [AttributeHandle]] = [:]
    /// The disconnected bonded centrals that bluetoothd has forgotten.
    ///
    /// bluetoothd drops the subscriptions of such a central when it would send a value to the central.
    private var forgotten: Set<Central.ID> = []
    /// The centrals that disconnected a moment ago, perhaps because bluetoothd is forgetting them.
    private var leaving: Set<Central.ID> = []
    /// The sockets that were closed a moment ago for a reason that is still unknown.
    private var unexplained: Set<Socket> = []
    /// The sockets that bluetoothd is about to close by mistake.
    private var endangered: Set<Socket> = []
    /// The characteristics for which a disconnection may have closed a different socket than expected.
    ///
    /// The key is the disconnected central.
    private var ambiguous: [Central.ID: Set<AttributeHandle>] = [:]
    /// The subscriptions of connected centrals under an address by which bluetoothd no longer finds them.
    private var lost: [Central.ID: Set<AttributeHandle>] = [:]
    /// The subscriptions of connected centrals under an earlier address.
    ///
    /// bluetoothd finds these centrals by the earlier address until they disconnect.
    private var moved: [Central.ID: Set<AttributeHandle>] = [:]
    /// The subscriptions that bluetoothd has kept under the earlier address of a central.
    ///
    /// bluetoothd drops such a subscription when it would send a value for it.
    private var remains: [Central.ID: Set<AttributeHandle>] = [:]
    /// The subscribers whose route has changed since it was last reported.
    private var rerouted: [Socket] = []

    func subscribers(of characteristic: AttributeHandle) -> [Subscriber] {
        subscribers[characteristic] ?? []
    }

    /// Whether it is still unknown if a socket is closed or about to be closed.
    ///
    /// A moment later, the central is reached either through the socket again, or only together with other
    /// centrals.
    func isUncertain(_ socket: Socket) -> Bool {
        unexplained.contains(socket) || endangered.contains(socket)
    }

    /// Removes and returns the subscribers whose route has changed since they subscribed or since the last
    /// call.
    mutating func takeRerouted() -> [(characteristic: AttributeHandle, subscriber: Subscriber)] {
        defer { rerouted = [] }
        return rerouted.compactMap { socket in
            let subscriber = subscribers(of: socket.characteristic).first { $0.central.id == socket.central }
            return subscriber.map { (socket.characteristic, $0) }
        }
    }

    /// The known number of subscribers; all unnamed subscribers together count as one.
    func count(of characteristic: AttributeHandle) -> Int {
        subscribers(of: characteristic).count + (subscribedByStrangers[characteristic] == nil ? 0 : 1)
    }

    /// The number of a subscription; `nil` as the central stands for all unnamed subscribers.
    func number(of central: Central.ID?, for characteristic: AttributeHandle) -> UInt64? {
        guard let central else { return subscribedByStrangers[characteristic] }
        return index(of: central, in: characteristic).flatMap { subscribers[characteristic]?[$0].number }
    }

    /// The number of the oldest present subscription.
    func oldestNumber(for characteristic: AttributeHandle) -> UInt64? {
        let numbers = subscribers(of: characteristic).map(\.number)
        return (numbers + [subscribedByStrangers[characteristic]].compactMap(\.self)).min()
    }

    /// Whether a central is the only subscriber that bluetoothd can count.
    ///
    /// bluetoothd can also count a disconnected subscriber.
    func isOnlySubscriber(_ central: Central.ID, of characteristic: AttributeHandle) -> Bool {
        index(of: central, in: characteristic) != nil && !isCounted(characteristic, besides: central)
    }

    /// Whether bluetoothd can count a subscriber other than the given one, perhaps a disconnected subscriber.
    func isCounted(_ characteristic: AttributeHandle, besides central: Central.ID? = nil) -> Bool {
        subscribers(of: characteristic).contains { $0.central.id != central }
            || subscribedByStrangers[characteristic] != nil
            || dormant.values.contains { $0.contains(characteristic) }
            || [lost, moved, remains].contains { $0.values.contains { $0.contains(characteristic) } }
    }

    /// Whether subscriptions to a characteristic resume when bluetoothd reaches one of these centrals.
    func isAwaited(_ characteristic: AttributeHandle, among returning: some Sequence<Central.ID>) -> Bool {
        returning.contains { dormant[$0]?.contains(characteristic) == true }
    }

    /// The characteristics to which a central has subscribed.
    func subscriptions(of central: Central.ID) -> [AttributeHandle] {
        subscribers.keys.filter { index(of: central, in: $0) != nil }
    }

    /// Records a subscription of a central that bluetoothd does not name.
    mutating func subscribedByStranger(_ characteristic: AttributeHandle) {
        if subscribedByStrangers[characteristic] == nil {
            subscribedByStrangers[characteristic] = makeNumber()
        }
    }

    /// Records that a central has subscribed, perhaps again.
    mutating func subscribed(_ central: Central, to characteristic: AttributeHandle, by route: Route) {
        remove(central.id, from: characteristic)
        if moved[central.id]?.remove(characteristic) != nil {
            remains[central.id, default: []].insert(characteristic)
        }
        subscribers[characteristic, default: []].append(
            Subscriber(central: central, route: route, number: makeNumber())
        )
    }

    private mutating func makeNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    /// Records the end of the socket that reaches a connected central.
    ///
    /// bluetoothd closes the socket when the central unsubscribes. But when an unbonded subscriber of the
    /// same characteristic disconnects, bluetoothd closes its first socket, even if that socket reaches
    /// another central (`clear_ccc_state` in gatt-database.c; observed on 5.82 and 5.87). The central of the
    /// closed socket is still subscribed then, and reached only through the bus.
    ///
    /// - Returns: Whether ``explain(_:)`` must be called in a moment, because the reason may still be
    ///   unknown.
    mutating func closed(_ socket: Socket) -> Bool {
        guard endangered.remove(socket) == nil, setRoute(of: socket, from: .socket, to: .bus),
            !ambiguous.values.contains(where: { $0.contains(socket.characteristic) })
        else { return false }
        unexplained.insert(socket)
        return true
    }

    /// Records the end of the time in which a disconnection could have explained the end of a socket.
    ///
    /// - Returns: Whether no disconnection explains the end, which means that the central has unsubscribed.
    mutating func explain(_ socket: Socket) -> Bool {
        guard unexplained.contains(socket) else { return false }
        remove(socket.central, from: socket.characteristic)
        return true
    }

    /// Records that a central has disconnected.
    ///
    /// - Returns: The sockets that bluetoothd is about to close by mistake, if they are not yet closed.
    ///   Updates sent through these sockets are lost, so the bus reaches their centrals from now on. In a
    ///   moment, ``forgetDanger(to:)`` must be called.
    mutating func disconnected(_ central: Central) -> [Socket] {
        leaving.insert(central.id)
        var victims: [Socket] = []
        let lost = lost.removeValue(forKey: central.id) ?? []
        let moved = moved.removeValue(forKey: central.id) ?? []
        if central.isBonded, !moved.isEmpty { remains[central.id, default: []].formUnion(moved) }
        for characteristic in subscribers.keys.inOrder(by: { $0.rawValue < $1.rawValue }) {
            let isSubscribed = index(of: central.id, in: characteristic) != nil
            let isLost = lost.contains(characteristic)
            guard isSubscribed || isLost else { continue }
            let first = firstSocket(of: characteristic)
            remove(central.id, from: characteristic)
            if isSubscribed, central.isBonded, !moved.contains(characteristic) {
                dormant[central.id, default: []].append(characteristic)
            }
            if isLost || !central.isBonded, let first, first.central != central.id {
                if endanger(first) {
                    victims.append(first)
                } else {
                    // The first central may also have unsubscribed just before. In that case, bluetoothd
                    // closes the next socket by mistake.
                    ambiguous[central.id, default: []].insert(characteristic)
                }
            }
        }
        return victims
    }

    /// Records that a value is sent to all subscribers through the bus.
    ///
    /// If a subscriber was forgotten while it was disconnected, bluetoothd now drops all data that it has
    /// kept of the central (`send_notification_to_device` in gatt-database.c). bluetoothd does the same after
    /// the disconnection of an unbonded central.
    ///
    /// - Returns: The same sockets as ``disconnected(_:)``.
    mutating func announced(_ characteristic: AttributeHandle) -> [Socket] {
        var victims: [Socket] = []
        for central in forgotten where dormant[central]?.contains(characteristic) == true {
            forgotten.remove(central)
            for characteristic in dormant.removeValue(forKey: central) ?? [] {
                guard let first = firstSocket(of: characteristic), endanger(first) else { continue }
                victims.append(first)
            }
        }
        for central in remains.keys where remains[central]?.contains(characteristic) == true {
            for characteristic in remains.removeValue(forKey: central) ?? [] {
                guard let first = firstSocket(of: characteristic), endanger(first) else { continue }
                victims.append(first)
            }
        }
        return victims
    }

    /// The first socket of bluetoothd, as far as it is known.
    private func firstSocket(of characteristic: AttributeHandle) -> Socket? {
        subscribers(of: characteristic).lazy.map { subscriber in
            (Socket(characteristic: characteristic, central: subscriber.central.id), subscriber.route)
        }.first { socket, route in
            route == .socket || unexplained.contains(socket)
        }?.0
    }

    /// Records that a socket is about to be closed by mistake.
    ///
    /// - Returns: Whether the socket is not closed yet.
    private mutating func endanger(_ socket: Socket) -> Bool {
        guard unexplained.remove(socket) == nil else { return false }
        setRoute(of: socket, from: .socket, to: .bus)
        endangered.insert(socket)
        return true
    }

    /// Records the end of the time in which bluetoothd could have closed a socket by mistake.
    mutating func forgetDanger(to socket: Socket) {
        guard endangered.remove(socket) != nil else { return }
        setRoute(of: socket, from: .bus, to: .socket)
    }

    /// Records that a central has reconnected.
    ///
    /// - Returns: Whether the subscriptions of the central resume as soon as bluetoothd reaches it. In that
    ///   case, ``resumed(_:)`` must be called.
    mutating func connected(_ central: Central) -> Bool {
        leaving.remove(central.id)
        forgotten.remove(central.id)
        return dormant[central.id]?.isEmpty == false
    }

    /// Resumes the subscriptions of a bonded central that bluetoothd reaches again, without sockets.
    ///
    /// - Returns: The characteristics to which the central is subscribed.
    mutating func resumed(_ central: Central) -> [AttributeHandle] {
        guard let resumed = dormant.removeValue(forKey: central.id) else { return [] }
        for characteristic in resumed { subscribed(central, to: characteristic, by: .bus) }
        return resumed
    }

    /// Records that a connected central has shown its lasting address.
    ///
    /// bluetoothd has the subscriptions of the central under the earlier address.
    ///
    /// If both addresses are random, bluetoothd does not find the central by the earlier address
    /// (`device_addr_type_cmp` in device.c; observed on 5.66 and 5.87). The subscriptions have ended.
    /// bluetoothd drops the subscriptions when the central disconnects, like the subscriptions of an unbonded
    /// central.
    ///
    /// In all other cases, bluetoothd finds the central until the central disconnects, but not for values
    /// from sockets (`find_device_state_by_att` in gatt-database.c). The subscriptions do not resume when the
    /// central reconnects.
    ///
    /// - Returns: The characteristics to which the central has subscribed, and whether it is still
    ///   subscribed.
    mutating func identified(_ central: Central) -> (characteristics: [AttributeHandle], areFound: Bool) {
        let characteristics = subscriptions(of: central.id).inOrder { $0.rawValue < $1.rawValue }
        guard central.addressKind == .public else {
            for characteristic in characteristics { remove(central.id, from: characteristic) }
            lost[central.id, default: []].formUnion(characteristics)
            return (characteristics, false)
        }
        for characteristic in characteristics {
            setRoute(of: Socket(characteristic: characteristic, central: central.id), from: .socket, to: .bus)
        }
        moved[central.id, default: []].formUnion(characteristics)
        return (characteristics, true)
    }

    /// Records changes of a connected central.
    mutating func changed(_ central: Central) {
        for characteristic in subscribers.keys {
            guard let index = index(of: central.id, in: characteristic) else { continue }
            subscribers[characteristic]?[index].central = central
        }
    }

    /// Records that bluetoothd has forgotten a central, regardless of the program that requested this.
    ///
    /// The subscriptions of a disconnected central remain (bluetoothd no longer calls `att_disconnected` in
    /// gatt-database.c; observed on 5.87). They resume when the central reconnects under the same address,
    /// and bluetoothd does not report the new subscription. The subscriptions end only if a value for all
    /// subscribers was sent through the bus in the meantime. A connected central is first disconnected, like
    /// a central that is not bonded.
    mutating func forgotten(_ central: Central.ID) {
        if leaving.remove(central) != nil { dormant[central] = nil }
        if dormant[central] != nil { forgotten.insert(central) }
    }

    /// Records the end of the time after a disconnection in which a forgotten central becomes known.
    mutating func hasLeft(_ central: Central.ID) {
        ambiguous[central] = nil
        leaving.remove(central)
    }

    /// Records that bluetoothd no longer counts any subscriber, at least none without a socket.
    ///
    /// - Returns: The centrals whose subscriptions have ended.
    mutating func stopped(_ characteristic: AttributeHandle) -> [Central.ID] {
        let ended = subscribers(of: characteristic).filter { $0.route == .bus }.map(\.central.id)
        for central in ended { remove(central, from: characteristic) }
        subscribedByStrangers[characteristic] = nil
        for central in dormant.keys { dormant[central]?.removeAll { $0 == characteristic } }
        for central in remains.keys { remains[central]?.remove(characteristic) }
        return ended
    }

    /// Records that a characteristic no longer exists.
    mutating func removed(_ characteristic: AttributeHandle) {
        subscribers[characteristic] = nil
        subscribedByStrangers[characteristic] = nil
        for central in dormant.keys { dormant[central]?.removeAll { $0 == characteristic } }
        for central in lost.keys { lost[central]?.remove(characteristic) }
        for central in moved.keys { moved[central]?.remove(characteristic) }
        for central in remains.keys { remains[central]?.remove(characteristic) }
        for central in ambiguous.keys { ambiguous[central]?.remove(characteristic) }
        unexplained = unexplained.filter { $0.characteristic != characteristic }
        endangered = endangered.filter { $0.characteristic != characteristic }
        rerouted.removeAll { $0.characteristic == characteristic }
    }

    /// Changes the route of a subscriber.
    ///
    /// - Returns: Whether the old route reached the subscriber.
    @discardableResult
    private mutating func setRoute(of socket: Socket, from old: Route, to new: Route) -> Bool {
        guard let index = index(of: socket.central, in: socket.characteristic),
            subscribers[socket.characteristic]?[index].route == old
        else { return false }
        subscribers[socket.characteristic]?[index].route = new
        rerouted.append(socket)
        return true
    }

    private func index(of central: Central.ID, in characteristic: AttributeHandle) -> Int? {
        subscribers[characteristic]?.firstIndex { $0.central.id == central }
    }

    private mutating func remove(_ central: Central.ID, from characteristic: AttributeHandle) {
        subscribers[characteristic]?.removeAll { $0.central.id == central }
        let socket = Socket(characteristic: characteristic, central: central)
        unexplained.remove(socket)
        endangered.remove(socket)
    }
}
