package import PeripheralDBus

/// The D-Bus names of bluetoothd (BlueZ, doc/org.bluez.*.rst).
package enum BlueZ {
    package static let name: BusName = "org.bluez"
    package static let adapter: InterfaceName = "org.bluez.Adapter1"
    package static let device: InterfaceName = "org.bluez.Device1"
    package static let gattManager: InterfaceName = "org.bluez.GattManager1"
    package static let advertisingManager: InterfaceName = "org.bluez.LEAdvertisingManager1"
    package static let service: InterfaceName = "org.bluez.GattService1"
    package static let characteristic: InterfaceName = "org.bluez.GattCharacteristic1"
    package static let descriptor: InterfaceName = "org.bluez.GattDescriptor1"
    package static let advertisement: InterfaceName = "org.bluez.LEAdvertisement1"
    package static let agentManager: InterfaceName = "org.bluez.AgentManager1"
    package static let agent: InterfaceName = "org.bluez.Agent1"
    package static let objectManager: InterfaceName = "org.freedesktop.DBus.ObjectManager"
    package static let introspectable: InterfaceName = "org.freedesktop.DBus.Introspectable"
}
