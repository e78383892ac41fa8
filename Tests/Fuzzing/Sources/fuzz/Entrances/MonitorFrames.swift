@testable import PeripheralBlueZ
@testable import PeripheralCore

extension Entrance {
    /// Frames of the kernel's monitor channel: what a controller and centrals make of them.
    ///
    /// An input is a sequence of frames, each behind its length. A length of 255 stands for a look, one of
    /// 254 for a loss.
    static let monitorFrames = Entrance(name: "monitor-frames") { bytes in
        var feed = Feed(bytes)
        var observer = LinkObserver(adapter: 0)
        var connections: Set<UInt16> = []
        while !feed.isAtEnd {
            switch feed.rest.first {
            case 255:
                _ = feed.byte()
                examine(observer.look(), connections)
            case 254:
                _ = feed.byte()
                check(observer.missed() == [.missed])
            default:
                let frame = feed.bytes()
                // A slice that begins elsewhere than at zero, as that of a buffer may.
                guard let parsed = MonitorFrame(([0, 0, 0] + frame)[3...]) else { continue }
                check(frame.count >= MonitorFrame.headerSize)
                check(Array(parsed.payload) == Array(frame.dropFirst(MonitorFrame.headerSize)))
                if frame.count > 7 { connections.insert((UInt16(frame[6]) | UInt16(frame[7]) << 8) & 0x0FFF) }
                let before = observer.packetsInFlight
                let observations = observer.take(parsed)
                examine(observations, of: parsed, before: before, observer)
            }
            check(observer.packetsInFlight <= connections.count * 256)
        }
        check(connections.reduce(0) { $0 + observer.packetsInFlight(on: $1) } == observer.packetsInFlight)
    }

    private static func examine(_ activity: LinkActivity, _ connections: Set<UInt16>) {
        for connection in activity.busy + activity.completing + activity.forgotten {
            check(connections.contains(connection))
        }
    }

    private static func examine(
        _ observations: [LinkObservation],
        of frame: MonitorFrame,
        before: Int,
        _ observer: LinkObserver
    ) {
        switch frame.kind {
        case .adapterRemoved, .adapterClosed:
            check(observations == (frame.adapter == 0 ? [.adapterGone] : []))
            if frame.adapter == 0 { check(observer.packetsInFlight == 0) }
        case .event: check(observer.packetsInFlight <= before)
        case .sentData: check(observer.packetsInFlight <= before + 1)
        }
        if frame.kind == .sentData, observer.packetsInFlight > before {
            plantedFault(frame.payload.suffix(6), count: 6)
        }
        // Nothing leaves that was not seen: each packet has at most the handles of one frame.
        check(observations.count <= max(1, before + 1) * 64)
    }
}
