package import PeripheralCore

/// The `Flags` of `GattCharacteristic1` and `GattDescriptor1`.
///
/// One list contains the properties and the security.
///
/// A security level replaces the plain flag, which it implies (BlueZ, org.bluez.GattCharacteristic).
package enum AttributeFlags {
    package static func flags(of characteristic: CharacteristicDescription) -> [String] {
        let properties = characteristic.properties
        let security = characteristic.security
        var flags: [String] = []
        if properties.contains(.broadcast) { flags.append("broadcast") }
        if properties.contains(.read) { flags.append(prefix(security.read) + "read") }
        if properties.contains(.writeWithoutResponse) { flags.append("write-without-response") }
        if properties.contains(.write) { flags.append("write") }
        if properties.canWrite, security.write > .open {
            flags.append(prefix(security.write) + "write")
        }
        if properties.contains(.notify) { flags.append("notify") }
        if properties.contains(.indicate) { flags.append("indicate") }
        if security.notify > .open {
            if properties.contains(.notify) { flags.append(prefix(security.notify) + "notify") }
            if properties.contains(.indicate) { flags.append(prefix(security.notify) + "indicate") }
        }
        if properties.contains(.authenticatedSignedWrites) { flags.append("authenticated-signed-writes") }
        if properties.contains(.reliableWrite) { flags.append("reliable-write") }
        if properties.contains(.writableAuxiliaries) { flags.append("writable-auxiliaries") }
        // bluetoothd requests authorization only for prepared writes. The host requests it before every read
        // and write.
        if characteristic.requiresAuthorization, properties.canWrite { flags.append("authorize") }
        return flags
    }

    package static func flags(of descriptor: DescriptorDescription) -> [String] {
        var flags: [String] = []
        if descriptor.permissions.contains(.read) { flags.append(prefix(descriptor.security.read) + "read") }
        if descriptor.permissions.contains(.write) {
            flags.append(prefix(descriptor.security.write) + "write")
        }
        return flags
    }

    private static func prefix(_ level: SecurityLevel) -> String {
        switch level {
        case .open: ""
        case .encrypted: "encrypt-"
        case .authenticated: "encrypt-authenticated-"
        case .secureConnections: "secure-"
        }
    }
}
