internal import PeripheralDBus
internal import PeripheralKit

/// Follows the links of the connected centrals.
///
/// The kernel reports the events of the controller before bluetoothd reports their effects. The object
/// belongs to the event loop.
final class Links {
    private let devices: DeviceRegister
    private let kernelLinks: any KernelLinks
    private let loop: EventLoop
    private var adapter: ObjectPath?
    private var control: (any LinkControl)?
    private var table = LinkTable()

    init(of devices: DeviceRegister, kernelLinks: any KernelLinks, loop: EventLoop) {
        (self.devices, self.kernelLinks, self.loop) = (devices, kernelLinks, loop)
    }

    /// Begins to follow the links of an adapter.
    func begin(on adapter: ObjectPath) {
        end()
        self.adapter = adapter
        learn()
    }

    func end() {
        control?.close()
        control = nil
    }

    func connected(_ central: Central.ID) {
        table.connected(central)
        learn()
    }

    /// Records the reason in bluetoothd's signal, which precedes the report of the disconnection.
    func ended(_ central: Central.ID, because cause: DisconnectionReason.Cause) {
        if devices.central(central) != nil { table.take(cause, of: central) }
    }

    /// Returns why a central has disconnected.
    func disconnected(_ central: Central.ID) -> DisconnectionReason {
        control?.receive()
        return table.disconnected(central)
    }

    /// Learns which link belongs to which central.
    private func learn() {
        guard let adapter else { return }
        if control?.isOpen != true {
            control = kernelLinks.control(adapter, on: loop) { [weak self] in self?.table.take($0) }
        }
        let links = kernelLinks.links(of: adapter) ?? []
        table.learn(links.map { ($0.connection, devices.id(ofLink: $0.address)) })
    }
}
