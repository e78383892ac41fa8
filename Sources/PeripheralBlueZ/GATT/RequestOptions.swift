internal import PeripheralCore
internal import PeripheralDBus

/// The options of a request from bluetoothd.
///
/// `device` and `mtu` are always present. The other options are present only if they have a meaning for the
/// request (BlueZ, gatt-database.c). Unknown options are ignored.
struct RequestOptions {
    var address: DeviceAddress
    var mtu: Int
    var offset = 0
    /// Whether bluetoothd asks for permission to prepare a write.
    ///
    /// The value is empty, and the central has written nothing yet.
    var asksForAuthorization = false

    init(_ arguments: inout MessageReader) throws(BusError) {
        var address: DeviceAddress?
        var mtu = 23
        var offset = 0
        var asksForAuthorization = false
        try arguments.readProperties { (key, value) throws(BusError) in
            if key == "device" {
                address = try DeviceAddress(devicePath: value.readBorrowedObjectPath())
            } else if key == "mtu" {
                mtu = Int(try value.readUInt16())
            } else if key == "offset" {
                offset = Int(try value.readUInt16())
            } else if key == "prepare-authorize" {
                asksForAuthorization = try value.readBool()
            }
        }
        guard let address else { throw .invalidValue("the option \"device\" is missing") }
        self.address = address
        self.mtu = mtu
        self.offset = offset
        self.asksForAuthorization = asksForAuthorization
    }
}

extension DeviceAddress {
    /// Creates the address from the end of a device's path, such as `/org/bluez/hci0/dev_C0_FF_EE_00_00_01`.
    init(devicePath path: borrowing BorrowedText) throws(BusError) {
        guard let address = path.withUTF8({ DeviceAddress(endOf: $0) }) else {
            throw .invalidValue("\"\(path.string)\" is not the path of a device")
        }
        self = address
    }

    private init?(endOf path: Span<UInt8>) {
        let pattern: StaticString = "/dev_00_00_00_00_00_00"
        let start = path.count - pattern.utf8CodeUnitCount
        guard start > 0 else { return nil }
        let value = pattern.withUTF8Buffer { pattern -> UInt64? in
            var value: UInt64 = 0
            for index in 0..<pattern.count {
                let expected = unsafe pattern[index]
                let character = path[start + index]
                if expected == UInt8(ascii: "0") {
                    guard let digit = Self.digit(character) else { return nil }
                    value = value << 4 | UInt64(digit)
                } else if character != expected {
                    return nil
                }
            }
            return value
        }
        guard let value else { return nil }
        self.init(rawValue: value)
    }

    /// The value of a hexadecimal digit; bluetoothd writes uppercase letters.
    private static func digit(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
