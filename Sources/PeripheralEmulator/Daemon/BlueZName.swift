internal import PeripheralDBus

/// The names of bluetoothd's D-Bus interface (BlueZ, doc/org.bluez.*.rst).
enum BlueZName {
    static let service: BusName = "org.bluez"
    static let root: ObjectPath = "/org/bluez"

    static let agentManager: InterfaceName = "org.bluez.AgentManager1"
    static let agent: InterfaceName = "org.bluez.Agent1"
    static let profileManager: InterfaceName = "org.bluez.ProfileManager1"
    static let healthManager: InterfaceName = "org.bluez.HealthManager1"
    static let adapter: InterfaceName = "org.bluez.Adapter1"
    static let device: InterfaceName = "org.bluez.Device1"
    static let gattManager: InterfaceName = "org.bluez.GattManager1"
    static let media: InterfaceName = "org.bluez.Media1"
    static let advertisingManager: InterfaceName = "org.bluez.LEAdvertisingManager1"

    static let gattService: InterfaceName = "org.bluez.GattService1"
    static let gattCharacteristic: InterfaceName = "org.bluez.GattCharacteristic1"
    static let gattDescriptor: InterfaceName = "org.bluez.GattDescriptor1"
    static let advertisement: InterfaceName = "org.bluez.LEAdvertisement1"
}
