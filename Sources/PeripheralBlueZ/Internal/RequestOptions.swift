internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

/// The options of a request, as bluetoothd sends them.
///
/// `device` and `mtu` are always there, the others when they say something (BlueZ, gatt-database.c). Unknown ones
/// are passed over.
struct RequestOptions {
    var central: Central
    var offset = 0
    /// Asks for permission to prepare a write, with an empty value; nothing is written yet.
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
        self.central = Central(address: address, mtu: mtu)
        self.offset = offset
        self.asksForAuthorization = asksForAuthorization
    }
}

extension DeviceAddress {
    /// The address that ends a device's object path, such as `/org/bluez/hci0/dev_C0_FF_EE_00_00_01`.
    init(devicePath path: borrowing BorrowedText) throws(BusError) {
        let path = path.string
        let suffix = path.utf8.suffix(21)
        var value: UInt64 = 0
        var digits = 0
        if suffix.starts(with: "dev_".utf8) {
            for character in suffix.dropFirst(4) where character != UInt8(ascii: "_") {
                guard let digit = Character(Unicode.Scalar(character)).hexDigitValue else { break }
                value = value << 4 | UInt64(digit)
                digits += 1
            }
        }
        guard digits == 12, let address = DeviceAddress(rawValue: value) else {
            throw .invalidValue("\"\(path)\" is not the path of a device")
        }
        self = address
    }
}
