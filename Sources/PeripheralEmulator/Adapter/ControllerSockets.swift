internal import Glibc
internal import PeripheralBlueZ
internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit
internal import PeripheralTesting
internal import Synchronization

/// The sockets through which programs receive the events of an emulated controller.
///
/// A kernel writes an event to the sockets before bluetoothd reports it on the bus.
final class ControllerSockets: Sendable {
    private let ends = Mutex<[OwnedFileDescriptor]>([])

    /// Opens a socket; `nil` if no file descriptors are available.
    func open() -> OwnedFileDescriptor? {
        var descriptors: [CInt] = [-1, -1]
        let kind = CInt(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &descriptors) == 0 else { return nil }
        ends.withLock { $0.append(OwnedFileDescriptor(adopting: descriptors[0])) }
        return OwnedFileDescriptor(adopting: descriptors[1])
    }

    /// Writes the packet of a connection event.
    func report(_ event: ConnectionEvent) {
        guard case .disconnected(let central, let reason) = event else { return }
        // 0x1F: an unspecified error.
        write([0x04, 0x05, 4, 0] + central.connectionHandle.gattBytes + [reason.code ?? 0x1F])
    }

    private func write(_ packet: [UInt8]) {
        ends.withLock { ends in
            ends.removeAll { end in
                let count = unsafe send(end.descriptor, packet, packet.count, CInt(MSG_NOSIGNAL))
                return count < 0 && errno != EAGAIN
            }
        }
    }
}

extension Central {
    /// The handle that the emulated controller gives to the link of the central.
    var connectionHandle: UInt16 {
        let bytes = linkAddress.littleEndianBytes
        return UInt16(bytes[0]) | UInt16(bytes[1] & 0x0E) << 8
    }
}
