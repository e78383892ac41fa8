import PeripheralCore
import PeripheralDBus
import PeripheralKit
import Testing

@testable import PeripheralBlueZ

@Suite(.timeLimit(.minutes(1)))
struct DeviceTableTests {
    private static let path: ObjectPath = "/org/bluez/hci0/dev_C0_FF_EE_00_00_01"
    private let address: DeviceAddress
    private let central: Central

    init() throws {
        address = try #require(DeviceAddress("C0:FF:EE:00:00:01"))
        central = Central(address: address)
    }

    private func properties(_ properties: [(String, BusValue)]) -> BusValue {
        .properties(properties)
    }

    private var device: BusValue {
        properties([
            ("Address", .string(address.description)), ("AddressType", .string("random")),
            ("Connected", .bool(true)), ("Paired", .bool(false)), ("Bonded", .bool(false)),
        ])
    }

    @Test func aDeviceThatAppearsConnectedIsACentral() {
        var table = DeviceTable()
        #expect(table.update(Self.path, device) == [.connected(central)])
        #expect(table.central(central.id)?.addressKind == .random)
        #expect(table.update(Self.path, device) == [])
    }

    @Test func aDeviceThatIsOnlyKnownIsNone() {
        var table = DeviceTable()
        let known = properties([("Address", .string(address.description)), ("Connected", .bool(false))])
        #expect(table.update(Self.path, known) == [])
        #expect(table.central(central.id) == nil)
        #expect(table.update(Self.path, properties([("Connected", .bool(true))])) == [.connected(central)])
    }

    /// A busy bluetoothd reports both at once.
    ///
    /// The subscriptions of a bonded central are preserved.
    @Test func aBondIsReportedBeforeTheDisconnection() {
        var table = DeviceTable()
        _ = table.update(Self.path, device)
        let both = properties([("Bonded", .bool(true)), ("Paired", .bool(true)), ("Connected", .bool(false))])
        let bonded = Central(address: address, addressKind: .random, isBonded: true)
        #expect(table.update(Self.path, both) == [.changed(bonded), .disconnected(bonded)])
    }

    /// A phone comes under an address that changes, and shows its lasting one when it bonds.
    @Test func aLinkIsKnownByTheLastingAddressToo() throws {
        var table = DeviceTable()
        _ = table.update(Self.path, device)
        let lasting = try #require(DeviceAddress("00:1B:DC:00:00:07"))
        #expect(table.id(ofLink: address) == central.id)
        #expect(table.id(ofLink: lasting) == Central.ID(address: lasting))
        _ = table.update(Self.path, properties([("Address", .string(lasting.description))]))
        #expect(table.id(ofLink: lasting) == central.id)
        #expect(table.id(ofLink: address) == central.id)
    }

    /// bluetoothd has its subscriptions under the address of before.
    @Test(arguments: ["random", "public"])
    func aLastingAddressIdentifiesTheCentral(kind: String) throws {
        let lasting = try #require(DeviceAddress("F0:1B:DC:00:00:07"))
        let identified = properties([
            ("Address", .string(lasting.description)), ("AddressType", .string(kind)),
        ])
        var table = DeviceTable()
        // A request arrives before bluetoothd reports the device.
        _ = table.heard(from: address, mtu: 185)
        #expect(table.update(Self.path, device) == [.changed(table.central(central.id) ?? central)])
        let changes = table.update(Self.path, identified)
        let known = try #require(table.central(central.id))
        #expect(changes == [.identified(known), .changed(known)])
        #expect(table.update(Self.path, identified) == [])
    }

    /// The path of the device contains an earlier address of the central.
    ///
    /// The first report already contains the identity address, so it is not a change of the address.
    @Test func aProgramThatBeginsLaterLosesNothing() throws {
        var table = DeviceTable()
        _ = table.heard(from: address, mtu: 185)
        let identified = properties([
            ("Address", .string("F0:1B:DC:00:00:07")), ("AddressType", .string("random")),
            ("Connected", .bool(true)),
        ])
        #expect(table.update(Self.path, identified) == [.changed(try #require(table.central(central.id)))])
    }

    @Test func aBondIsAChange() {
        var table = DeviceTable()
        _ = table.update(Self.path, device)
        let paired = properties([("Paired", .bool(true)), ("Bonded", .bool(true))])
        #expect(table.update(Self.path, paired) == [.changed(central)])
        #expect(table.central(central.id)?.isBonded == true)
        #expect(table.update(Self.path, paired) == [])
    }

    @Test func aPairingWithoutABondIsNone() {
        var table = DeviceTable()
        _ = table.update(Self.path, device)
        let paired = properties([("Paired", .bool(true)), ("Bonded", .bool(false))])
        #expect(table.update(Self.path, paired) == [])
        #expect(table.central(central.id)?.isBonded == false)
    }

    @Test func whoAsksIsConnectedWhateverWasHeard() {
        var table = DeviceTable()
        #expect(table.heard(from: address, mtu: 185).changes == [.connected(central)])
        #expect(table.heard(from: address, mtu: 185).changes == [])
        #expect(table.heard(from: address, mtu: 247).changes == [.changed(central)])
        #expect(table.central(central.id)?.mtu == 247)
        #expect(table.update(Self.path, device) == [.changed(central)])
        #expect(table.central(central.id)?.mtu == 247)
        #expect(table.central(central.id)?.addressKind == .random)
    }

    @Test func theMTUEndsWithTheConnection() {
        var table = DeviceTable()
        _ = table.update(Self.path, device)
        _ = table.heard(from: address, mtu: 247)
        #expect(
            table.update(Self.path, properties([("Connected", .bool(false))])) == [.disconnected(central)]
        )
        #expect(table.central(central.id) == nil)
        _ = table.update(Self.path, properties([("Connected", .bool(true))]))
        #expect(table.central(central.id)?.mtu == 23)
    }

    @Test func aDroppedDeviceIsGoneAndForgotten() {
        var table = DeviceTable()
        _ = table.update(Self.path, device)
        #expect(table.remove(Self.path) == [.disconnected(central), .forgotten(central.id)])
        #expect(table.remove(Self.path) == [])
    }

    /// A central with a changing address shows its lasting one when it bonds; its path stays.
    @Test func theLastingAddressComesWithTheBond() throws {
        var table = DeviceTable()
        _ = table.update(Self.path, device)
        let lasting = try #require(DeviceAddress("00:11:22:33:44:55"))
        let bonded = properties([
            ("Address", .string(lasting.description)), ("AddressType", .string("public")),
            ("Bonded", .bool(true)),
        ])
        #expect(table.update(Self.path, bonded) == [.identified(central), .changed(central)])
        #expect(table.central(central.id)?.address == lasting)
        #expect(table.heard(from: address, mtu: 23).central.address == lasting)
    }

    @Test(arguments: [
        BusValue.properties([]), .properties([("Address", .string("nonsense"))]),
        .properties([("Address", .uint16(1)), ("Connected", .string("yes"))]), .string("no dictionary"),
    ])
    func nonsenseIsPassedOver(properties: BusValue) {
        var table = DeviceTable()
        #expect(table.update(Self.path, properties) == [])
    }
}
