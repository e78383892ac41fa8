internal import Glibc
internal import PeripheralBlueZ
internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit
internal import PeripheralTesting
internal import Synchronization

/// The sockets through which programs receive the events of an emulated controller, and send commands to it.
///
/// A kernel writes an event to the sockets before bluetoothd reports it on the bus. It does so for programs
/// with the capability `CAP_NET_RAW`.
final class ControllerSockets: Sendable {
    private struct Socket {
        let end: OwnedFileDescriptor
        var source: LoopSource?
    }

    private let sockets = Mutex<[Socket]>([])

    /// Opens a socket.
    ///
    /// - Parameters:
    ///   - loop: The loop that serves the commands.
    ///   - server: The server that the controller belongs to.
    /// - Returns: The program's end; `nil` if no file descriptors are available.
    func open(on loop: EventLoop, to server: VirtualGATTServer) -> OwnedFileDescriptor? {
        var descriptors: [CInt] = [-1, -1]
        let kind = CInt(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &descriptors) == 0 else { return nil }
        let end = OwnedFileDescriptor(adopting: descriptors[0])
        sockets.withLock { $0.append(Socket(end: end)) }
        loop.execute { self.serve(end, on: loop, to: server) }
        return OwnedFileDescriptor(adopting: descriptors[1])
    }

    private func serve(_ end: OwnedFileDescriptor, on loop: EventLoop, to server: VirtualGATTServer) {
        let source = loop.watch(fileDescriptor: end.descriptor, events: .readable) { [weak self] _ in
            var buffer = [UInt8](repeating: 0, count: 64)
            let count = unsafe recv(end.descriptor, &buffer, buffer.count, 0)
            if count > 0 { return self?.carryOut(buffer[..<count], on: server) ?? () }
            if count == 0 || errno != EAGAIN { self?.remove(end) }
        }
        sockets.withLock { sockets in
            for index in sockets.indices where sockets[index].end == end { sockets[index].source = source }
        }
    }

    private func remove(_ end: OwnedFileDescriptor) {
        let removed = sockets.withLock { sockets in
            defer { sockets.removeAll { $0.end == end } }
            return sockets.first { $0.end == end }
        }
        removed?.source?.cancel()
    }

    /// Writes the packet of a connection event.
    func report(_ event: ConnectionEvent) {
        switch event {
        case .connected(let central):
            // LE Connection Complete. The packet contains no address, because no program reads it.
            let head: [UInt8] = [0x04, 0x3E, 19, 0x01, 0] + central.connectionHandle.gattBytes + [1, 1]
            write(head + [0, 0, 0, 0, 0, 0] + central.timing + [0])
        case .changed(let central):
            write([0x04, 0x3E, 10, 0x03, 0] + central.connectionHandle.gattBytes + central.timing)
        case .disconnected(let central, let reason):
            // 0x1F: an unspecified error.
            write([0x04, 0x05, 4, 0] + central.connectionHandle.gattBytes + [reason.code ?? 0x1F])
        case .secured, .paired, .pairingFailed, .forgotten, .refusedLength: break
        }
    }

    /// Carries out a command, and writes the answer.
    private func carryOut(_ packet: ArraySlice<UInt8>, on server: VirtualGATTServer) {
        let numbers = stride(from: 4, to: packet.count - 1, by: 2).map { index in
            UInt16(packet[index]) | UInt16(packet[index + 1]) << 8
        }
        guard let handle = numbers.first else { return }
        let central = server.centrals.first { $0.connectionHandle == handle }
        switch packet.dropFirst().prefix(2) {
        case [0x05, 0x14]:
            let strength = central.flatMap { try? server.signalStrength(of: $0.id) }
            write(
                [0x04, 0x0E, 7, 1, 0x05, 0x14, strength == nil ? 0x02 : 0] + handle.gattBytes
                    + [UInt8(bitPattern: Int8(strength ?? 0))]
            )
        case [0x13, 0x20] where numbers.count == 7 && numbers[1] <= numbers[2]:
            write([0x04, 0x0F, 4, central == nil ? 0x02 : 0, 1, 0x13, 0x20])
            let units = ConnectionPreference.Units(
                interval: numbers[1]...numbers[2],
                latency: numbers[3],
                supervisionTimeout: numbers[4]
            )
            guard let central, (try? server.prefer(units, for: central.id)) == .some(nil) else { return }
            // 0x3B: unacceptable connection parameters.
            write([0x04, 0x3E, 10, 0x03, 0x3B] + handle.gattBytes + central.timing)
        default: break
        }
    }

    private func write(_ packet: [UInt8]) {
        for end in sockets.withLock({ $0.map(\.end) }) {
            // A socket whose other end is closed is removed by its watch.
            _ = unsafe send(end.descriptor, packet, packet.count, CInt(MSG_NOSIGNAL))
        }
    }
}

extension Central {
    /// The handle that the emulated controller gives to the link of the central.
    var connectionHandle: UInt16 {
        let bytes = linkAddress.littleEndianBytes
        return UInt16(bytes[0]) | UInt16(bytes[1] & 0x0E) << 8
    }

    /// The interval, the latency and the timeout of the link, in the units of a controller.
    fileprivate var timing: [UInt8] {
        let parameters = connectionParameters ?? VirtualGATTServer.firstParameters
        let numbers = [
            UInt16(parameters.interval / .microseconds(1250)), UInt16(parameters.latency),
            UInt16(parameters.supervisionTimeout / .milliseconds(10)),
        ]
        return numbers.flatMap(\.gattBytes)
    }
}
