public import PeripheralCore

/// A Bluetooth adapter as bluetoothd describes it.
public struct AdapterDescription: Hashable, Sendable {
    /// The path of its object on the bus.
    let path: String

    /// Its address; `nil` when bluetoothd tells none.
    public let address: DeviceAddress?

    /// Its name for all programs, which centrals can read.
    public let alias: String

    /// Whether it is powered on.
    public let isPowered: Bool

    /// Whether it has the interfaces that a peripheral needs.
    let isUsable: Bool

    /// Whether a connection ends its advertising until that is registered again.
    ///
    /// So it is with the extended advertising of Bluetooth 5; seen on bluetoothd 5.66.
    let connectionsInterruptAdvertising: Bool

    /// The version of bluetoothd; the oldest that it may be, if it does not tell.
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

    /// The kernel's name of it, such as `hci0`.
    public var name: String {
        path.split(separator: "/").last.map(String.init) ?? path
    }
}
