internal import Glibc
internal import PeripheralDBus

/// Watches the links of an adapter through the kernel's monitor channel, which requires `CAP_NET_RAW`.
///
/// The capability is needed only when the socket is bound. The kernel keeps unread frames up to a limit.
/// Beyond the limit, the kernel drops frames and counts the dropped frames.
///
/// The monitor belongs to the event loop: it must be created, used and closed there.
final class LinkMonitor: LinkWatch {
    // These values are from <bluetooth/bluetooth.h> and <bluetooth/hci.h>. The headers belong to BlueZ's
    // library, not to the C library.
    private static let addressFamily: CInt = 31  // AF_BLUETOOTH
    private static let hciProtocol: CInt = 1  // BTPROTO_HCI

    // These values are from <asm-generic/socket.h> and <linux/sock_diag.h>. They describe the memory of a
    // socket, and the last number counts dropped frames.
    private static let memoryInformation: CInt = 55  // SO_MEMINFO
    private static let memoryNumbers = 9  // SK_MEMINFO_VARS
    private static let lostNumber = 8  // SK_MEMINFO_DROPS

    /// `struct sockaddr_hci`.
    private struct Address {
        var family = UInt16(LinkMonitor.addressFamily)
        var device: UInt16 = 0xFFFF  // HCI_DEV_NONE: the channel is that of all adapters
        var channel: UInt16 = 2  // HCI_CHANNEL_MONITOR
    }

    /// The longest frame that is read.
    ///
    /// The filter passes longer frames only for many updates in one packet. In that case, not all updates are
    /// observed.
    private static let longestFrame = 1024
    /// The number of frames that are read in one turn of the loop.
    private static let framesInATurn = 64
    /// The time that the monitor waits for more packets while the controller has many packets.
    private static let pause = Duration.milliseconds(4)
    private static let manyPackets = 4

    /// Opens a socket that shows the traffic of the links; `nil` if the kernel does not allow this.
    private let open: () -> OwnedFileDescriptor?
    private var socket: OwnedFileDescriptor
    /// Whether the socket has failed and must be replaced.
    private var isBroken = false
    private var observer: LinkObserver
    private let handle: ([LinkObservation]) -> Void
    private let loop: EventLoop
    /// Wakes up the monitor; `nil` if the monitor no longer watches.
    private var source: LoopSource?
    private var isPausing = false
    private var framesLostBefore: UInt32 = 0
    private var buffer = [UInt8](repeating: 0, count: longestFrame)

    /// Begins to watch; `nil` if the kernel does not allow this.
    ///
    /// - Parameters:
    ///   - adapter: The number of the adapter.
    ///   - loop: The loop on which the caller runs.
    ///   - handle: Called on the loop with observations.
    convenience init?(adapter: UInt16, on loop: EventLoop, _ handle: @escaping ([LinkObservation]) -> Void) {
        self.init(adapter: adapter, on: loop, opening: { Self.openSocket(for: adapter) }, handle)
    }

    /// Begins to watch through the sockets that `open` opens.
    init?(
        adapter: UInt16,
        on loop: EventLoop,
        opening open: @escaping () -> OwnedFileDescriptor?,
        _ handle: @escaping ([LinkObservation]) -> Void
    ) {
        guard let socket = open() else { return nil }
        self.open = open
        self.socket = socket
        self.handle = handle
        self.loop = loop
        observer = LinkObserver(adapter: adapter)
        source = waitForFrames()
    }

    private static func openSocket(for adapter: UInt16) -> OwnedFileDescriptor? {
        let kind = CInt(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = Glibc.socket(addressFamily, kind, hciProtocol)
        guard descriptor >= 0 else { return nil }
        let socket = OwnedFileDescriptor(adopting: descriptor)
        // The filter is attached first, so no other frames arrive.
        guard MonitorFilter(adapter: adapter).attach(to: socket), bind(socket) else { return nil }
        return socket
    }

    private func waitForFrames() -> LoopSource {
        loop.watch(fileDescriptor: socket.descriptor, events: .readable) { [weak self] _ in self?.receive() }
    }

    /// Waits for frames.
    ///
    /// While the links are busy, the monitor first waits for a short time. It then reads a bulk transfer as a
    /// whole instead of packet by packet.
    private func wait(isBusy: Bool) {
        guard isBusy || isPausing else { return }
        source?.cancel()
        source =
            isBusy ? loop.schedule(after: Self.pause) { [weak self] in self?.receive() } : waitForFrames()
        isPausing = isBusy
    }

    private static func bind(_ socket: OwnedFileDescriptor) -> Bool {
        var address = Address()
        return unsafe withUnsafeBytes(of: &address) { bytes in
            guard let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else {
                return false
            }
            return unsafe Glibc.bind(socket.descriptor, start, socklen_t(MemoryLayout<Address>.size)) == 0
        }
    }

    func look() -> LinkActivity {
        replaceBrokenSocket()
        return observer.look()
    }

    func packetsInFlight(on connection: UInt16) -> Int {
        observer.packetsInFlight(on: connection)
    }

    var packetsInFlight: Int { observer.packetsInFlight }

    /// Opens a new socket to replace a socket that has failed.
    ///
    /// If this fails, each look tries again.
    private func replaceBrokenSocket() {
        guard isBroken, let other = open() else { return }
        (socket, isBroken, framesLostBefore) = (other, false, 0)
        source = waitForFrames()
        // Frames were missed in the meantime. The caller is in the middle of a look.
        let observations = observer.missed()
        _ = loop.schedule(after: .zero) { [weak self] in
            if self?.source != nil { self?.handle(observations) }
        }
    }

    /// Stops watching.
    func close() {
        source?.cancel()
        (source, isBroken) = (nil, false)
    }

    private func receive() {
        var observations: [LinkObservation] = []
        var (isDrained, hasRead) = (false, false)
        for _ in 0..<Self.framesInATurn {
            let count = unsafe buffer.withUnsafeMutableBytes { buffer in
                unsafe recv(socket.descriptor, buffer.baseAddress, buffer.count, 0)
            }
            guard count > 0 else {
                // A broken socket would wake the loop forever.
                if count == 0 || ![EAGAIN, EINTR].contains(errno) {
                    close()
                    isBroken = true
                }
                isDrained = true
                break
            }
            hasRead = true
            if let frame = MonitorFrame(buffer[..<count]) { observations += observer.take(frame) }
        }
        let lost = framesLost
        if lost != framesLostBefore || source == nil {
            framesLostBefore = lost
            observations += observer.missed()
        }
        if source != nil {
            wait(isBusy: isDrained && hasRead && observer.packetsInFlight >= Self.manyPackets)
        }
        if !observations.isEmpty { handle(observations) }
    }

    /// The number of frames that the kernel dropped for lack of room, without frames that the filter rejects.
    private var framesLost: UInt32 {
        var numbers = [UInt32](repeating: 0, count: Self.memoryNumbers)
        var size = socklen_t(MemoryLayout<UInt32>.stride * numbers.count)
        let isReported =
            unsafe getsockopt(socket.descriptor, SOL_SOCKET, Self.memoryInformation, &numbers, &size) == 0
        return isReported ? numbers[Self.lostNumber] : 0
    }
}
