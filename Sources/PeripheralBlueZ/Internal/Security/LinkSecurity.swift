package import PeripheralCore
package import PeripheralDBus

/// Tells which connections of an adapter are encrypted, which bluetoothd does not.
package protocol LinkSecurity: Sendable {
    /// The connections of an adapter at this moment.
    ///
    /// - Parameter adapter: The path of the adapter's object, such as `/org/bluez/hci0`.
    /// - Returns: The connections; `nil` where they cannot be told.
    func links(of adapter: ObjectPath) -> [LinkState]?
}

/// A connection of an adapter.
package struct LinkState: Hashable, Sendable {
    /// The address of the other side: the lasting one, once it is known.
    package var address: DeviceAddress
    package var isEncrypted: Bool

    package init(address: DeviceAddress, isEncrypted: Bool) {
        self.address = address
        self.isEncrypted = isEncrypted
    }
}
