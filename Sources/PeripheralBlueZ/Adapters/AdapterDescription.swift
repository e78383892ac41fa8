public import PeripheralCore

/// The properties that bluetoothd reports for a Bluetooth adapter.
public struct AdapterDescription: Hashable, Sendable {
    /// The path of the adapter's object on the bus.
    let path: String

    /// The address of the adapter, or `nil` if bluetoothd does not report the address.
    public let address: DeviceAddress?

    /// The Bluetooth name of the adapter.
    ///
    /// All programs share the name of the adapter. Centrals can read the name of the adapter.
    public let alias: String

    /// Whether the adapter is powered on.
    public let isPowered: Bool

    /// Whether the adapter has the interfaces that a peripheral needs.
    let isUsable: Bool

    /// Whether a connection ends the adapter's advertising until the advertisement is registered again.
    ///
    /// Extended advertising of Bluetooth 5 has this effect (observed on bluetoothd 5.66).
    let connectionsInterruptAdvertising: Bool

    /// The version of bluetoothd, or the oldest possible version if bluetoothd does not report it.
    let version: BlueZVersion

    init(
        path: String,
        address: DeviceAddress? = nil,
        alias: String = "",
        isPowered: Bool,
        isUsable: Bool,
        connectionsInterruptAdvertising: Bool = false,
        version: BlueZVersion = .v5_66
    ) {
        self.path = path
        self.address = address
        self.alias = alias
        self.isPowered = isPowered
        self.isUsable = isUsable
        self.connectionsInterruptAdvertising = connectionsInterruptAdvertising
        self.version = version
    }

    /// The name that the kernel assigns to the adapter, such as `hci0`.
    public var name: String {
        path.split(separator: "/").last.map(String.init) ?? path
    }
}
