import PeripheralCore

@testable import PeripheralBlueZ
@testable import PeripheralKit

extension Entrance {
    /// Events of a controller about its links, while the program waits for answers.
    ///
    /// An input is a sequence of packets, each behind its length. A length of 255 stands for a central that
    /// bluetoothd reports, one of 254 for a central that bluetoothd reports no more, and one of 253 for
    /// bluetoothd's reason.
    static let linkEvents = Entrance(name: "link-events") { bytes in
        let start = ContinuousClock.now
        var feed = Feed(bytes)
        var (table, questions) = (LinkTable(), LinkQuestions())
        while !feed.isAtEnd {
            switch feed.rest.first {
            case 255:
                _ = feed.byte()
                guard let central = central(&feed) else { continue }
                let connection = UInt16(feed.byte())
                table.connected(central)
                table.learn([(connection, central)])
                check(table.connection(of: central) != nil)
                var commands = [LinkCommand.readSignalStrength(connection: connection)]
                if let units = try? ConnectionPreference.lowLatency.units() {
                    commands.append(.update(connection: connection, units))
                }
                for command in commands where !questions.contains(command) {
                    check(command.packet.count == 4 + Int(command.packet[3]))
                    _ = questions.add(command, at: start)
                }
            case 254:
                _ = feed.byte()
                guard let central = central(&feed) else { continue }
                _ = table.disconnected(central, isFollowed: true)
                check(table.connection(of: central) == nil)
                check(table.parameters(of: central) == nil)
            case 253:
                _ = feed.byte()
                guard let central = central(&feed) else { continue }
                let words = ["Timeout", "Remote", "Local", "Authentication", "Unknown"]
                let word = words[Int(feed.byte()) % words.count]
                let cause = DisconnectionReason.Cause(reason: "org.bluez.Reason." + word)
                check((cause == .unknown) == (word == "Unknown"))
                table.take(cause, of: central)
                let reason = table.disconnected(central)
                check(reason.code != nil || reason.cause == cause)
            default:
                let packet = feed.bytes()
                // A slice that begins elsewhere than at zero, as that of a buffer may.
                guard let event = LinkEvent(([0, 0, 0] + packet)[3...]) else { continue }
                check(LinkEvent(packet[...]) == event)
                examine(event, packet)
                if let changed = table.take(event) { check(table.connection(of: changed) != nil) }
                questions.take(event)
            }
        }
        questions.endLate(at: start + LinkQuestions.limit)
        check(questions.deadline == nil)
    }

    private static func central(_ feed: inout Feed) -> Central.ID? {
        DeviceAddress(rawValue: 0xC000_0000_0000 | UInt64(feed.byte())).map(Central.ID.init)
    }

    private static func examine(_ event: LinkEvent, _ packet: [UInt8]) {
        switch event {
        case .began(let connection, let parameters), .changed(let connection, _, let parameters):
            check(connection <= 0x0FFF)
            check(parameters.interval <= .milliseconds(81_919))
            plantedFault(packet.suffix(6), count: 6)
        case .ended(let connection, _), .measured(let connection, _, _): check(connection <= 0x0FFF)
        case .begun: break
        }
    }
}
