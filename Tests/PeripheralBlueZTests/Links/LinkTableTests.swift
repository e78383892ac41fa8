import PeripheralCore
import PeripheralKit
import Testing

@testable import PeripheralBlueZ

struct LinkTableTests {
    private let phone: Central.ID
    private let tablet: Central.ID

    init() throws {
        phone = Central.ID(address: try #require(DeviceAddress("C0:FF:EE:00:00:01")))
        tablet = Central.ID(address: try #require(DeviceAddress("C0:FF:EE:00:00:02")))
    }

    private func makeTable() -> LinkTable {
        var table = LinkTable()
        table.learn([(1, phone), (2, tablet)])
        return table
    }

    @Test func theReasonOfOneLinkIsNotThatOfAnother() {
        var table = makeTable()
        _ = table.take(.ended(connection: 2, reason: 0x08))
        _ = table.take(.ended(connection: 3, reason: 0x16))
        #expect(table.disconnected(phone) == .unknown)
        #expect(table.disconnected(tablet) == DisconnectionReason(.timeout, code: 0x08))
        #expect(table.disconnected(tablet) == .unknown)
    }

    @Test func aNewConnectionHasNoReasonYet() {
        var table = makeTable()
        _ = table.take(.ended(connection: 1, reason: 0x08))
        table.take(.timeout, of: phone)
        table.connected(phone)
        #expect(table.disconnected(phone) == .unknown)
    }

    /// Linux answers bluetoothd before the controller has ended the link.
    @Test func onlyThisDeviceEndsALinkBeforeItsEnd() {
        var table = makeTable()
        _ = table.take(.ended(connection: 2, reason: 0x13))
        #expect(table.disconnected(phone, isFollowed: true) == DisconnectionReason(.device))
        #expect(table.disconnected(tablet, isFollowed: true) == DisconnectionReason(.central, code: 0x13))
        #expect(table.disconnected(phone, isFollowed: true) == .unknown)
    }

    @Test func theParametersBelongToTheLink() {
        let (first, second) = (Self.parameters(15), Self.parameters(30))
        var table = LinkTable()
        #expect(table.take(.began(connection: 1, first)) == nil)
        table.learn([(1, phone), (2, tablet)])
        #expect(table.parameters(of: phone) == first)
        #expect(table.parameters(of: tablet) == nil)
        #expect(table.take(.changed(connection: 1, status: 0, second)) == phone)
        #expect(table.take(.changed(connection: 1, status: 0x3B, first)) == nil)
        #expect(table.parameters(of: phone) == second)
        // The handle now belongs to another link.
        _ = table.take(.began(connection: 1, first))
        #expect(table.parameters(of: phone) == nil)
        table.learn([(1, tablet)])
        #expect(table.connection(of: tablet) == 1)
        #expect(table.parameters(of: tablet) == first)
    }

    private static func parameters(_ interval: Int) -> ConnectionParameters {
        ConnectionParameters(interval: .milliseconds(interval))
    }

    /// A link that has been reported as ended no longer belongs to its central.
    @Test func aLateEndIsIgnored() {
        var table = makeTable()
        #expect(table.disconnected(phone) == .unknown)
        _ = table.take(.ended(connection: 1, reason: 0x08))
        #expect(table.disconnected(phone) == .unknown)
    }

    /// The kernel ends a link that does not authenticate, and its controller reports only that.
    @Test(arguments: [
        (nil, nil, DisconnectionReason.unknown),
        ("Timeout", nil, DisconnectionReason(.timeout)),
        ("Remote", nil, DisconnectionReason(.central)),
        ("Local", nil, DisconnectionReason(.device)),
        ("Suspend", nil, DisconnectionReason(.device)),
        ("Authentication", nil, DisconnectionReason(.security)),
        ("Unknown", nil, .unknown),
        ("Authentication", 0x16, DisconnectionReason(.security, code: 0x16)),
        ("Unknown", 0x3D, DisconnectionReason(.security, code: 0x3D)),
        ("Unknown", 0x1F, DisconnectionReason(.other, code: 0x1F)),
        (nil, 0x13, DisconnectionReason(.central, code: 0x13)),
    ])
    func theControllerAndBluetoothdReportTogether(
        name: String?,
        code: UInt8?,
        reason: DisconnectionReason
    ) {
        var table = makeTable()
        if let code { _ = table.take(.ended(connection: 1, reason: code)) }
        if let name { table.take(DisconnectionReason.Cause(reason: "org.bluez.Reason.\(name)"), of: phone) }
        #expect(table.disconnected(phone) == reason)
    }
}
