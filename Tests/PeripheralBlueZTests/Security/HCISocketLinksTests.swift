import PeripheralCore
import Testing

@testable import PeripheralBlueZ

/// The layout is that of Linux' `include/net/bluetooth/hci_sock.h`; the entries were seen on 6.1.
@Suite(.timeLimit(.minutes(1)))
struct HCISocketLinksTests {
    /// What the kernel makes of a list.
    private func list(_ entries: [[UInt8]]) -> HCIConnectionList {
        var list = HCIConnectionList(adapter: 0)
        list.bytes[2] = UInt8(entries.count)
        for (index, entry) in entries.enumerated() {
            list.bytes.replaceSubrange(4 + index * 16..<20 + index * 16, with: entry)
        }
        return list
    }

    /// A connection of `F0:00:00:00:00:01`.
    private func entry(type: UInt8 = 0x80, mode: UInt8) -> [UInt8] {
        [0x01, 0x00] + [0x01, 0x00, 0x00, 0x00, 0x00, 0xF0] + [type, 0x00] + [0x01, 0x00] + [mode, 0, 0, 0]
    }

    @Test func theRequestNamesTheAdapterAndTheRoom() {
        let list = HCIConnectionList(adapter: 0x0102)
        #expect(list.bytes.prefix(4) == [0x02, 0x01, 128, 0])
        #expect(list.bytes.count == 4 + 128 * 16)
    }

    @Test(arguments: [(0x00, false), (0x01, false), (0x06, true)] as [(UInt8, Bool)])
    func theModeTellsWhetherALinkIsEncrypted(mode: UInt8, isEncrypted: Bool) throws {
        let address = try #require(DeviceAddress("F0:00:00:00:00:01"))
        let links = list([entry(mode: mode)]).links
        #expect(links == [LinkState(address: address, isEncrypted: isEncrypted, connection: 1)])
    }

    @Test func audioIsNoLinkForAttributes() {
        let links = list([entry(type: 0x00, mode: 0), entry(type: 0x01, mode: 6), entry(mode: 0)]).links
        #expect(links?.map(\.isEncrypted) == [true, false])
    }

    @Test func aListWithoutRoomIsNoList() {
        #expect(list([]).links == [])
        #expect(list(Array(repeating: entry(mode: 6), count: 127)).links?.count == 127)
        #expect(list(Array(repeating: entry(mode: 6), count: 128)).links == nil)
    }
}
