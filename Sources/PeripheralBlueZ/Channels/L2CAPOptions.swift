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

    /// How large a receive buffer must be for a packet to fit, in bytes for each byte of the packet.
    ///
    /// The kernel grants credits for the free buffer without the size of a `struct sk_buff` for each piece of
    /// a packet (`l2cap_publish_rx_avail` in net/bluetooth/l2cap_sock.c). The usual pieces have 247 bytes.
    /// The structure has 232 bytes on many kernels, and 240 on some, so less than a 35th part of the buffer
    /// can be left. If a packet does not fit into this part, the central waits forever.
    private static let bufferForEachByte = 36

    /// Sets the receive buffer of a socket, so that it has room for a number of bytes and for one packet.
    ///
    /// A program without `CAP_NET_ADMIN` cannot exceed the sysctl `net.core.rmem_max`.
    ///
    /// - Returns: The longest packet that fits, at most `mtu` and at least 23 bytes.
    static func setReceiveBuffer(to bytes: Int, for mtu: Int, on socket: OwnedFileDescriptor) -> Int {
        // The kernel doubles the number.
        let wanted = UInt32(clamping: max(bytes, mtu * bufferForEachByte / 2)).gattBytes
        if !set(SO_RCVBUFFORCE, of: SOL_SOCKET, to: wanted, on: socket) {
            _ = set(SO_RCVBUF, of: SOL_SOCKET, to: wanted, on: socket)
        }
        var size: CInt = 0
        var length = socklen_t(MemoryLayout.size(ofValue: size))
        guard unsafe getsockopt(socket.descriptor, SOL_SOCKET, SO_RCVBUF, &size, &length) == 0 else {
            return mtu
        }
        return longestPacket(inBufferOf: Int(size), mtu: mtu)
    }

    /// Returns the longest packet for which a receive buffer surely has room, at most `mtu` bytes.
    static func longestPacket(inBufferOf size: Int, mtu: Int) -> Int {
        min(mtu, max(size / bufferForEachByte, 23))
    }

    /// Packets beyond this length may need more memory than the usual send buffer has room for.
    private static let longestUsualPacket = 3000
    /// A buffer that is larger than the kernel permits.
    private static let largestBuffer: UInt32 = 1 << 28

    /// Enlarges the send buffer of a socket for long packets, as far as the kernel permits.
    static func setSendBuffer(for mtu: Int, on socket: OwnedFileDescriptor) {
        guard mtu > longestUsualPacket else { return }
        _ = set(SO_SNDBUF, of: SOL_SOCKET, to: largestBuffer.gattBytes, on: socket)
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
