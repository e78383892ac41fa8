internal import PeripheralCore
package import PeripheralDBus
internal import PeripheralKit

extension AdvertisingCapabilities {
    /// Creates the capabilities that an adapter reports.
    ///
    /// Before 5.77, bluetoothd does not report the lengths. The presence of secondary channels then
    /// determines the lengths.
    ///
    /// - Parameters:
    ///   - manager: The properties of `org.bluez.LEAdvertisingManager1`.
    ///   - adapter: The properties of `org.bluez.Adapter1`.
    ///   - version: The version of BlueZ.
    package init(ofManager manager: BusValue, adapter: BusValue, version: BlueZVersion) {
        let channels = manager["SupportedSecondaryChannels"]?.elements
        self.init(version: version, isExtended: channels != nil)
        secondaryChannels = Set((channels ?? []).compactMap { $0.string.flatMap(SecondaryChannel.init) })
        if let includes = manager["SupportedIncludes"]?.elements {
            self.includes = Set(includes.compactMap { $0.string.flatMap(AdvertisingInclude.init) })
        }
        if let capabilities = manager["SupportedCapabilities"] {
            take(lengths: capabilities)
            // Earlier versions have this property only with `--experimental`.
            isExperimental = version < .stableAdvertisingProperties
        }
        if let features = manager["SupportedFeatures"]?.elements?.compactMap(\.string) {
            canSetTransmitPower = features.contains("CanSetTxPower")
            offloadsToHardware = features.contains("HardwareOffload")
        }
        activeInstances = manager["ActiveInstances"]?.integer() ?? 0
        freeInstances = manager["SupportedInstances"]?.integer() ?? 0
        // The class of device belongs to classic Bluetooth. It is 0 without classic Bluetooth.
        usesClassic = (adapter["Class"]?.integer(UInt32.self) ?? 0) != 0
        isAdapterDiscoverable = adapter["Discoverable"]?.bool ?? false
        adapterName = adapter["Alias"]?.string ?? ""
    }

    private mutating func take(lengths capabilities: BusValue) {
        if let length: Int = capabilities["MaxAdvLen"]?.integer() {
            maximumAdvertisingDataLength = max(length, Self.legacyLength)
        }
        if let length: Int = capabilities["MaxScnRspLen"]?.integer() {
            maximumScanResponseLength = max(length, Self.legacyLength)
        }
        if let least: Int = capabilities["MinTxPower"]?.integer(),
            let most: Int = capabilities["MaxTxPower"]?.integer(), least <= most
        {
            transmitPowers = .dBm(least) ... .dBm(most)
        }
    }
}
