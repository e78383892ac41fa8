internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

/// The devices of the adapter, shared by the parts of ``Centrals`` that look up centrals.
///
/// The register belongs to the event loop.
final class DeviceRegister {
    private var table = DeviceTable()

    /// The number of connected centrals.
    var connectedCount: Int { table.connectedCount }

    /// The connected centrals.
    var connected: [Central.ID] { table.connected }

    /// The connected central with this address, as far as it is known.
    func central(_ id: Central.ID) -> Central? { table.central(id) }

    /// Returns the central with this address as bluetoothd describes it, connected or not connected.
    func known(_ id: Central.ID) -> Central? { table.known(id) }

    /// The central at the other end of a link with this address.
    func id(ofLink address: DeviceAddress) -> Central.ID { table.id(ofLink: address) }

    /// Records a request of a central.
    func heard(from address: DeviceAddress, mtu: Int) -> (central: Central, changes: [DeviceTable.Change]) {
        table.heard(from: address, mtu: mtu)
    }

    /// Records bluetoothd's report about a device.
    func update(_ path: ObjectPath, _ properties: BusValue) -> [DeviceTable.Change] {
        table.update(path, properties)
    }

    /// Records the parameters of a connected central's link.
    func set(_ parameters: ConnectionParameters?, of id: Central.ID) -> [DeviceTable.Change] {
        table.set(parameters, of: id)
    }

    /// Records that bluetoothd has dropped a device.
    func remove(_ path: ObjectPath) -> [DeviceTable.Change] {
        table.remove(path)
    }
}
