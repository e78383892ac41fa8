internal import Glibc
internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

/// A socket through which the kernel accepts L2CAP channels.
///
/// The socket needs neither bluetoothd nor a privilege, except for the numbers below 0x80. It stays valid
/// while its adapter is powered off or unplugged (observed on 6.1).
///
/// The kernel opens a channel before the program knows of it. `BT_DEFER_SETUP` would let the program decide
/// first, but the kernel closes each such channel after 40 seconds: it never stops the timer of the setup
/// (observed on 6.1; `__l2cap_le_connect_rsp_defer` in net/bluetooth/l2cap_core.c).
///
/// The socket belongs to the event loop.
final class L2CAPListenerSocket: ChannelListener {
    /// The number of channels that can wait for the loop.
    private static let backlog: CInt = 8
    /// The pause after the program had no free file descriptor.
    private static let pause = Duration.milliseconds(100)

    let psm: UInt16
    let mtu: Int
    private let socket: OwnedFileDescriptor
    private let listener: BackendListener
    private let loop: EventLoop
    private let handle: (any BackendChannel, DeviceAddress) -> Void
    private var source: LoopSource?

    /// Opens the socket and begins to accept channels.
    init(
        _ request: ListenerRequest,
        on loop: EventLoop,
        _ handle: @escaping (any BackendChannel, DeviceAddress) -> Void
    ) throws(ChannelListenerFailure) {
        (listener, self.loop, self.handle) = (request.listener, loop, handle)
        let kind = CInt(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = Glibc.socket(L2CAPOptions.addressFamily, kind, L2CAPOptions.l2capProtocol)
        guard descriptor >= 0 else {
            throw [EMFILE, ENFILE, ENOMEM, ENOBUFS].contains(errno) ? .failed(errno) : .noSockets
        }
        socket = OwnedFileDescriptor(adopting: descriptor)
        var address = L2CAPAddress(request.address, psm: request.psm ?? 0)
        guard unsafe address.withSocketAddress({ unsafe bind(descriptor, $0, $1.pointee) }) == 0 else {
            switch errno {
            case EADDRINUSE: throw .taken
            case EACCES: throw .forbidden
            default: throw .failed(errno)
            }
        }
        let level = [listener.security.rawValue + 1, 0]
        mtu = L2CAPOptions.setReceiveBuffer(to: listener.bufferedBytes, for: listener.mtu, on: socket)
        guard L2CAPOptions.set(L2CAPOptions.security, to: level, on: socket),
            L2CAPOptions.set(L2CAPOptions.receiveMTU, to: UInt16(clamping: mtu).gattBytes, on: socket),
            listen(descriptor, Self.backlog) == 0,
            unsafe address.withSocketAddress({ unsafe getsockname(descriptor, $0, $1) }) == 0
        else { throw .failed(errno) }
        psm = address.psm
        watch()
    }

    private func watch() {
        source = loop.watch(fileDescriptor: socket.descriptor, events: .readable) { [weak self] _ in
            self?.accept()
        }
    }

    private func accept() {
        while source != nil {
            var address = L2CAPAddress()
            let descriptor =
                unsafe address.withSocketAddress { unsafe Glibc.accept(socket.descriptor, $0, $1) } ?? -1
            guard descriptor >= 0 else {
                if [EMFILE, ENFILE, ENOMEM, ENOBUFS].contains(errno) { rest() }
                return
            }
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            let channel = OwnedFileDescriptor(adopting: descriptor)
            // Without an MTU, the central has left meanwhile.
            guard let central = address.address, let sendMTU = L2CAPOptions.sendMTU(of: channel) else {
                continue
            }
            // The socket does not inherit the buffer of its listener.
            _ = L2CAPOptions.setReceiveBuffer(to: listener.bufferedBytes, for: mtu, on: channel)
            L2CAPOptions.setSendBuffer(for: sendMTU, on: channel)
            handle(L2CAPSocket(channel, on: loop, receiveMTU: mtu, sendMTU: sendMTU), central)
        }
    }

    /// Waits a moment, because the channel that the program has no descriptor for would wake the loop
    /// forever.
    private func rest() {
        source?.cancel()
        source = loop.schedule(after: Self.pause) { [weak self] in self?.watch() }
    }

    func close() {
        source?.cancel()
        source = nil
    }
}
