internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

/// The devices that an adapter knows, and the connected centrals among them.
///
/// The address in the path of a device identifies the device. Requests contain the same address. A central
/// with a changing address keeps the address of its first connection. Its lasting address becomes known when
/// the central bonds, and the path stays the same.
///
/// The table is a pure value. It receives bluetoothd's reports about Device1 objects, and returns the changes
/// to report.
struct DeviceTable {
    enum Change: Hashable {
        case connected(Central)
        /// The properties of a connected central have changed.
        case changed(Central)
        /// A connected central has sent its identity address.
        ///
        /// The subscriptions of the central use a different address.
        case identified(Central)
        case disconnected(Central)
        /// The bond of a central no longer exists.
        case bondRemoved(Central)
        /// bluetoothd has removed the bond and all other data about the central.
        case forgotten(Central.ID)
    }

    private struct Device {
        var central: Central
        var isConnected: Bool
        /// The address that bluetoothd has reported, which may differ from the address in the path.
        var reportedAddress: DeviceAddress?
    }

    private var devices: [Central.ID: Device] = [:]

    /// The number of connected centrals.
    var connectedCount: Int { connected.count }

    /// The connected centrals.
    var connected: [Central.ID] { devices.filter { $0.value.isConnected }.map(\.key) }

    /// The connected central with this address, as far as it is known.
    func central(_ id: Central.ID) -> Central? {
        devices[id].flatMap { $0.isConnected ? $0.central : nil }
    }

    /// Returns the central with this address as bluetoothd describes it, connected or not connected.
    func known(_ id: Central.ID) -> Central? { devices[id]?.central }

    /// The central at the other end of a link with this address.
    ///
    /// As soon as the lasting address of a central is known, the central has this address. A central that was
    /// connected earlier keeps the address of its first connection.
    func id(ofLink address: DeviceAddress) -> Central.ID {
        let id = Central.ID(address: address)
        guard central(id) == nil else { return id }
        return devices.first { $0.value.isConnected && $0.value.central.address == address }?.key ?? id
    }

    /// Records a request of a central and its MTU.
    ///
    /// The request shows that the central is connected, regardless of earlier reports.
    mutating func heard(from address: DeviceAddress, mtu: Int) -> (central: Central, changes: [Change]) {
        let id = Central.ID(address: address)
        let known = devices[id]
        if let known, known.isConnected, known.central.mtu == mtu { return (known.central, []) }
        let central = (known?.central ?? Central(address: address)).with(
            mtu: mtu,
            known?.central.connectionParameters
        )
        devices[id] = Device(central: central, isConnected: true, reportedAddress: known?.reportedAddress)
        return (central, [known?.isConnected == true ? .changed(central) : .connected(central)])
    }

    /// Records the parameters of a connected central's link.
    mutating func set(_ parameters: ConnectionParameters?, of id: Central.ID) -> [Change] {
        guard let central = central(id), central.connectionParameters != parameters else { return [] }
        devices[id]?.central.connectionParameters = parameters
        return [.changed(self.central(id) ?? central)]
    }

    /// Records bluetoothd's report about a device; properties that are not in the report are unchanged.
    mutating func update(_ path: ObjectPath, _ properties: BusValue) -> [Change] {
        guard let id = Central.ID(devicePath: path) else { return [] }
        let before = devices[id]
        let central = Central(id, properties, before: before?.central)
        let isConnected = properties["Connected"]?.bool ?? before?.isConnected ?? false
        let wasConnected = before?.isConnected ?? false
        // The MTU and the parameters belong to a connection.
        devices[id] = Device(
            central: isConnected ? central : central.with(mtu: 23, nil),
            isConnected: isConnected,
            reportedAddress: properties["Address"] == nil ? before?.reportedAddress : central.address
        )
        let removal = before.flatMap { $0.central.isBonded && !central.isBonded ? $0.central : nil }
        let removed = removal.map { [Change.bondRemoved($0)] } ?? []
        guard wasConnected else { return removed + (isConnected ? [.connected(central)] : []) }
        var changes: [Change] = []
        if !central.isSame(as: before?.central) {
            let hasNewAddress = before?.reportedAddress.map { $0 != central.address } ?? false
            changes = (hasNewAddress ? [.identified(central)] : []) + [.changed(central)]
        }
        // A busy bluetoothd reports a bond and the disconnection after it together.
        return changes + removed + (isConnected ? [] : [.disconnected(central)])
    }

    /// Records that bluetoothd has dropped a device.
    mutating func remove(_ path: ObjectPath) -> [Change] {
        guard let id = Central.ID(devicePath: path), let device = devices.removeValue(forKey: id) else {
            return []
        }
        let removed: [Change] = device.central.isBonded ? [.bondRemoved(device.central)] : []
        return (device.isConnected ? [.disconnected(device.central)] : []) + removed + [.forgotten(id)]
    }
}

extension Central.ID {
    /// The identity in a device's object path, such as `/org/bluez/hci0/dev_C0_FF_EE_00_00_01`.
    init?(devicePath path: ObjectPath) {
        let name = path.text.utf8.suffix(17).map { $0 == UInt8(ascii: "_") ? UInt8(ascii: ":") : $0 }
        guard let address = DeviceAddress(String(decoding: name, as: UTF8.self)) else { return nil }
        self.init(address: address)
    }
}

extension Central {
    /// Creates a central from bluetoothd's description; properties that are not in it are unchanged.
    init(_ id: ID, _ properties: BusValue, before: Central? = nil) {
        let kind: DeviceAddress.Kind? =
            switch properties["AddressType"]?.string {
            case "public": .public
            case "random": .random
            default: before?.addressKind
            }
        // Before 5.65, bluetoothd reports only whether the device is paired.
        let isBonded = properties["Bonded"]?.bool ?? properties["Paired"]?.bool
        self.init(
            address: properties["Address"]?.string.flatMap { DeviceAddress($0) } ?? before?.address
                ?? id.address,
            addressKind: kind,
            isBonded: isBonded ?? before?.isBonded ?? false,
            mtu: before?.mtu ?? 23,
            connectionParameters: before?.connectionParameters,
            id: id
        )
    }
}

extension Central {
    fileprivate func with(mtu: Int, _ parameters: ConnectionParameters?) -> Central {
        Central(
            address: address,
            addressKind: addressKind,
            isBonded: isBonded,
            mtu: mtu,
            connectionParameters: parameters,
            id: id
        )
    }

    fileprivate func isSame(as other: Central?) -> Bool {
        address == other?.address && addressKind == other?.addressKind && isBonded == other?.isBonded
            && mtu == other?.mtu && connectionParameters == other?.connectionParameters
    }
}
