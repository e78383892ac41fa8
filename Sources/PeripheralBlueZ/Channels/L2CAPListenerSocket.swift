internal import Glibc
internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

/// A socket through which the kernel accepts L2CAP channels.
///
/// The socket needs neither bluetoothd nor a privilege, except for the numbers below 0x80. It stays valid
/// while its adapter is powered off or unplugged (observed on 6.1).
///
/// The socket belongs to the event loop.
final class L2CAPListenerSocket: ChannelListener {
    /// The number of channels that can wait for the loop.
    private static let backlog: CInt = 8
    /// The pause after the program had no free file descriptor.
    private static let pause = Duration.milliseconds(100)

    let psm: UInt16
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
        guard descriptor >= 0 else { throw .noSockets }
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
        let mtu = UInt16(clamping: listener.mtu).gattBytes
        guard L2CAPOptions.set(L2CAPOptions.security, to: level, on: socket),
            L2CAPOptions.set(L2CAPOptions.receiveMTU, to: mtu, on: socket),
            // A channel opens only when the host has accepted it.
            L2CAPOptions.set(L2CAPOptions.deferSetup, to: UInt32(1).gattBytes, on: socket),
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
            let channel = L2CAPSocket(
                OwnedFileDescriptor(adopting: descriptor),
                on: loop,
                receiveMTU: listener.mtu,
                bufferedBytes: listener.bufferedBytes
            )
            if let address = address.address { handle(channel, address) } else { channel.abort() }
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
