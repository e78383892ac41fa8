internal import Glibc
internal import PeripheralCore
internal import PeripheralDBus

/// The kernel's interface for L2CAP sockets.
///
/// These values are from <bluetooth/bluetooth.h> and <bluetooth/l2cap.h>. The headers belong to BlueZ's
/// library, not to the C library.
enum L2CAPOptions {
    static let addressFamily: CInt = 31  // AF_BLUETOOTH
    static let l2capProtocol: CInt = 0  // BTPROTO_L2CAP
    static let level: CInt = 274  // SOL_BLUETOOTH
    static let security: CInt = 4  // BT_SECURITY
    static let deferSetup: CInt = 7  // BT_DEFER_SETUP
    static let sendMTU: CInt = 12  // BT_SNDMTU
    static let receiveMTU: CInt = 13  // BT_RCVMTU

    /// Sets an option of a socket.
    ///
    /// - Returns: Whether the kernel accepts the value.
    static func set(_ option: CInt, of level: CInt = level, to value: [UInt8], on socket: OwnedFileDescriptor)
        -> Bool
    {
        unsafe setsockopt(socket.descriptor, level, option, value, socklen_t(value.count)) == 0
    }

    /// The longest packet that the other side receives; `nil` if the channel is not connected.
    static func sendMTU(of socket: OwnedFileDescriptor) -> Int? {
        var mtu: UInt16 = 0
        var size = socklen_t(MemoryLayout.size(ofValue: mtu))
        guard unsafe getsockopt(socket.descriptor, level, sendMTU, &mtu, &size) == 0 else { return nil }
        return Int(mtu)
    }
}

/// `struct sockaddr_l2`: the address of one end of a channel, on a little-endian machine.
struct L2CAPAddress {
    /// The size of the structure, with the padding at its end.
    static let size = 14
    /// The address type of a public address of Bluetooth LE.
    ///
    /// To the kernel, it only matters that the type is not one of Bluetooth Classic.
    private static let lowEnergy: UInt8 = 1  // BDADDR_LE_PUBLIC

    /// Family, PSM, address, channel number, address type.
    private(set) var bytes: [UInt8]

    init(_ address: DeviceAddress, psm: UInt16) {
        bytes =
            UInt16(L2CAPOptions.addressFamily).gattBytes + psm.gattBytes + address.littleEndianBytes
            + [0, 0, Self.lowEnergy, 0]
    }

    init() {
        bytes = Array(repeating: 0, count: Self.size)
    }

    /// The PSM.
    var psm: UInt16 { UInt16(bytes[2]) | UInt16(bytes[3]) << 8 }

    /// The address of the device.
    var address: DeviceAddress? { DeviceAddress(littleEndian: bytes[4..<10]) }

    /// Calls the body with the address in the form of the C library.
    mutating func withSocketAddress<Output>(
        _ body: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Output
    ) -> Output? {
        var size = socklen_t(bytes.count)
        return unsafe bytes.withUnsafeMutableBytes { bytes in
            guard let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else {
                return nil
            }
            return unsafe body(start, &size)
        }
    }
}
