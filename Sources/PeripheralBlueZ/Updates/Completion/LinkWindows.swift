internal import PeripheralCore
internal import PeripheralKit

/// The number of updates that may be in flight to each central, adapted to the speed of its link.
///
/// The controller has room for a few packets, which all links share. If the packets of a slow link fill the
/// room, they delay all other links. Therefore each link gets a window that is just large enough to keep the
/// link busy:
///
/// - The window grows if the controller often has no packet of the link, although the window is full.
/// - The window shrinks if the controller always has several packets of the link, or if a link stalls.
///
/// If only one central is connected, its window is the largest, because nothing else needs the room.
///
/// The type is a pure value. It receives connections and completed updates, and returns changed windows.
struct LinkWindows {
    private struct Link {
        let central: Central.ID
        var window = LinkWindows.range.lowerBound
        /// The window that the host knows.
        var reported: Int?
        /// The updates that were completed in this period, and the rounds in which they were completed.
        var completed = 0
        var rounds = 0
        /// The number of rounds after which the controller had no packet of the link.
        var emptyRounds = 0
        /// The smallest number of packets of the link in the controller after a round.
        var reserve = Int.max
        /// Whether updates have been in flight since the last look.
        var isActive = false
        /// Whether updates were in flight before the last look.
        var wasActive = false
        /// The time since which updates are in flight, or of the last look that found a sent packet.
        var lastMove: ContinuousClock.Instant?

        mutating func beginPeriod() {
            (completed, rounds, emptyRounds, reserve) = (0, 0, 0, .max)
        }
    }

    private static let range = 2...16
    /// The number of packets in the controller that keep a link busy until the next packet follows.
    private static let usefulReserve = 1
    /// A period ends after this number of full windows.
    private static let period = 2
    /// The window grows if more than one of so many rounds leaves the controller without a packet.
    private static let toleratedRounds = 4
    /// The time after which a link with updates in flight but without a sent packet is stalled.
    ///
    /// The longest connection interval is 4 s (Core Specification, Vol 6, Part B, 4.5.1).
    private static let stallTime = Duration.seconds(4)

    /// There are few links, so linear searches are enough.
    private var links: [Link] = []
    /// The number of packets that the controller has room for.
    private let room: Int
    /// The largest number of packets in the controller so far, at least the known room.
    private var mostPackets: Int

    /// Creates the windows of an adapter without connections.
    ///
    /// - Parameter room: The number of packets that the controller has room for.
    init(room: Int) {
        (self.room, mostPackets) = (room, room)
    }

    /// Whether several links share the room of the controller.
    var isShared: Bool { links.count > 1 }

    mutating func connected(_ central: Central.ID) {
        if index(of: central) == nil { links.append(Link(central: central)) }
    }

    mutating func disconnected(_ central: Central.ID) {
        links.removeAll { $0.central == central }
    }

    /// Records that an update for a central is in flight.
    ///
    /// - Returns: Whether this was not known.
    mutating func began(for central: Central.ID) -> Bool {
        guard let index = index(of: central), !links[index].isActive else { return false }
        links[index].isActive = true
        return true
    }

    /// Records that updates for a central were completed in one round.
    ///
    /// - Parameters:
    ///   - count: The number of these updates.
    ///   - central: The central.
    ///   - inFlight: The number of updates for the central that were in flight before.
    ///   - remaining: The number of packets of the link in the controller.
    ///   - packets: The number of packets of all links in the controller.
    mutating func completed(
        _ count: Int,
        for central: Central.ID,
        of inFlight: Int,
        remaining: Int,
        among packets: Int
    ) {
        guard let index = index(of: central) else { return }
        let window = links[index].window
        mostPackets = max(mostPackets, packets)
        links[index].completed += count
        links[index].rounds += 1
        links[index].reserve = min(links[index].reserve, remaining)
        // If the controller is full, the next packets wait in the kernel, and a larger window does not help.
        if remaining == 0, inFlight >= window, packets < mostPackets { links[index].emptyRounds += 1 }
        guard links[index].completed >= Self.period * window else { return }
        if links[index].emptyRounds * Self.toleratedRounds > links[index].rounds {
            links[index].window = max(window, min(window + 1, limit(of: links[index])))
        } else if links[index].reserve > Self.usefulReserve {
            let surplus = links[index].reserve - Self.usefulReserve
            links[index].window = max(window - surplus, Self.range.lowerBound)
        }
        links[index].beginPeriod()
    }

    /// Records a look at the links.
    ///
    /// - Parameters:
    ///   - active: The centrals with updates in flight.
    ///   - moving: The centrals that packets were sent to since the last look.
    ///   - now: The time of the look.
    mutating func looked(
        active: Set<Central.ID>,
        moving: Set<Central.ID>,
        at now: ContinuousClock.Instant
    ) {
        for index in links.indices {
            let central = links[index].central
            links[index].wasActive = links[index].isActive
            links[index].isActive = active.contains(central)
            guard links[index].isActive, let last = links[index].lastMove, !moving.contains(central) else {
                links[index].lastMove = links[index].isActive ? now : nil
                continue
            }
            if now - last > Self.stallTime {
                links[index].window = Self.range.lowerBound
                links[index].beginPeriod()
            }
        }
    }

    /// Records that no updates are in flight.
    mutating func rested() {
        for index in links.indices {
            (links[index].wasActive, links[index].isActive) = (links[index].isActive, false)
            links[index].lastMove = nil
        }
    }

    /// Returns the windows that have changed since the last call.
    mutating func takeChanges() -> [(central: Central.ID, window: Int)] {
        var changes: [(Central.ID, Int)] = []
        for index in links.indices {
            let limit = limit(of: links[index])
            if isShared { links[index].window = min(links[index].window, limit) }
            let window = isShared ? links[index].window : limit
            guard window != links[index].reported else { continue }
            links[index].reported = window
            changes.append((links[index].central, window))
        }
        return changes
    }

    /// Returns the largest window of a link.
    ///
    /// If a link carries nothing any more, its packets stay in the controller until the connection is lost.
    /// The rest of the room is for the other links, and for responses to requests.
    private func limit(of link: Link) -> Int {
        guard isShared else { return Self.range.upperBound }
        let others = links.count { $0.central != link.central && ($0.isActive || $0.wasActive) }
        let rest = room - 1 - others * Self.range.lowerBound
        let limit = others == 0 ? rest : max(rest, room / 2)
        return min(max(limit, Self.range.lowerBound), Self.range.upperBound)
    }

    private func index(of central: Central.ID) -> Int? {
        links.firstIndex { $0.central == central }
    }
}
