internal import PeripheralBlueZ
internal import PeripheralDBus
internal import PeripheralKit
internal import PeripheralTesting

/// The security of the adapters' connections, as a kernel would report it.
struct EmulatedKernelLinks: KernelLinks {
    /// Returns the controller of the adapter with a name.
    let controller: @Sendable (_ name: String) -> Controller?

    func links(of adapter: ObjectPath) -> [LinkState]? {
        guard let name = adapter.text.split(separator: "/").last,
            let server = controller(String(name))?.server
        else { return nil }
        return server.centrals.map { central in
            LinkState(
                address: central.address,
                isEncrypted: server.security(of: central.linkAddress) > .open
            )
        }
    }
}
