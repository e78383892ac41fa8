internal import PeripheralCore
internal import PeripheralKit
internal import PeripheralTesting
internal import PeripheralVirtualServer
private import Synchronization

extension ConformanceSuite {
    static let channels: [Scenario] = [
        channelEchoes, shortestAndLongestPackets, severalChannelsAreOpen, listenersHaveTheirOwnNumbers,
        takenNumberMoves, randomCentralDisturbsNoOther, slowReaderLosesNothing,
        slowCentralLosesNothing, lastPacketsArrive, centralClosesChannel, centralLeavesItsChannel,
    ]

    /// Echoes each packet.
    static let echo: @Sendable (L2CAPChannel) async throws -> Void = { channel in
        for await packet in channel { try await channel.send(packet) }
    }

    /// Returns a peripheral with a listener, and a service that publishes its PSM.
    static func peripheral(
        listening listener: L2CAPListener,
        pairing: Pairing = .none,
        restorationIdentifier: String? = nil
    ) -> Peripheral {
        Peripheral("Channels", restorationIdentifier: restorationIdentifier, pairing: pairing) {
            GATTService(ScenarioUUID.service) { listener.psm }
            listener
        }
    }

    private static func scenarioRun(
        listening listener: L2CAPListener,
        _ body: @escaping @Sendable (any TestCentral, PeripheralSession, _ psm: UInt16) async throws -> Void
    ) -> ScenarioRun {
        ScenarioRun(peripheral(listening: listener)) { central, session in
            let psm = try await central.read(listener.psm)
            try expect("PSM of the session", try session.psm(of: listener), is: psm)
            try await body(central, session, psm)
        }
    }

    /// Sends a packet over a channel that echoes, and checks the answer.
    static func expectEcho(of packet: [UInt8], over channel: any TestChannel) async throws {
        try await channel.send(packet)
        try expect("echo of \(packet.count) bytes", try await received(from: channel), is: packet)
    }

    static func received(from channel: any TestChannel) async throws -> [UInt8] {
        guard let packet = try await channel.receive() else {
            throw ConformanceFailure(description: "The channel has ended before a packet arrived.")
        }
        return packet
    }

    static let channelEchoes = Scenario("packets of each length pass a channel in both directions") {
        scenarioRun(listening: L2CAPListener(mtu: 1000, echo)) { central, session, psm in
            let channel = try await central.openChannel(psm: psm, mtu: 1000)
            try expect("MTU of the peripheral", channel.sendMTU, is: 1000)
            for length in [1, 2, 22, 23, 24, 251, 252, 253, 500, 999, 1000] {
                try await expectEcho(of: pattern(length), over: channel)
            }
            try await channel.close()
        }
    }

    static let shortestAndLongestPackets = Scenario("a channel carries the shortest and the longest packets")
    {
        let short = L2CAPListener(mtu: 23, echo)
        let long = L2CAPListener(mtu: 65_535, echo)
        let peripheral = Peripheral("Lengths") {
            GATTService(ScenarioUUID.service) { short.psm }
            GATTService(ScenarioUUID.otherValue) { long.psm }
            short
            long
        }
        return ScenarioRun(peripheral) { central, session in
            let shortest = try await central.openChannel(psm: central.read(short.psm), mtu: 23)
            for length in [1, 23] { try await expectEcho(of: pattern(length), over: shortest) }
            let longest = try await central.openChannel(psm: central.read(long.psm), mtu: 65_535)
            for length in [1, 65_535, 2] { try await expectEcho(of: pattern(length), over: longest) }
            try await expectEcho(of: [7], over: shortest)
        }
    }

    static let takenNumberMoves = Scenario(
        "a listener takes another PSM if another program has its preferred one"
    ) {
        let fixed = L2CAPListener(psm: .fixed(0xD0)) { channel in try await channel.send([1]) }
        let preferred = L2CAPListener(psm: .preferred(0xD0)) { channel in try await channel.send([2]) }
        let neighbor = Peripheral("Neighbor", restorationIdentifier: "the program with the number") {
            GATTService(ScenarioUUID.otherValue) { fixed.psm }
            fixed
        }
        let neighbors = Recorder<PeripheralSession>()
        return ScenarioRun(peripheral(listening: preferred)) { central, session in
            // When this read is answered, the program knows of the connection.
            let number = try await central.read(preferred.psm)
            try expect("whether the PSM is another one", number != 0xD0, is: true)
            try await untilConnected(neighbors.next())
            let first = try await central.openChannel(psm: 0xD0)
            try expect("packet of the other program", try await received(from: first), is: [1])
            let second = try await central.openChannel(psm: number)
            try expect("packet of the program", try await received(from: second), is: [2])
        }.beside(neighbor) { neighbors.record($0) }
    }

    static let randomCentralDisturbsNoOther = Scenario(
        "a central that uses channels at random disturbs no other channel"
    ) {
        scenarioRun(listening: L2CAPListener(limits: ChannelLimits(channelsPerCentral: 3), echo)) {
            central,
            session,
            psm in
            let other = try await central.makeAnother()
            try await other.connect()
            let channel = try await other.openChannel(psm: psm)
            var generator = Pseudorandom()
            var open: [any TestChannel] = []
            for round in 0..<60 {
                switch generator.next(below: 5) {
                case 0, 1:
                    // The limit ends some of the channels at once.
                    open.append(
                        try await central.openChannel(psm: psm, mtu: 23 + generator.next(below: 500))
                    )
                case 2 where !open.isEmpty:
                    try await open.remove(at: generator.next(below: open.count)).close()
                case 3 where !open.isEmpty:
                    // The echo of a long packet ends the handler, because it does not fit into the central's
                    // MTU.
                    let packet = pattern(1 + generator.next(below: 600))
                    try? await open[generator.next(below: open.count)].send(packet)
                case 4 where round % 10 == 9:
                    try await central.disconnect()
                    open = []
                    try await central.connect()
                default:
                    break
                }
                if round % 6 == 0 { try await expectEcho(of: pattern(1 + round), over: channel) }
            }
            try await expectEcho(of: pattern(100), over: channel)
            try await other.disconnect()
        }
    }

    static let severalChannelsAreOpen = Scenario("four channels of two centrals are open at the same time") {
        scenarioRun(listening: L2CAPListener(echo)) { central, session, psm in
            let other = try await central.makeAnother()
            try await other.connect()
            var channels: [any TestChannel] = []
            for _ in 0..<2 {
                for central in [central, other] { channels.append(try await central.openChannel(psm: psm)) }
            }
            for round in 0..<8 {
                for (number, channel) in channels.enumerated() {
                    try await channel.send([UInt8(number), UInt8(round)])
                }
            }
            for (number, channel) in channels.enumerated() {
                for round in 0..<8 {
                    let answer = try await received(from: channel)
                    try expect("answer of channel \(number)", answer, is: [UInt8(number), UInt8(round)])
                }
            }
            try await other.disconnect()
            try await expectEcho(of: [9], over: channels[0])
        }
    }

    static let listenersHaveTheirOwnNumbers = Scenario(
        "each listener has its own PSM, MTU and handler, and a fixed PSM is the requested one"
    ) {
        // Without a request, the stack chooses 0x80 first.
        let fixed = L2CAPListener(psm: .fixed(0x80), mtu: 23) { channel in try await channel.send([1]) }
        let dynamic = L2CAPListener { channel in try await channel.send([2]) }
        let peripheral = Peripheral("Listeners") {
            GATTService(ScenarioUUID.service) { fixed.psm }
            GATTService(ScenarioUUID.otherValue) { dynamic.psm }
            dynamic
            fixed
        }
        return ScenarioRun(peripheral) { central, session in
            try expect("fixed PSM", try await central.read(fixed.psm), is: 0x80)
            let psm = try await central.read(dynamic.psm)
            try expect("whether a dynamic PSM is dynamic", (0x80...0xFF).contains(psm), is: true)
            let first = try await central.openChannel(psm: 0x80)
            try expect("MTU of the first listener", first.sendMTU, is: 23)
            try expect("packet of the first listener", try await received(from: first), is: [1])
            let second = try await central.openChannel(psm: psm)
            try expect("packet of the second listener", try await received(from: second), is: [2])
            try expect("end of the second channel", try await second.receive(), is: nil)
        }
    }

    /// The packets of a transfer that fills each buffer.
    private static let manyPackets = 300

    static let slowReaderLosesNothing = Scenario(
        "a central waits for a program that does not read, and no packet is lost"
    ) {
        let reads = Recorder<Void>()
        let arrivals = Recorder<[UInt8]>()
        let listener = L2CAPListener { channel in
            try await reads.next()
            for await packet in channel { arrivals.record(packet) }
        }
        return scenarioRun(listening: listener) { central, session, psm in
            let other = try await central.makeAnother()
            try await other.connect()
            let channel = try await central.openChannel(psm: psm)
            let sent = Mutex(0)
            async let sending: Void = {
                for number in 0..<manyPackets {
                    try await channel.send(UInt16(number).gattBytes + pattern(498))
                    sent.withLock { $0 = number + 1 }
                }
            }()
            // The central has stopped when many requests of another central see no progress.
            var (last, rounds) = (-1, 0)
            while rounds < 20 {
                _ = try await other.read(listener.psm)
                let now = sent.withLock(\.self)
                rounds = now == last && now > 0 ? rounds + 1 : 0
                last = now
            }
            try expect("whether the central has to wait", last < manyPackets, is: true)
            reads.record(())
            try await sending
            for number in 0..<manyPackets {
                try expect(
                    "packet \(number)",
                    try await arrivals.next(),
                    is: UInt16(number).gattBytes + pattern(498)
                )
            }
            try await other.disconnect()
        }
    }

    static let slowCentralLosesNothing = Scenario(
        "a program waits for a central that takes no packets, and no packet is lost"
    ) {
        let isFull = Recorder<Int>()
        let listener = L2CAPListener { channel in
            // The answer to the first packet shows that the central takes no more packets.
            var packets = channel.makeAsyncIterator()
            _ = await packets.next()
            var number = 0
            while number < manyPackets, try channel.trySend(UInt16(number).gattBytes + pattern(498)) {
                number += 1
            }
            isFull.record(number)
            while number < manyPackets {
                try await channel.send(UInt16(number).gattBytes + pattern(498))
                number += 1
            }
            _ = await packets.next()
        }
        return scenarioRun(listening: listener) { central, session, psm in
            let channel = try await central.openChannel(psm: psm)
            try await channel.setTakesPackets(false)
            try await channel.send([0])
            try expect("whether there was no room", try await isFull.next() < manyPackets, is: true)
            try await channel.setTakesPackets(true)
            for number in 0..<manyPackets {
                let packet = try await received(from: channel)
                try expect("packet \(number)", packet, is: UInt16(number).gattBytes + pattern(498))
            }
        }
    }

    static let lastPacketsArrive = Scenario("the packets that a handler has sent before it returns arrive") {
        let listener = L2CAPListener { channel in
            for number: UInt8 in 0..<20 { try await channel.send([number] + pattern(400)) }
        }
        return scenarioRun(listening: listener) { central, session, psm in
            let channel = try await central.openChannel(psm: psm)
            for number: UInt8 in 0..<20 {
                try expect("packet \(number)", try await received(from: channel), is: [number] + pattern(400))
            }
            try expect("packet after the end", try await channel.receive(), is: nil)
        }
    }

    static let centralClosesChannel = Scenario(
        "a channel that the central closes ends after its last packet, and can be opened again"
    ) {
        let packets = Recorder<[UInt8]?>()
        let goes = Recorder<Void>()
        let refusals = Recorder<PeripheralError.Code?>()
        let listener = L2CAPListener { channel in
            try await goes.next()
            for await packet in channel { packets.record(packet) }
            packets.record(nil)
            do {
                try await channel.send([1])
                refusals.record(nil)
            } catch let error as PeripheralError {
                refusals.record(error.code)
            }
        }
        return scenarioRun(listening: listener) { central, session, psm in
            for round: UInt8 in 1...3 {
                let channel = try await central.openChannel(psm: psm)
                for number: UInt8 in 1...5 { try await channel.send([round, number]) }
                try await channel.close()
                goes.record(())
                for number: UInt8 in 1...5 {
                    try expect("packet \(number)", try await packets.next(), is: [round, number])
                }
                try expect("packet after the end", try await packets.next(), is: nil)
                try expect("error of a late packet", try await refusals.next(), is: .disconnected)
            }
        }
    }

    static let centralLeavesItsChannel = Scenario(
        "a channel ends with the connection of its central, after its last packet"
    ) {
        let packets = Recorder<[UInt8]?>()
        let goes = Recorder<Void>()
        let listener = L2CAPListener { channel in
            try await goes.next()
            for await packet in channel { packets.record(packet) }
            packets.record(nil)
        }
        return scenarioRun(listening: listener) { central, session, psm in
            let channel = try await central.openChannel(psm: psm)
            for number: UInt8 in 1...5 { try await channel.send([number]) }
            // The answer shows that the packets are no longer in the air.
            _ = try await central.read(listener.psm)
            let events = session.events
            try await central.disconnect()
            try await next(of: events, "end of the connection") { $0.kind == "disconnected" }
            goes.record(())
            for number: UInt8 in 1...5 {
                try expect("packet \(number)", try await packets.next(), is: [number])
            }
            try expect("packet after the end", try await packets.next(), is: nil)
            try await central.connect()
            let again = try await central.openChannel(psm: central.read(listener.psm))
            goes.record(())
            try await again.send([6])
            try expect("packet of the next channel", try await packets.next(), is: [6])
        }
    }
}

/// Numbers that are the same in each run.
private struct Pseudorandom {
    private var state: UInt32 = 25

    /// Returns a number from 0 to `limit` - 1.
    mutating func next(below limit: Int) -> Int {
        state = state &* 1_664_525 &+ 1_013_904_223
        return Int(state >> 8) % limit
    }
}
