internal import PeripheralBlueZ
internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit
internal import PeripheralTesting

/// A listener for L2CAP channels of an emulated controller.
///
/// The object belongs to the event loop of the backend.
final class EmulatedListener: ChannelListener {
    /// The handler of the requests.
    ///
    /// `@unchecked Sendable`: the closure is created and called on the loop only.
    private final class Handler: @unchecked Sendable {
        let request: (any BackendChannel, DeviceAddress) -> Void

        init(_ request: @escaping (any BackendChannel, DeviceAddress) -> Void) {
            self.request = request
        }
    }

    let psm: UInt16
    private let server: VirtualGATTServer
    private var isOpen = true

    /// Opens a listener; `nil` if the number is taken.
    init?(
        _ listener: BackendListener,
        psm: UInt16?,
        on server: VirtualGATTServer,
        _ loop: EventLoop,
        _ request: @escaping (any BackendChannel, DeviceAddress) -> Void
    ) {
        let handler = Handler(request)
        let number = server.listen(listener, at: psm) { channel, address in
            loop.execute { handler.request(channel, address) }
        }
        guard let number else { return nil }
        (self.psm, self.server) = (number, server)
    }

    deinit { close() }

    func close() {
        // Later, another listener can have the number.
        guard isOpen else { return }
        isOpen = false
        server.stopListening(psm)
    }
}
