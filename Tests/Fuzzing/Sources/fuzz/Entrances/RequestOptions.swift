@testable import PeripheralBlueZ
@testable import PeripheralCore
@testable import PeripheralDBus

extension Entrance {
    /// The options of a read or a write, as bluetoothd sends them.
    ///
    /// A second, independent reading of the same values gives the expected result.
    static let requestOptions = Entrance(name: "request-options") { bytes in
        var feed = Feed(bytes)
        var options: [(String, BusValue)] = []
        let isOther = feed.byte() % 8 == 7
        while !isOther, !feed.isAtEnd, options.count < 12 { options.append(option(&feed)) }
        for case (_, .string(let text)) in options {
            // A text in any case is the address that it spells.
            if let address = DeviceAddress(text) { check(address.description == text.uppercased(), text) }
        }
        let values: [BusValue] = isOther ? [feed.busValue()] : [.properties(options)]
        let message = Message.empty()
        var writer = MessageWriter(message.pointer)
        writer.append(values)
        guard writer.failure == nil else { return }
        var reader = MessageReader(message.pointer)
        let read: RequestOptions
        do throws(BusError) {
            read = try RequestOptions(&reader)
        } catch {
            check(isOther || expected(options) == nil, "\(options) is refused: \(error)")
            return
        }
        check(reader.isAtEnd)
        if isOther { return }
        guard let expected = expected(options) else { return check(false, "\(options) is taken") }
        check(read.address == expected.address, "\(options)")
        examine(read.address)
        check(read.mtu == expected.mtu && read.offset == expected.offset, "\(options)")
        check(read.asksForAuthorization == expected.asksForAuthorization, "\(options)")
        if read.asksForAuthorization, read.mtu > 23 {
            plantedFault(read.address.littleEndianBytes, count: 4)
        }
    }

    /// An address is the same by its text, by its bytes and by its number.
    private static func examine(_ address: DeviceAddress) {
        check(DeviceAddress(address.description) == address)
        check(DeviceAddress(address.description.lowercased()) == address)
        check(DeviceAddress(littleEndian: address.littleEndianBytes) == address)
        check(DeviceAddress(littleEndian: address.littleEndianBytes + [0]) == nil)
        check(DeviceAddress(rawValue: address.rawValue) == address)
        check(DeviceAddress(rawValue: address.rawValue | 1 << 48) == nil)
        check((address.randomKind == nil) == (address.rawValue >> 46 == 0b10))
        // Addresses are ordered as their texts are.
        if let other = DeviceAddress(littleEndian: address.littleEndianBytes.reversed()) {
            check((address < other) == (address.description < other.description))
        }
    }

    private static func option(_ feed: inout Feed) -> (String, BusValue) {
        switch feed.byte() % 8 {
        case 0: ("device", .objectPath(ObjectPath(unchecked: devicePath(&feed))))
        case 1: ("mtu", .uint16(feed.integer()))
        case 2: ("offset", .uint16(feed.integer()))
        case 3: ("prepare-authorize", .bool(feed.flag()))
        case 4: ("link", .string(feed.text()))
        case 5: (["device", "mtu", "offset", "prepare-authorize"][Int(feed.byte() % 4)], feed.busValue())
        case 6: ("device", .objectPath(ObjectPath(unchecked: anyPath(&feed))))
        default: (feed.text(), feed.busValue())
        }
    }

    private static func devicePath(_ feed: inout Feed) -> String {
        let digits = (0..<6).map { _ in
            let byte = feed.byte()
            return (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }
        return "/org/bluez/hci0/dev_" + digits.joined(separator: "_")
    }

    private static func anyPath(_ feed: inout Feed) -> String {
        let text = feed.text()
        return (try? ObjectPath(text)) == nil ? "/" : text
    }

    private struct Expected {
        var address: DeviceAddress?
        var mtu = 23
        var offset = 0
        var asksForAuthorization = false
    }

    /// What the options say; `nil` when one that counts has another type, or there is no device.
    private static func expected(_ options: [(String, BusValue)]) -> Expected? {
        var expected = Expected()
        for (key, value) in options {
            switch (key, value) {
            case ("device", .objectPath(let path)):
                guard let address = address(endOf: path.text) else { return nil }
                expected.address = address
            case ("mtu", .uint16(let mtu)): expected.mtu = Int(mtu)
            case ("offset", .uint16(let offset)): expected.offset = Int(offset)
            case ("prepare-authorize", .bool(let asks)): expected.asksForAuthorization = asks
            case ("device", _), ("mtu", _), ("offset", _), ("prepare-authorize", _): return nil
            default: break
            }
        }
        return expected.address == nil ? nil : expected
    }

    private static func address(endOf path: String) -> DeviceAddress? {
        guard let last = path.split(separator: "/").last, last.hasPrefix("dev_"), !path.hasSuffix("/"),
            last.utf8.count == 21, last == last.uppercased().replacing("DEV_", with: "dev_")
        else { return nil }
        // One that stands at the very beginning of the path belongs to no adapter.
        guard path.utf8.count > 22 else { return nil }
        return DeviceAddress(last.dropFirst(4).split(separator: "_").joined(separator: ":"))
    }
}
