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
        table.take(.ended(connection: 2, reason: 0x08))
        table.take(.ended(connection: 3, reason: 0x16))
        #expect(table.disconnected(phone) == .unknown)
        #expect(table.disconnected(tablet) == DisconnectionReason(.timeout, code: 0x08))
        #expect(table.disconnected(tablet) == .unknown)
    }

    @Test func aNewConnectionHasNoReasonYet() {
        var table = makeTable()
        table.take(.ended(connection: 1, reason: 0x08))
        table.take(.timeout, of: phone)
        table.connected(phone)
        #expect(table.disconnected(phone) == .unknown)
    }

    /// A link that has been reported as ended no longer belongs to its central.
    @Test func aLateEndIsIgnored() {
        var table = makeTable()
        #expect(table.disconnected(phone) == .unknown)
        table.take(.ended(connection: 1, reason: 0x08))
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
        if let code { table.take(.ended(connection: 1, reason: code)) }
        if let name { table.take(DisconnectionReason.Cause(reason: "org.bluez.Reason.\(name)"), of: phone) }
        #expect(table.disconnected(phone) == reason)
    }
}
