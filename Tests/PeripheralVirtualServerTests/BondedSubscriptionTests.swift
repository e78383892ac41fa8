import PeripheralCore
import PeripheralKit
import PeripheralTesting
import Testing

/// The client characteristic configurations of bonded centrals, which outlive the connection.
@Suite(.timeLimit(.minutes(1)))
struct BondedSubscriptionTests {
    private static func pairedCentral(on fixture: ServerFixture) async throws -> VirtualCentral {
        fixture.server.setPairingAgent(TestAgent())
        let central = fixture.makeCentral()
        try await central.connect()
        try await central.pair(.justWorks)
        return central
    }

    @Test func aBondedCentralStaysSubscribed() async throws {
        let fixture = try ServerFixture(.notify)
        let central = try await Self.pairedCentral(on: fixture)
        try await central.subscribe(0x0017, to: .notification)
        central.disconnect()
        #expect(
            fixture.provider.takeLog() == ["configure 0x0003: 0 to 1", "configure 0x0003: 1 to 0, suspended"]
        )
        // The one that is not there misses it.
        #expect(fixture.server.send([1], of: 0x0003, in: fixture.application))
        try await central.connect()
        #expect(fixture.provider.takeLog() == ["configure 0x0003: 0 to 1, resumed"])
        // bluetoothd already has this configuration, and does not report it.
        try await central.subscribe(0x0017, to: .notification)
        #expect(fixture.provider.takeLog() == [])
        fixture.server.send([2], of: 0x0003, in: fixture.application)
        #expect(try await central.nextUpdate(of: 0x0017) == ReceivedUpdate(kind: .notification, value: [2]))
    }

    @Test(arguments: [true, false])
    func aForgottenCentralIsSubscribedToNothing(isConnected: Bool) async throws {
        let fixture = try ServerFixture(.notify)
        let central = try await Self.pairedCentral(on: fixture)
        try await central.subscribe(0x0017, to: .notification)
        if !isConnected { central.disconnect() }
        _ = fixture.provider.takeLog()
        fixture.server.forget(central.address)
        #expect(fixture.provider.takeLog() == ["configure 0x0003: 1 to 0, ended"])
        try await central.connect()
        #expect(try await central.read(0x0018, offset: 0) == [0, 0])
    }

    @Test func removedServicesAreNotSubscribedTo() async throws {
        let fixture = try ServerFixture(.notify)
        let central = try await Self.pairedCentral(on: fixture)
        try await central.subscribe(0x0017, to: .notification)
        central.disconnect()
        fixture.server.removeAtOnce(fixture.application)
        _ = fixture.provider.takeLog()
        try await central.connect()
        #expect(fixture.provider.takeLog() == [])
    }

    @Test func missedServiceChangesAreIndicatedLater() async throws {
        let fixture = try ServerFixture(.notify)
        let central = try await Self.pairedCentral(on: fixture)
        try await central.subscribe(0x000A, to: .indication)
        central.disconnect()
        let table = try AttributeTable(services: [ServiceDescription(uuid: 0x180D)])
        _ = try fixture.server.add(table, servedBy: fixture.provider)
        fixture.server.removeAtOnce(fixture.application)
        try await central.connect()
        #expect(try await central.nextUpdate(of: 0x000A).value == [0x15, 0, 0x19, 0])
    }

    @Test func afterARestartEverythingMayHaveChanged() async throws {
        let fixture = try ServerFixture(.notify)
        let central = try await Self.pairedCentral(on: fixture)
        try await central.subscribe(0x000A, to: .indication)
        fixture.server.reset()
        _ = fixture.server.advertise(VirtualAdvertisement(advertisingData: [], scanResponse: []))
        central.disconnect()
        try await central.connect()
        #expect(try await central.nextUpdate(of: 0x000A).value == [0x01, 0, 0xFF, 0xFF])
    }
}
