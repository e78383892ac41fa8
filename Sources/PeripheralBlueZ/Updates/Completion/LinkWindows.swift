internal import PeripheralCore
internal import PeripheralKit

/// The number of updates that may be in flight to each central, adapted to the speed of its link.
///
/// The controller has room for a few packets, which all links share. If the packets of a slow link fill the
/// room, they delay all other links. Therefore each link gets a window that is just large enough to keep the
/// link busy:
///
/// - The window grows if the controller often has no packet of the link, although the window is full.
/// - The window shrinks if the controller always has several packets of the link.
///
/// If only one central is connected, its window is the largest, because nothing else needs the room.
///
/// The type is a pure value. It receives connections and completed updates, and returns changed windows.
struct LinkWindows {
    private struct Link {
        let central: Central.ID
        var window: Int
        /// The window that the host knows.
        var reported: Int?
        /// The updates that were completed in this period.
        var completed = 0
        /// The number of these updates after which the controller had no packet of the link.
        var starved = 0
        /// The smallest number of packets of the link in the controller in this period.
        var reserve = Int.max
        /// Whether updates have been in flight since the last look.
        var isActive = false
        /// Whether updates were in flight before the last look.
        var wasActive = false
    }

    private static let range = 2...16
    /// The window of a central that is not the first.
    private static let initial = 4
    /// The number of packets in the controller that keep a link busy until the next packet follows.
    private static let usefulReserve = 1
    /// A period ends after this number of full windows.
    private static let period = 2
    /// The window grows if one of so many updates has left the controller without a packet of the link.
    private static let rareStarvation = 4
    /// The room of most controllers, assumed if the kernel does not know the room.
    private static let usualRoom = 8

    /// There are few links, so linear searches are enough.
    private var links: [Link] = []
    /// The number of packets that the controller has room for, as far as it is known.
    private var room: Int
    /// The number of packets in the controller.
    private var packets = 0

    /// Creates the windows of an adapter without connections.
    ///
    /// - Parameter room: The number of packets that the controller has room for; `nil` if it is unknown.
    init(room: Int?) {
        self.room = room ?? Self.usualRoom
    }

    /// Whether several links share the room of the controller.
    var isShared: Bool { links.count > 1 }

    mutating func connected(_ central: Central.ID) {
        guard index(of: central) == nil else { return }
        links.append(Link(central: central, window: Self.initial))
    }

    mutating func disconnected(_ central: Central.ID) {
        links.removeAll { $0.central == central }
    }

    /// Records that updates for a central are in flight.
    ///
    /// - Returns: Whether this was not known.
    mutating func began(for central: Central.ID) -> Bool {
        guard let index = index(of: central), !links[index].isActive else { return false }
        links[index].isActive = true
        return true
    }

    /// Records the number of packets in the controller.
    mutating func observed(packets: Int) {
        self.packets = packets
        // The kernel may know only the room for Bluetooth Classic.
        room = max(room, packets)
    }

    /// Records that updates for a central are completed.
    ///
    /// - Parameters:
    ///   - count: The number of these updates.
    ///   - central: The central.
    ///   - inFlight: The number of updates for the central that were in flight before.
    ///   - remaining: The number of packets of the link in the controller.
    mutating func completed(_ count: Int, for central: Central.ID, of inFlight: Int, remaining: Int) {
        guard let index = index(of: central) else { return }
        let window = links[index].window
        links[index].completed += count
        links[index].reserve = min(links[index].reserve, remaining)
        // If the controller is full, the next packets wait in the kernel, and a larger window does not help.
        if remaining == 0, inFlight >= window, packets < room { links[index].starved += count }
        guard links[index].completed >= Self.period * window else { return }
        if links[index].starved * Self.rareStarvation > links[index].completed {
            links[index].window = min(window + 1, Self.range.upperBound)
        } else if links[index].reserve > Self.usefulReserve {
            let surplus = links[index].reserve - Self.usefulReserve
            links[index].window = max(window - surplus, Self.range.lowerBound)
        }
        (links[index].completed, links[index].starved, links[index].reserve) = (0, 0, .max)
    }

    /// Records a look at the links, which ends the current time of activity.
    ///
    /// - Parameter active: The centrals with updates in flight.
    mutating func looked(active: Set<Central.ID>) {
        for index in links.indices {
            links[index].wasActive = links[index].isActive
            links[index].isActive = active.contains(links[index].central)
        }
    }

    /// Returns the windows that have changed since the last call.
    mutating func takeChanges() -> [(central: Central.ID, window: Int)] {
        let limit = limit
        var changes: [(Central.ID, Int)] = []
        for index in links.indices {
            links[index].window = isShared ? min(links[index].window, limit) : limit
            guard links[index].window != links[index].reported else { continue }
            links[index].reported = links[index].window
            changes.append((links[index].central, links[index].window))
        }
        return changes
    }

    /// The largest window of a link.
    ///
    /// If a link carries nothing any more, its packets stay in the controller until the connection is lost.
    /// The rest of the room is for the other links, and for responses to requests.
    private var limit: Int {
        guard isShared else { return Self.range.upperBound }
        let others = max(links.count { $0.isActive || $0.wasActive } - 1, 0)
        let limit = others == 0 ? room - 1 : max(room - others * Self.range.lowerBound, room / 2)
        return min(max(limit, Self.range.lowerBound), Self.range.upperBound)
    }

    private func index(of central: Central.ID) -> Int? {
        links.firstIndex { $0.central == central }
    }
}
