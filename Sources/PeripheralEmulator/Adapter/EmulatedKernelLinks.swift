internal import PeripheralBlueZ
internal import PeripheralDBus
internal import PeripheralKit
internal import PeripheralTesting

/// The adapters' connections, as a kernel would report them.
struct EmulatedKernelLinks: KernelLinks {
    /// Returns the controller of the adapter with a name.
    let controller: @Sendable (_ name: String) -> Controller?
    /// The loop on which the controllers carry out commands.
    let loop: EventLoop

    private func controller(of adapter: ObjectPath) -> Controller? {
        adapter.text.split(separator: "/").last.flatMap { controller(String($0)) }
    }

    func links(of adapter: ObjectPath) -> [LinkState]? {
        guard let server = controller(of: adapter)?.server else { return nil }
        return server.centrals.map { central in
            LinkState(
                address: central.address,
                isEncrypted: server.security(of: central.linkAddress) > .open,
                connection: central.connectionHandle
            )
        }
    }

    func control(
        _ adapter: ObjectPath,
        on loop: EventLoop,
        _ handle: @escaping (LinkEvent) -> Void
    ) -> (any LinkControl)? {
        controller(of: adapter).flatMap { $0.sockets.open(on: self.loop, to: $0.server) }
            .map { HCILinkControl($0, on: loop, handle) }
    }

    func listen(
        _ request: ListenerRequest,
        on loop: EventLoop,
        _ handle: @escaping (any BackendChannel, DeviceAddress) -> Void
    ) throws(ChannelListenerFailure) -> any ChannelListener {
        guard let server = controller(of: request.adapter)?.server else { throw .noSockets }
        guard let listener = EmulatedListener(request, of: server, on: loop, handle) else { throw .taken }
        return listener
    }
}
