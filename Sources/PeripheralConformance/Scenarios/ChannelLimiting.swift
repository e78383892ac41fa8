internal import PeripheralCore
internal import PeripheralKit
internal import PeripheralTesting
internal import PeripheralVirtualServer
private import Synchronization

extension ConformanceSuite {
    static let channelLimiting: [Scenario] = [
        channelNeedsSecurity, channelNeedsListener, channelsAreLimited, closingChannelCounts,
        channelStormIsBounded, channelHandlerFails, cancelledSendSendsNothing, channelEndsWithTheRun,
        listenerKeepsItsNumber, channelOfPrivateAddress,
    ]

    /// Fails the scenario unless the peripheral refuses the channel for this reason.
    private static func expectRefusal(
        of channel: String,
        by expected: ChannelRefusal,
        _ open: () async throws -> any TestChannel
    ) async throws {
        do {
            _ = try await open()
        } catch let refusal as ChannelRefusal {
            return try expect("refusal of \(channel)", refusal, is: expected)
        }
        throw ConformanceFailure(description: "\(channel) was not refused.")
    }

    /// Fails the scenario unless the peripheral closes this channel at once.
    private static func expectEnd(of name: String, _ channel: any TestChannel) async throws {
        try expect("packet of \(name)", try await channel.receive(), is: nil)
    }

    static let channelNeedsSecurity = Scenario("a channel needs the security that its listener declares") {
        let encrypted = L2CAPListener(security: .encrypted, echo)
        let authenticated = L2CAPListener(security: .authenticated, echo)
        let pairing = Pairing.any(of: .displayPasskey { _, _ in }, .justWorks)
        let peripheral = Peripheral("Security", pairing: pairing) {
            GATTService(ScenarioUUID.service) { encrypted.psm }
            GATTService(ScenarioUUID.otherValue) { authenticated.psm }
            encrypted
            authenticated
        }
        return ScenarioRun(peripheral) { central, session in
            let psms = (try await central.read(encrypted.psm), try await central.read(authenticated.psm))
            try await expectRefusal(of: "a channel without encryption", by: .insufficientEncryption) {
                try await central.openChannel(psm: psms.0)
            }
            try await expectRefusal(of: "an unauthenticated channel", by: .insufficientAuthentication) {
                try await central.openChannel(psm: psms.1)
            }
            let events = session.events
            try await central.pair(.justWorks)
            try await untilBonded(events)
            try await expectEcho(of: [1], over: central.openChannel(psm: psms.0))
            try await expectRefusal(of: "a channel after Just Works", by: .insufficientAuthentication) {
                try await central.openChannel(psm: psms.1)
            }
        }
    }

    static let channelNeedsListener = Scenario("a channel with an unknown PSM is refused") {
        let listener = L2CAPListener(echo)
        return ScenarioRun(peripheral(listening: listener)) { central, session in
            let unknown: UInt16 = try await central.read(listener.psm) == 0xFF ? 0xFE : 0xFF
            try await expectRefusal(of: "a channel without a listener", by: .psmNotSupported) {
                try await central.openChannel(psm: unknown)
            }
        }
    }

    static let channelsAreLimited = Scenario("further channels than the limits permit are closed at once") {
        let ends = Recorder<Void>()
        let ended = Recorder<Void>()
        let limits = ChannelLimits(channelsPerCentral: 2, channels: 3)
        let listener = L2CAPListener(limits: limits) { channel in
            defer { ended.record(()) }
            for await packet in channel { try await channel.send(packet) }
            try await ends.next()
        }
        return ScenarioRun(peripheral(listening: listener)) { central, session in
            let psm = try await central.read(listener.psm)
            let other = try await central.makeAnother()
            try await other.connect()
            let first = try await central.openChannel(psm: psm)
            let second = try await central.openChannel(psm: psm)
            try await expectEnd(of: "a third channel of a central", central.openChannel(psm: psm))
            let third = try await other.openChannel(psm: psm)
            try await expectEnd(of: "a fourth channel", other.openChannel(psm: psm))
            for channel in [first, second, third] { try await expectEcho(of: [7], over: channel) }
            // A channel counts until its handler has returned.
            try await first.close()
            try await expectEnd(of: "a channel beside a handler", central.openChannel(psm: psm))
            ends.record(())
            try await ended.next()
            // The handler has returned, but its slot is free a moment later.
            let fourth = try await untilAnswered(opening: psm, by: central)
            try await expectEcho(of: [8], over: fourth)
            for _ in 0..<3 { ends.record(()) }
            try await other.disconnect()
        }
    }

    static let closingChannelCounts = Scenario(
        "a channel counts until the packets that it has sent have left"
    ) {
        let sent = Recorder<Int>()
        // The packets have three pieces, so the 32 credits of a central end within a packet, which waits.
        let listener = L2CAPListener(limits: ChannelLimits(channelsPerCentral: 1)) { channel in
            var packets = channel.makeAsyncIterator()
            _ = await packets.next()
            var count = 0
            while try channel.trySend(pattern(600)) { count += 1 }
            sent.record(count)
        }
        return ScenarioRun(peripheral(listening: listener)) { central, session in
            let psm = try await central.read(listener.psm)
            let first = try await central.openChannel(psm: psm)
            try await first.setTakesPackets(false)
            try await first.send([0])
            let count = try await sent.next()
            try await expectEnd(of: "a channel beside a closing one", central.openChannel(psm: psm))
            try await first.setTakesPackets(true)
            for _ in 0..<count {
                try expect("packet", try await received(from: first), is: pattern(600))
            }
            try expect("packet after the last one", try await first.receive(), is: nil)
            let second = try await untilAnswered(opening: psm, by: central)
            try await second.close()
        }
    }

    /// Opens channels until one of them answers a packet.
    private static func untilAnswered(
        opening psm: UInt16,
        by central: any TestCentral
    ) async throws -> any TestChannel {
        while true {
            let channel = try await central.openChannel(psm: psm)
            // The limit may end the channel before the packet leaves.
            try? await channel.send([0])
            if try await channel.receive() != nil { return channel }
        }
    }

    static let channelStormIsBounded = Scenario(
        "a central that opens and closes channels in a storm disturbs no other"
    ) {
        let running = Mutex((now: 0, most: 0))
        let limits = ChannelLimits(channelsPerCentral: 2)
        let listener = L2CAPListener(limits: limits) { channel in
            running.withLock { running in
                running.now += 1
                running.most = max(running.most, running.now)
            }
            defer { running.withLock { $0.now -= 1 } }
            try await echo(channel)
        }
        return ScenarioRun(peripheral(listening: listener)) { central, session in
            let psm = try await central.read(listener.psm)
            let other = try await central.makeAnother()
            try await other.connect()
            let channel = try await other.openChannel(psm: psm)
            for round: UInt8 in 0..<40 {
                let storm = try await central.openChannel(psm: psm)
                // The limit may end the channel first.
                try? await storm.send([round])
                try await storm.close()
                try await expectEcho(of: [round], over: channel)
            }
            try expect("whether the handlers were limited", running.withLock(\.most) <= 3, is: true)
            let last = try await untilAnswered(opening: psm, by: central)
            try await expectEcho(of: [1], over: last)
            try await other.disconnect()
        }
    }

    static let channelHandlerFails = Scenario("a handler that throws closes its channel, and no other") {
        struct Failure: Error {}
        let listener = L2CAPListener { channel in
            for await packet in channel {
                guard packet != [0] else { throw Failure() }
                try await channel.send(packet)
            }
        }
        return ScenarioRun(peripheral(listening: listener)) { central, session in
            let psm = try await central.read(listener.psm)
            let (first, second) = (
                try await central.openChannel(psm: psm), try await central.openChannel(psm: psm)
            )
            try await first.send([0])
            try expect("packet of the failed handler", try await first.receive(), is: nil)
            try await expectEcho(of: [1], over: second)
        }
    }

    static let cancelledSendSendsNothing = Scenario("a cancelled call that waits for room sends nothing") {
        let outcomes = Recorder<Bool>()
        let filled = Recorder<Int>()
        let listener = L2CAPListener { channel in
            var packets = channel.makeAsyncIterator()
            _ = await packets.next()
            var count = 0
            while try channel.trySend([0] + pattern(400)) { count += 1 }
            filled.record(count)
            let sending = Task { try await channel.send([1]) }
            let reading = Task { await channel.first { _ in true } }
            sending.cancel()
            reading.cancel()
            outcomes.record(await sending.result.isCancelled)
            outcomes.record(await reading.value == nil)
            try await channel.send([2])
            _ = await packets.next()
        }
        return ScenarioRun(peripheral(listening: listener)) { central, session in
            let channel = try await central.openChannel(psm: central.read(listener.psm))
            try await channel.setTakesPackets(false)
            try await channel.send([0])
            let count = try await filled.next()
            try expect("cancelled send", try await outcomes.next(), is: true)
            try expect("cancelled read", try await outcomes.next(), is: true)
            try await channel.setTakesPackets(true)
            for _ in 0..<count {
                try expect("packet", try await received(from: channel), is: [0] + pattern(400))
            }
            try expect("packet after the cancelled one", try await received(from: channel), is: [2])
        }
    }

    static let channelEndsWithTheRun = Scenario("a channel ends with the run, and its handler is cancelled") {
        let ended = Recorder<Bool>()
        let listener = L2CAPListener { channel in
            try await echo(channel)
            ended.record(Task.isCancelled)
        }
        let open = Mutex<(any TestChannel)?>(nil)
        return ScenarioRun(peripheral(listening: listener, restorationIdentifier: "channels")) {
            central,
            session in
            let channel = try await central.openChannel(psm: central.read(listener.psm))
            try await expectEcho(of: [1], over: channel)
            open.withLock { $0 = channel }
        }.restarted(as: peripheral(listening: listener, restorationIdentifier: "channels")) {
            central,
            session in
            try expect("whether the handler has ended", ended.count, is: 1)
            _ = try await ended.next()
            guard let channel = open.withLock(\.self) else { return }
            try expect("packet after the end", try await channel.receive(), is: nil)
        }
    }

    static let listenerKeepsItsNumber = Scenario("a listener keeps its PSM for the next run of the program") {
        // In the first run, the first listener has the number that the stack would choose for the second one.
        let (first, next) = (L2CAPListener(echo), L2CAPListener(psm: .preferred(0xC0), echo))
        let second = L2CAPListener(echo)
        let numbers = Recorder<UInt16>()
        func makePeripheral(_ first: L2CAPListener) -> Peripheral {
            Peripheral("Numbers", restorationIdentifier: "numbers") {
                GATTService(ScenarioUUID.service) { first.psm }
                GATTService(ScenarioUUID.otherValue) { second.psm }
                first
                second
            }
        }
        return ScenarioRun(makePeripheral(first)) { central, session in
            let number = try session.psm(of: second)
            numbers.record(number)
            try await expectEcho(of: [1], over: central.openChannel(psm: number))
        }.restarted(as: makePeripheral(next)) { central, session in
            try expect("preferred PSM", try session.psm(of: next), is: 0xC0)
            let number = try session.psm(of: second)
            try expect("dynamic PSM", number, is: try await numbers.next())
            try await central.disconnect()
            try await central.connect()
            for number in [number, 0xC0] {
                try await expectEcho(of: [2], over: central.openChannel(psm: number))
            }
        }
    }

    static let channelOfPrivateAddress = Scenario(
        "a channel knows its central, also under a changed private address"
    ) {
        let centrals = Recorder<Central>()
        let listener = L2CAPListener(security: .encrypted) { channel in
            centrals.record(channel.central)
            try await echo(channel)
        }
        return ScenarioRun(peripheral(listening: listener, pairing: .justWorks), mtu: nil) {
            central,
            session in
            try await central.changeAddress()
            try await central.connect()
            let events = session.events
            try await central.pair(.justWorks)
            try await untilBonded(events)
            for round: UInt8 in 1...2 {
                // When this read is answered, the program knows of the connection.
                let channel = try await central.openChannel(psm: central.read(listener.psm))
                try await expectEcho(of: [round], over: channel)
                let known = try await centrals.next()
                try expect("central", session.centrals.map(\.id), is: [known.id])
                try await central.disconnect()
                try await central.changeAddress()
                if round == 1 { try await central.connect() }
            }
        }
    }
}

extension Result where Failure == any Error {
    fileprivate var isCancelled: Bool {
        guard case .failure(let error) = self else { return false }
        return error is CancellationError
    }
}
