internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

/// The devices that an adapter knows, and which of them are connected centrals.
///
/// A device is identified by the address in its path, which requests carry as well. A central with a changing
/// address keeps the address with which it first came. Its lasting address becomes known when it bonds, and
/// the path stays.
///
/// A pure value: what bluetoothd reports of its Device1 objects goes in; changes to report come out.
struct DeviceTable {
    enum Change: Hashable {
        case connected(Central)
        /// The properties of a connected central have changed.
        case changed(Central)
        /// A connected central has shown its lasting address, which is not the one under which it has
        /// subscribed.
        case identified(Central)
        case disconnected(Central)
        /// The bond is gone, and everything that bluetoothd has kept of the central.
        case forgotten(Central.ID)
    }

    private struct Device {
        var central: Central
        var isConnected: Bool
        /// The address that bluetoothd has reported, which may differ from that of the path.
        var toldAddress: DeviceAddress?
    }

    private var devices: [Central.ID: Device] = [:]

    /// How many centrals are connected.
    var connectedCount: Int { devices.values.count { $0.isConnected } }

    /// The connected central with this address, as far as it is known.
    func central(_ id: Central.ID) -> Central? {
        devices[id].flatMap { $0.isConnected ? $0.central : nil }
    }

    /// The central with this address as bluetoothd describes it, connected or not.
    func known(_ id: Central.ID) -> Central? { devices[id]?.central }

    /// The central at the other end of a link with this address.
    ///
    /// A central has its lasting address, once that is known. A central that was connected before keeps the
    /// address with which it came.
    func id(ofLink address: DeviceAddress) -> Central.ID {
        let id = Central.ID(address: address)
        guard central(id) == nil else { return id }
        return devices.first { $0.value.isConnected && $0.value.central.address == address }?.key ?? id
    }

    /// Records a request of a central and its MTU: the central is connected, whatever was reported before.
    mutating func heard(from address: DeviceAddress, mtu: Int) -> (central: Central, changes: [Change]) {
        let id = Central.ID(address: address)
        let known = devices[id]
        if let known, known.isConnected, known.central.mtu == mtu { return (known.central, []) }
        let central = (known?.central ?? Central(address: address)).with(mtu: mtu)
        devices[id] = Device(central: central, isConnected: true, toldAddress: known?.toldAddress)
        return (central, [known?.isConnected == true ? .changed(central) : .connected(central)])
    }

    /// Records what bluetoothd reports of a device; properties that it does not mention are unchanged.
    mutating func update(_ path: ObjectPath, _ properties: BusValue) -> [Change] {
        guard let id = Central.ID(devicePath: path) else { return [] }
        let before = devices[id]
        let central = Central(id, properties, before: before?.central)
        let isConnected = properties["Connected"]?.bool ?? before?.isConnected ?? false
        let wasConnected = before?.isConnected ?? false
        // The MTU belongs to a connection.
        devices[id] = Device(
            central: isConnected ? central : central.with(mtu: 23),
            isConnected: isConnected,
            toldAddress: properties["Address"] == nil ? before?.toldAddress : central.address
        )
        switch (wasConnected, isConnected) {
        case (false, true): return [.connected(central)]
        case (true, false): return [.disconnected(central)]
        case (true, true):
            guard !central.isSame(as: before?.central) else { return [] }
            let hasNewAddress = before?.toldAddress.map { $0 != central.address } ?? false
            return (hasNewAddress ? [.identified(central)] : []) + [.changed(central)]
        case (false, false): return []
        }
    }

    /// Records that bluetoothd has dropped a device.
    mutating func remove(_ path: ObjectPath) -> [Change] {
        guard let id = Central.ID(devicePath: path), let device = devices.removeValue(forKey: id) else {
            return []
        }
        return (device.isConnected ? [.disconnected(device.central)] : []) + [.forgotten(id)]
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
    /// A device as bluetoothd describes it; properties that it does not mention are as before.
    init(_ id: ID, _ properties: BusValue, before: Central? = nil) {
        let kind: DeviceAddress.Kind? =
            switch properties["AddressType"]?.string {
            case "public": .public
            case "random": .random
            default: before?.addressKind
            }
        // Before 5.65, bluetoothd reports only the pairing.
        let isBonded = properties["Bonded"]?.bool ?? properties["Paired"]?.bool
        self.init(
            address: properties["Address"]?.string.flatMap { DeviceAddress($0) } ?? before?.address
                ?? id.address,
            addressKind: kind,
            isBonded: isBonded ?? before?.isBonded ?? false,
            mtu: before?.mtu ?? 23,
            id: id
        )
    }
}

extension Central {
    fileprivate func with(mtu: Int) -> Central {
        Central(address: address, addressKind: addressKind, isBonded: isBonded, mtu: mtu, id: id)
    }

    fileprivate func isSame(as other: Central?) -> Bool {
        address == other?.address && addressKind == other?.addressKind && isBonded == other?.isBonded
            && mtu == other?.mtu
    }
}
