internal import PeripheralCore

/// Follows updates from the kernel to the controller, and from there to the central.
///
/// The observer is a pure value. It receives frames of the monitor channel, and returns completions. It reads
/// to which attribute an update belongs, but never the value. The observer trusts nothing in a frame, and
/// ignores a malformed frame.
struct LinkObserver {
    /// The packets of a connection that the controller has not yet sent.
    private struct Link {
        var connection: UInt16
        /// For each packet, the updates that end with it.
        var packets: [[AttributeHandle]] = []
        /// The number of missing bytes of incomplete data, and the updates in that data.
        var missing = 0
        var updates: [AttributeHandle] = []
        /// Whether the link has carried packets since the last look.
        var hasMoved = true
        /// Whether the controller has sent packets since the last look.
        var hasCompleted = false
        /// Whether some of the packets may have been sent long ago without being observed.
        var isDoubtful = false
        /// The number of successive looks since then that have shown no traffic of the link.
        var silentLooks = 0
    }

    /// The number of looks without traffic after which a doubtful link may be empty.
    private static let silentLooks = 4

    /// A number of packets that is larger than the room of any controller.
    ///
    /// Earlier packets have been sent, although this was not observed.
    private static let mostPackets = 256
    /// The fixed channel of the Attribute Protocol (Core Specification, Vol 3, Part A, 2.1).
    private static let attributeChannel: UInt16 = 0x0004

    private let adapter: UInt16
    /// There are few links, so the observer searches an array.
    private var links: [Link] = []
    /// Whether any packet was sent since the last look.
    private var hasCompleted = false

    /// Creates an observer for the adapter with a number.
    init(adapter: UInt16) {
        self.adapter = adapter
    }

    /// The number of packets that the controller has not yet sent.
    var packetsInFlight: Int {
        links.reduce(0) { $0 + $1.packets.count }
    }

    /// Returns the number of packets that the controller has not yet sent on a connection.
    func packetsInFlight(on connection: UInt16) -> Int {
        links.first { $0.connection == connection }?.packets.count ?? 0
    }

    /// Returns the activity of the links since the last look.
    ///
    /// If there is no traffic on a doubtful link for a while, the observer forgets its packets. It is then
    /// unknown whether the link is empty or does not work.
    mutating func look() -> LinkActivity {
        var activity = LinkActivity()
        for index in links.indices {
            links[index].silentLooks = links[index].hasMoved ? 0 : links[index].silentLooks + 1
            if links[index].isDoubtful && links[index].silentLooks >= Self.silentLooks {
                if !links[index].packets.isEmpty { activity.forgotten.append(links[index].connection) }
                links[index] = Link(connection: links[index].connection, hasMoved: false)
            }
            let hasPackets = !links[index].packets.isEmpty
            if hasPackets && !hasCompleted { activity.isHeldUp = true }
            if hasPackets || links[index].hasMoved { activity.busy.append(links[index].connection) }
            if links[index].hasCompleted { activity.completing.append(links[index].connection) }
            (links[index].hasMoved, links[index].hasCompleted) = (false, false)
        }
        hasCompleted = false
        return activity
    }

    /// Records that frames were missed.
    ///
    /// Packets that were observed on the way to the controller keep their places. If such packets are already
    /// sent, their completions are observed late, but never early.
    mutating func missed() -> [LinkObservation] {
        for index in links.indices { links[index].isDoubtful = true }
        return [.missed]
    }

    /// Processes a frame of the channel.
    mutating func take(_ frame: MonitorFrame) -> [LinkObservation] {
        guard frame.adapter == adapter else { return [] }
        switch frame.kind {
        case .adapterRemoved, .adapterClosed:
            links = []
            return [.adapterGone]
        case .event: return take(event: frame.payload)
        case .sentData: return take(data: frame.payload)
        }
    }
}

// MARK: - Data

extension LinkObserver {
    /// Processes a packet for the controller (Core Specification, Vol 4, Part E, 5.4.2).
    private mutating func take(data: ArraySlice<UInt8>) -> [LinkObservation] {
        guard let head = data.littleEndian(at: 0), let length = data.littleEndian(at: 2) else { return [] }
        let connection = head & 0x0FFF
        // 0b01 continues data of an earlier packet.
        let isFirst = head & 0x3000 != 0x1000
        let index = index(of: connection)
        links[index].hasMoved = true
        if isFirst {
            let content = data.dropFirst(4)
            // The next bytes contain the length of the data and its channel.
            guard let size = content.littleEndian(at: 0), let channel = content.littleEndian(at: 2) else {
                return []
            }
            links[index].updates =
                channel == Self.attributeChannel ? Self.updates(in: content.dropFirst(4), size) : []
            links[index].missing = 4 + Int(size)
        }
        links[index].missing -= Int(length)
        let isLast = links[index].missing <= 0
        links[index].packets.append(isLast ? links[index].updates : [])
        if isLast { (links[index].updates, links[index].missing) = ([], 0) }
        var observations: [LinkObservation] = []
        while links[index].packets.count > Self.mostPackets {
            observations += Self.completions(of: links[index].packets.removeFirst(), on: connection)
        }
        return observations
    }

    /// The attributes that a PDU updates (Core Specification, Vol 3, Part F, 3.4.7).
    private static func updates(in pdu: ArraySlice<UInt8>, _ size: UInt16) -> [AttributeHandle] {
        switch pdu.byte(at: 0) {
        case 0x1B, 0x1D:
            guard size >= 3, let handle = pdu.littleEndian(at: 1) else { return [] }
            return [AttributeHandle(rawValue: handle)]
        case 0x23:
            return updates(inMultiple: pdu.dropFirst())
        default: return []
        }
    }

    /// The attributes of a Multiple Handle Value Notification: handle, length and value of each.
    private static func updates(inMultiple pairs: ArraySlice<UInt8>) -> [AttributeHandle] {
        var updates: [AttributeHandle] = []
        var rest = pairs
        while let handle = rest.littleEndian(at: 0), let length = rest.littleEndian(at: 2) {
            updates.append(AttributeHandle(rawValue: handle))
            rest = rest.dropFirst(4 + Int(length))
        }
        return updates
    }

    /// Returns the index of a link, and adds the link if it is missing.
    private mutating func index(of connection: UInt16) -> Int {
        if let index = links.firstIndex(where: { $0.connection == connection }) { return index }
        links.append(Link(connection: connection))
        return links.count - 1
    }

    private static func completions(of updates: [AttributeHandle], on connection: UInt16) -> [LinkObservation]
    {
        updates.map { .completed(attribute: $0, connection: connection) }
    }
}

// MARK: - Events

extension LinkObserver {
    /// Processes an event of the controller (Core Specification, Vol 4, Part E, 5.4.4).
    private mutating func take(event: ArraySlice<UInt8>) -> [LinkObservation] {
        let parameters = event.dropFirst(2)
        switch event.byte(at: 0) {
        case 0x05: return disconnected(parameters)
        case 0x13: return completed(parameters)
        default: return []
        }
    }

    /// Disconnection Complete (7.7.5): status, connection, reason.
    private mutating func disconnected(_ parameters: ArraySlice<UInt8>) -> [LinkObservation] {
        guard parameters.byte(at: 0) == 0, let head = parameters.littleEndian(at: 1) else { return [] }
        let connection = head & 0x0FFF
        links.removeAll { $0.connection == connection }
        return [.ended(connection: connection)]
    }

    /// Number Of Completed Packets (7.7.19): the number of sent packets of each of several connections.
    private mutating func completed(_ parameters: ArraySlice<UInt8>) -> [LinkObservation] {
        guard let count = parameters.byte(at: 0) else { return [] }
        var observations: [LinkObservation] = []
        for entry in 0..<Int(count) {
            guard let head = parameters.littleEndian(at: 1 + 4 * entry),
                let packets = parameters.littleEndian(at: 3 + 4 * entry)
            else { break }
            let connection = head & 0x0FFF
            if packets > 0 { hasCompleted = true }
            guard let index = links.firstIndex(where: { $0.connection == connection }) else { continue }
            links[index].hasMoved = true
            if packets > 0 { links[index].hasCompleted = true }
            for _ in 0..<min(Int(packets), links[index].packets.count) {
                observations += Self.completions(of: links[index].packets.removeFirst(), on: connection)
            }
        }
        return observations
    }
}
