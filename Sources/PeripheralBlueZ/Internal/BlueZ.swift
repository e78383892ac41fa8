internal import PeripheralDBus

/// The names that bluetoothd gives to things (BlueZ, doc/org.bluez.*.rst).
enum BlueZ {
    static let name: BusName = "org.bluez"
    static let adapter: InterfaceName = "org.bluez.Adapter1"
    static let device: InterfaceName = "org.bluez.Device1"
    static let gattManager: InterfaceName = "org.bluez.GattManager1"
    static let advertisingManager: InterfaceName = "org.bluez.LEAdvertisingManager1"
    static let service: InterfaceName = "org.bluez.GattService1"
    static let characteristic: InterfaceName = "org.bluez.GattCharacteristic1"
    static let descriptor: InterfaceName = "org.bluez.GattDescriptor1"
    static let advertisement: InterfaceName = "org.bluez.LEAdvertisement1"
    static let agentManager: InterfaceName = "org.bluez.AgentManager1"
    static let agent: InterfaceName = "org.bluez.Agent1"
    static let objectManager: InterfaceName = "org.freedesktop.DBus.ObjectManager"
    static let peer: InterfaceName = "org.freedesktop.DBus.Peer"
}
