internal import PeripheralBlueZ
internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit
internal import PeripheralTesting

/// A listener for L2CAP channels of an emulated controller.
///
/// The object belongs to the event loop of the backend.
final class EmulatedListener: ChannelListener {
    /// The handler of the channels.
    ///
    /// `@unchecked Sendable`: the closure is created and called on the loop only.
    private final class Handler: @unchecked Sendable {
        let handle: (any BackendChannel, DeviceAddress) -> Void

        init(_ handle: @escaping (any BackendChannel, DeviceAddress) -> Void) {
            self.handle = handle
        }
    }

    let psm: UInt16
    let mtu: Int
    private let server: VirtualGATTServer
    private var isOpen = true

    /// Opens a listener; `nil` if the number is taken.
    init?(
        _ request: ListenerRequest,
        of server: VirtualGATTServer,
        on loop: EventLoop,
        _ handle: @escaping (any BackendChannel, DeviceAddress) -> Void
    ) {
        let handler = Handler(handle)
        let number = server.listen(request.listener, at: request.psm) { channel, address in
            loop.execute { handler.handle(channel, address) }
        }
        guard let number else { return nil }
        (psm, mtu, self.server) = (number, request.listener.mtu, server)
    }

    deinit { close() }

    func close() {
        // Later, another listener can have the number.
        guard isOpen else { return }
        isOpen = false
        server.stopListening(psm)
    }
}
