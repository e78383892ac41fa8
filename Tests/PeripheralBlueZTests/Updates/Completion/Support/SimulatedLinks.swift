import PeripheralBlueZ
import PeripheralCore

/// bluetoothd, a kernel and a controller with several links, in steps of a millisecond.
///
/// The controller has a few buffers for all links; the kernel gives the next one to the link that holds the
/// fewest. It looks for what there is to send when it is given something, and when the controller has sent
/// something, but not when a link ends whose buffers are free then (`hci_conn_del` in
/// net/bluetooth/hci_conn.c).
struct SimulatedLinks {
    struct Packet {
        var size: Int
        /// Whether an update ends with it.
        var isUpdate: Bool
    }

    enum Event {
        /// The controller was given a packet.
        case sent(Int, Packet)
        case completed(Int, Packet)
    }

    struct Link {
        /// Milliseconds for each packet.
        var period: Int
        var next = 0
        var stalledUntil = 0
        var waiting: [Packet] = []
        var held: [Packet] = []
        var arrived = 0
        /// How many were given that have neither arrived nor been dropped.
        var underWay = 0
    }

    var links: [Link]
    /// How many packets for one link bluetoothd can hand over to the kernel before the controller has them.
    ///
    /// Half of 212,992 bytes, the room of a socket, at 768 bytes for each packet.
    static let mostHandedOver = 138

    var buffers = 8
    /// How many of them one link may have.
    var mostOfOneLink = 8
    private(set) var time = 0
    private(set) var counters = LinkCounters()
    private(set) var events: [Event] = []
    private var isToTransmit = false

    init(periods: [Int]) {
        links = periods.map { Link(period: $0) }
    }

    mutating func give(_ size: Int, to link: Int, packetSize: Int = 251) {
        if links[link].waiting.count < Self.mostHandedOver { isToTransmit = true }
        links[link].underWay += 1
        var rest = size + 7
        while rest > 0 {
            links[link].waiting.append(
                Packet(size: min(rest, packetSize), isUpdate: rest <= packetSize)
            )
            rest -= packetSize
        }
    }

    /// A request that is answered later.
    mutating func request() {
        counters.packetsReceived += 1
    }

    /// The response to a request.
    mutating func respond(on link: Int) {
        isToTransmit = true
        links[link].waiting.append(Packet(size: 20, isUpdate: false))
    }

    mutating func disconnect(_ link: Int) {
        (links[link].waiting, links[link].held, links[link].underWay) = ([], [], 0)
    }

    mutating func step() {
        events = []
        time += 1
        for number in links.indices where links[number].next <= time && links[number].stalledUntil <= time {
            links[number].next = time + links[number].period
            guard !links[number].held.isEmpty else { continue }
            let packet = links[number].held.removeFirst()
            isToTransmit = true
            if packet.isUpdate {
                links[number].arrived += 1
                links[number].underWay -= 1
            }
            events.append(.completed(number, packet))
        }
        guard isToTransmit else { return }
        isToTransmit = false
        while links.reduce(0, { $0 + $1.held.count }) < buffers {
            var next: Int?
            for number in links.indices where !links[number].waiting.isEmpty {
                guard links[number].held.count < mostOfOneLink else { continue }
                if let best = next, links[best].held.count <= links[number].held.count { continue }
                next = number
            }
            guard let number = next else { break }
            let packet = links[number].waiting.removeFirst()
            links[number].held.append(packet)
            counters.packetsSent += 1
            counters.bytesSent += UInt32(packet.size + 5)
            events.append(.sent(number, packet))
        }
    }
}
