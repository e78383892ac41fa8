internal import PeripheralCore
internal import PeripheralKit

/// Who has subscribed to what, and on which way each is reached.
///
/// A pure value. bluetoothd keeps the client characteristic configurations to itself: what is known of them comes from
/// calls, from the ends of sockets, and from connections, each of which tells only a part.
struct SubscriptionTable {
    /// How a subscriber is reached.
    enum Route: Hashable {
        /// By a socket of its own.
        case socket
        /// By a signal on the bus, which reaches all subscribers.
        case bus
    }

    struct Subscriber: Hashable {
        var central: Central
        var route: Route
    }

    /// A socket, by whom it reaches.
    struct Socket: Hashable {
        var characteristic: AttributeHandle
        var central: Central.ID
    }

    /// In the order in which bluetoothd has their sockets, too: that of the subscriptions.
    private var subscribers: [AttributeHandle: [Subscriber]] = [:]
    /// What somebody has subscribed to of whom bluetoothd has not told.
    private var subscribedByStrangers: Set<AttributeHandle> = []
    /// The subscriptions of bonded centrals that are away: bluetoothd keeps them, and says nothing when they resume.
    private var dormant: [Central.ID: [AttributeHandle]] = [:]
    /// Those among them that bluetoothd has forgotten; it drops their subscriptions when it would send them a value.
    private var forgotten: Set<Central.ID> = []
    /// The centrals that went away a moment ago, perhaps since they are being forgotten.
    private var leaving: Set<Central.ID> = []
    /// The sockets that were closed a moment ago, it is not yet known why.
    private var unexplained: Set<Socket> = []
    /// The sockets that are about to be closed by mistake.
    private var endangered: Set<Socket> = []
    /// Where somebody's leaving may have closed another socket than the one that it seems to have closed, by who has left.
    private var ambiguous: [Central.ID: Set<AttributeHandle>] = [:]
    /// What connected centrals have subscribed to under an address by which bluetoothd does not find them any more.
    private var lost: [Central.ID: Set<AttributeHandle>] = [:]
    /// What connected centrals have subscribed to under an earlier address, by which bluetoothd finds them until they leave.
    private var moved: [Central.ID: Set<AttributeHandle>] = [:]
    /// The subscriptions that bluetoothd has kept of such centrals, and drops when it would send them a value.
    private var remains: [Central.ID: Set<AttributeHandle>] = [:]
    /// Those who are reached on another way than was told.
    private var rerouted: [Socket] = []

    func subscribers(of characteristic: AttributeHandle) -> [Subscriber] {
        subscribers[characteristic] ?? []
    }

    /// Whether it is not known yet if a socket is closed, or is about to be: in a moment, its central is either reached by
    /// it again, or only with others.
    func isUncertain(_ socket: Socket) -> Bool {
        unexplained.contains(socket) || endangered.contains(socket)
    }

    /// Those who are reached on another way than when they subscribed, or than was told by the last call.
    mutating func takeRerouted() -> [(characteristic: AttributeHandle, subscriber: Subscriber)] {
        defer { rerouted = [] }
        return rerouted.compactMap { socket in
            let subscriber = subscribers(of: socket.characteristic).first { $0.central.id == socket.central }
            return subscriber.map { (socket.characteristic, $0) }
        }
    }

    /// How many have subscribed, as far as is known; those who are not known by name count as one.
    func count(of characteristic: AttributeHandle) -> Int {
        subscribers(of: characteristic).count + (subscribedByStrangers.contains(characteristic) ? 1 : 0)
    }

    /// Whether a central has subscribed, and bluetoothd can count no other, be it away.
    func isOnlySubscriber(_ central: Central.ID, of characteristic: AttributeHandle) -> Bool {
        index(of: central, in: characteristic) != nil && !isCounted(characteristic, besides: central)
    }

    /// Whether bluetoothd can count a subscriber, be it away, besides one.
    func isCounted(_ characteristic: AttributeHandle, besides central: Central.ID? = nil) -> Bool {
        subscribers(of: characteristic).contains { $0.central.id != central }
            || subscribedByStrangers.contains(characteristic)
            || dormant.values.contains { $0.contains(characteristic) }
            || [lost, moved, remains].contains { $0.values.contains { $0.contains(characteristic) } }
    }

    /// Whether subscriptions to a characteristic resume when one of these centrals is reached.
    func isAwaited(_ characteristic: AttributeHandle, among returning: some Sequence<Central.ID>) -> Bool {
        returning.contains { dormant[$0]?.contains(characteristic) == true }
    }

    /// What a central has subscribed to.
    func subscriptions(of central: Central.ID) -> [AttributeHandle] {
        subscribers.keys.filter { index(of: central, in: $0) != nil }
    }

    /// Takes note that somebody has subscribed whom bluetoothd does not name.
    mutating func subscribedByStranger(_ characteristic: AttributeHandle) {
        subscribedByStrangers.insert(characteristic)
    }

    /// Takes note that a central has subscribed, anew perhaps.
    mutating func subscribed(_ central: Central, to characteristic: AttributeHandle, by route: Route) {
        remove(central.id, from: characteristic)
        if moved[central.id]?.remove(characteristic) != nil {
            remains[central.id, default: []].insert(characteristic)
        }
        subscribers[characteristic, default: []].append(Subscriber(central: central, route: route))
    }

    /// Takes note of the end of the socket by which a connected central is reached.
    ///
    /// bluetoothd closes it when the central unsubscribes. But when an unbonded central leaves that has subscribed to the
    /// same characteristic, bluetoothd closes the first socket that it has, whoever is reached by it (`clear_ccc_state` in
    /// gatt-database.c; seen on 5.82 and 5.87). Whose socket it was is still subscribed then, and reached by the bus only.
    ///
    /// - Returns: Whether ``explain(_:)`` is to be called in a moment: which of the two it is may not be known yet.
    mutating func closed(_ socket: Socket) -> Bool {
        guard endangered.remove(socket) == nil, setRoute(of: socket, from: .socket, to: .bus),
            !ambiguous.values.contains(where: { $0.contains(socket.characteristic) })
        else { return false }
        unexplained.insert(socket)
        return true
    }

    /// Takes note that the moment is over in which somebody's leaving could have explained the end of a socket.
    ///
    /// - Returns: Whether nobody's did: the central has unsubscribed.
    mutating func explain(_ socket: Socket) -> Bool {
        guard unexplained.contains(socket) else { return false }
        remove(socket.central, from: socket.characteristic)
        return true
    }

    /// Takes note that a central is gone.
    ///
    /// - Returns: The sockets that are going to be closed by mistake in the next moment, if they are not closed already:
    ///   what is sent by them is lost, so that the bus is the way to their centrals. Thereafter,
    ///   ``forgetDanger(to:)`` is to be called.
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
                    // It may as well have unsubscribed just before: then the next socket is closed by mistake.
                    ambiguous[central.id, default: []].insert(characteristic)
                }
            }
        }
        return victims
    }

    /// Takes note that a value goes to all subscribers by the bus.
    ///
    /// Where one of them was forgotten while it was away, bluetoothd drops all that it has kept of it
    /// (`send_notification_to_device` in gatt-database.c), as when a central leaves that is not bonded.
    ///
    /// - Returns: As ``disconnected(_:)`` does.
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

    /// The first socket that bluetoothd has, as far as is known.
    private func firstSocket(of characteristic: AttributeHandle) -> Socket? {
        subscribers(of: characteristic).lazy.map { subscriber in
            (Socket(characteristic: characteristic, central: subscriber.central.id), subscriber.route)
        }.first { socket, route in
            route == .socket || unexplained.contains(socket)
        }?.0
    }

    /// Takes note that a socket is going to be closed by mistake.
    ///
    /// - Returns: Whether that is still to come.
    private mutating func endanger(_ socket: Socket) -> Bool {
        guard unexplained.remove(socket) == nil else { return false }
        setRoute(of: socket, from: .socket, to: .bus)
        endangered.insert(socket)
        return true
    }

    /// Takes note that the moment is over in which a socket could have been closed by mistake.
    mutating func forgetDanger(to socket: Socket) {
        guard endangered.remove(socket) != nil else { return }
        setRoute(of: socket, from: .bus, to: .socket)
    }

    /// Takes note that a central is back.
    ///
    /// - Returns: Whether subscriptions of it resume as soon as bluetoothd reaches it: ``resumed(_:)`` is to be called then.
    mutating func connected(_ central: Central) -> Bool {
        leaving.remove(central.id)
        forgotten.remove(central.id)
        return dormant[central.id]?.isEmpty == false
    }

    /// Resumes the subscriptions of a bonded central that bluetoothd reaches again, without sockets.
    ///
    /// - Returns: The characteristics that it is subscribed to.
    mutating func resumed(_ central: Central) -> [AttributeHandle] {
        guard let resumed = dormant.removeValue(forKey: central.id) else { return [] }
        for characteristic in resumed { subscribed(central, to: characteristic, by: .bus) }
        return resumed
    }

    /// Takes note that a connected central has shown its lasting address.
    ///
    /// bluetoothd has its subscriptions under the earlier address.
    ///
    /// Where both addresses are random, bluetoothd does not find the central by the earlier one
    /// (`device_addr_type_cmp` in device.c; seen on 5.66 and 5.87). The subscriptions have ended. bluetoothd
    /// drops them when the central leaves, as those of one that is not bonded.
    ///
    /// Otherwise it finds the central until that leaves, but not for values that come by sockets
    /// (`find_device_state_by_att` in gatt-database.c). The subscriptions do not resume when the central returns.
    ///
    /// - Returns: The characteristics to which the central has been subscribed, and whether it still is.
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

    /// Keeps what has changed about a connected central.
    mutating func changed(_ central: Central) {
        for characteristic in subscribers.keys {
            guard let index = index(of: central.id, in: characteristic) else { continue }
            subscribers[characteristic]?[index].central = central
        }
    }

    /// Takes note that bluetoothd has forgotten a central, whoever has asked for that.
    ///
    /// The subscriptions of one that is away outlive that (`att_disconnected` in gatt-database.c is not called any more;
    /// seen on 5.87): they resume when it returns under the same address, and bluetoothd does not tell that it subscribes
    /// anew, unless a value for all has gone by the bus meanwhile. Who is connected is disconnected first, as a stranger.
    mutating func forgotten(_ central: Central.ID) {
        if leaving.remove(central) != nil { dormant[central] = nil }
        if dormant[central] != nil { forgotten.insert(central) }
    }

    /// Takes note that the moment of a central's leaving is over: it has left for another reason than being forgotten,
    /// which would be known by now.
    mutating func hasLeft(_ central: Central.ID) {
        ambiguous[central] = nil
        leaving.remove(central)
    }

    /// Takes note that bluetoothd counts no subscriber any more, of those without a socket at least.
    ///
    /// - Returns: Whose subscriptions have ended.
    mutating func stopped(_ characteristic: AttributeHandle) -> [Central.ID] {
        let ended = subscribers(of: characteristic).filter { $0.route == .bus }.map(\.central.id)
        for central in ended { remove(central, from: characteristic) }
        subscribedByStrangers.remove(characteristic)
        for central in dormant.keys { dormant[central]?.removeAll { $0 == characteristic } }
        for central in remains.keys { remains[central]?.remove(characteristic) }
        return ended
    }

    /// - Returns: Whether it was reached by that route.
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
