import PeripheralImmediateAlert
import PeripheralKit
import PeripheralLinkLoss
import PeripheralTesting
import PeripheralTxPower
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct AlertLevelTests {
    @Test(arguments: [(AlertLevel.none, 0), (.mild, 1), (.high, 2)] as [(AlertLevel, UInt8)])
    func isOneByte(level: AlertLevel, byte: UInt8) throws {
        #expect(level.gattBytes == [byte])
        #expect(try AlertLevel(gattBytes: [byte]) == level)
    }

    @Test(arguments: [[], [3], [255], [1, 1]] as [[UInt8]])
    func refusesWhatIsReserved(bytes: [UInt8]) {
        #expect(throws: GATTDecodingError.self) { try AlertLevel(gattBytes: bytes) }
    }
}

@Suite(.timeLimit(.minutes(1)))
struct TxPowerServiceTests {
    @Test(arguments: [(-101, -100), (-100, -100), (0, 0), (20, 20), (21, 20), (Int.max, 20)])
    func clampsWhatCannotBe(number: Int, dBm: Int) {
        #expect(Int(TxPowerLevel(dBm: number).dBm) == dBm)
    }

    /// A program may count without sign.
    @Test func takesIntegersOfAllTypes() {
        #expect(TxPowerLevel(dBm: UInt8(4)).dBm == 4)
        #expect(TxPowerLevel(dBm: UInt64.max).dBm == 20)
        #expect(TxPowerLevel(dBm: Int64.min).dBm == -100)
    }

    /// Tx Power Service 1.0, section 3.1: a signed byte of −100 to 20.
    @Test func decodesPowersAlone() throws {
        for byte in UInt8.min...UInt8.max {
            let dBm = Int8(bitPattern: byte)
            if (-100...20).contains(dBm) {
                #expect(try TxPowerLevel(gattBytes: [byte]) == TxPowerLevel(dBm: dBm))
                #expect(TxPowerLevel(dBm: dBm).gattBytes == [byte])
            } else {
                #expect(throws: GATTDecodingError.self) { try TxPowerLevel(gattBytes: [byte]) }
            }
        }
    }

    @Test func tellsTheLevel() async throws {
        let constant = TxPowerService(TxPowerLevel(dBm: -4))
        let asked = TxPowerService { central in TxPowerLevel(dBm: central.mtu == 517 ? 8 : 0) }
        try await Peripheral("Tag") { constant }.test { central in
            let declared = try await central.discover().declared
            #expect(
                declared == [
                    DeclaredCharacteristic(service: 0x1804, uuid: 0x2A07, properties: .read)
                ]
            )
            #expect(try await central.read(constant.level).description == "-4 dBm")
        }
        try await Peripheral("Tag") { asked }.test { central async throws in
            #expect(try await central.read(asked.level) == TxPowerLevel(dBm: 8))
        }
    }
}

@Suite(.timeLimit(.minutes(1)))
struct ImmediateAlertServiceTests {
    @Test func alertsAtTheLevelThatIsWritten() async throws {
        let (levels, alerts) = AsyncStream<AlertLevel>.makeStream()
        let service = ImmediateAlertService { level in alerts.yield(level) }
        try await Peripheral("Keys") { service }.test { central in
            let declared = try await central.discover().declared
            #expect(
                declared == [
                    DeclaredCharacteristic(service: 0x1802, uuid: 0x2A06, properties: .writeWithoutResponse)
                ]
            )
            let handle = try await central.locate(service.alertLevel).valueHandle
            var received = levels.makeAsyncIterator()
            for (byte, level) in [(2, .high), (1, .mild), (0, .none)] as [(UInt8, AlertLevel)] {
                // What is no level is ignored, and so not received.
                try await central.writeWithoutResponse(handle, [3])
                try await central.writeWithoutResponse(handle, [byte])
                #expect(await received.next() == level)
            }
        }
    }

    @Test func endsTheAlertWhenItsCentralLeaves() async throws {
        let alerts = Recorded<AlertLevel>()
        let service = ImmediateAlertService { level in alerts.append(level) }
        try await Peripheral("Keys") { service }.test { central in
            let other = try await connected(central)
            try await other.writeWithoutResponse(service.alertLevel, .high)
            try await until { alerts.values == [.high] }
            // The alert is not this one's to end.
            let bystander = try await connected(central)
            bystander.disconnect()
            other.disconnect()
            try await until { alerts.values == [.high, .none] }
        }
    }
}

extension ImmediateAlertServiceTests {
    @Test func endsTheAlertWithTheSession() async throws {
        let alerts = Recorded<AlertLevel>()
        let service = ImmediateAlertService { level in alerts.append(level) }
        let peripheral = Peripheral("Keys") { service }
        let backend = InMemoryBackend()
        // The central stays, as one does when a program ends.
        try await peripheral.run(on: backend) { _ in
            let central = backend.makeCentral(of: peripheral)
            try await central.connect()
            try await central.writeWithoutResponse(service.alertLevel, .high)
            try await until { alerts.values == [.high] }
        }
        #expect(alerts.values == [.high, .none])
    }
}

/// Another central, which is connected.
private func connected(_ central: VirtualCentral) async throws -> VirtualCentral {
    let other = central.makeAnother()
    try await other.connect()
    return other
}

@Suite(.timeLimit(.minutes(1)))
struct LinkLossServiceTests {
    @Test func keepsTheLevelOfEachCentral() async throws {
        let service = LinkLossService { _, _ in }
        try await Peripheral("Keys") { service }.test(as: .specification) { central in
            let declared = try await central.discover().declared
            #expect(
                declared == [
                    DeclaredCharacteristic(service: 0x1803, uuid: 0x2A06, properties: [.read, .write])
                ]
            )
            let other = central.makeAnother()
            try await other.connect()
            #expect(try await central.read(service.alertLevel) == .none)
            try await central.write(service.alertLevel, .high)
            #expect(try await central.read(service.alertLevel) == .high)
            #expect(try await other.read(service.alertLevel) == .none)
            let handle = try await central.locate(service.alertLevel).valueHandle
            await #expect(throws: ATTError.valueNotAllowed) { try await central.write(handle, [3]) }
            #expect(try await central.read(service.alertLevel) == .high)
        }
    }

    @Test func alertsWhenALinkIsLost() async throws {
        let alerts = Recorded<(AlertLevel, Central)>()
        let service = LinkLossService { level, central in alerts.append((level, central)) }
        let peripheral = Peripheral("Keys", pairing: .justWorks) { service }
        try await peripheral.test { central, session in
            let other = try await connected(central)
            try await other.write(service.alertLevel, .mild)
            other.disconnect()
            try await until { alerts.values.map(\.0) == [.mild] }
            try await central.pair(.justWorks)
            let bonded = try #require(session.centrals.first { $0.isBonded })
            func levels() -> [AlertLevel] { alerts.values.filter { $0.1 == bonded }.map(\.0) }
            try await central.write(service.alertLevel, .mild)
            central.disconnect()
            try await until { levels() == [.mild] }
            try await central.connect()
            try await until { levels() == [.mild, .none] }
            #expect(try await central.read(service.alertLevel) == .mild)
            try await central.write(service.alertLevel, .none)
            central.disconnect()
            // The service knows of that when it knows of another that leaves afterwards.
            try await other.connect()
            try await other.write(service.alertLevel, .high)
            other.disconnect()
            try await until { alerts.values.contains { $0.0 == .high } }
            try await central.connect()
            try await central.write(service.alertLevel, .high)
            central.disconnect()
            try await until { levels().count == 3 }
            #expect(levels() == [.mild, .none, .high])
        }
    }

    /// However late the service hears of the end.
    @Test func alertsAtTheLevelOfTheConnectionThatEnded() async throws {
        let alerts = Recorded<(AlertLevel, Central)>()
        let (released, release) = AsyncStream.makeStream(of: Never.self)
        let service = LinkLossService { level, central in
            alerts.append((level, central))
            // The program alerts until a user silences it.
            if level == .mild { for await _ in released {} }
        }
        let peripheral = Peripheral("Keys", pairing: .justWorks) { service }
        try await peripheral.test { central, session in
            let other = try await connected(central)
            try await central.pair(.justWorks)
            let bonded = try #require(session.centrals.first { $0.isBonded })
            try await other.write(service.alertLevel, .mild)
            other.disconnect()
            try await until { alerts.values.map(\.0) == [.mild] }
            // The bonded central leaves with a level and comes back with another, and the other one likewise.
            try await central.write(service.alertLevel, .high)
            central.disconnect()
            try await central.connect()
            try await central.write(service.alertLevel, .none)
            try await other.connect()
            #expect(try await other.read(service.alertLevel) == .none)
            try await other.write(service.alertLevel, .high)
            release.finish()
            try await until { alerts.values.count == 3 }
            #expect(alerts.values.filter { $0.1 == bonded }.map(\.0) == [.high, .none])
            #expect(try await central.read(service.alertLevel) == .none)
            #expect(try await other.read(service.alertLevel) == .high)
            other.disconnect()
            try await until { alerts.values.count == 4 }
            #expect(alerts.values.last?.0 == .high)
        }
    }
}
