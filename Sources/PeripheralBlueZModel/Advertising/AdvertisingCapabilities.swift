public import PeripheralCore

/// The advertising capabilities of an adapter and its Bluetooth stack.
///
/// The presets describe adapters that this machine does not need to have:
///
/// ```swift
/// print(advertisement.plan(for: .legacy))
/// print(advertisement.plan(for: .extended("5.82")))
/// ```
public struct AdvertisingCapabilities: Hashable, Sendable {
    /// The version of BlueZ.
    public var version: BlueZVersion

    /// Whether the adapter has extended advertising, which Bluetooth 5 introduced.
    ///
    /// See the Core Specification, Vol 6, Part B, 2.3.4.
    public var isExtended: Bool

    /// The maximum number of bytes in the advertising data; 31 for legacy advertising.
    public var maximumAdvertisingDataLength: Int

    /// The maximum number of bytes in a scan response; 31 for legacy advertising.
    public var maximumScanResponseLength: Int

    /// The structures that the stack can add automatically.
    public var includes: Set<AdvertisingInclude>

    /// The secondary channels of extended advertising; empty without extended advertising.
    public var secondaryChannels: Set<SecondaryChannel>

    /// The supported transmit powers; `nil` if the stack does not report them.
    public var transmitPowers: ClosedRange<TransmitPower>?

    /// Whether an advertisement can choose its transmit power.
    public var canSetTransmitPower: Bool

    /// Whether the controller alternates between several advertisements without the kernel's help.
    public var offloadsToHardware: Bool

    /// The number of registered advertisements of all programs.
    public var activeInstances: Int

    /// The number of further advertisements that can be registered.
    public var freeInstances: Int

    /// Whether classic Bluetooth (BR/EDR) is enabled on the adapter.
    public var usesClassic = false

    /// Whether the adapter itself is discoverable, for example while a desktop searches for new devices.
    public var isAdapterDiscoverable = false

    /// Whether bluetoothd runs with `--experimental`.
    ///
    /// Before BlueZ 5.77, intervals and transmit power need this option.
    public var isExperimental = false

    /// The adapter's name, which `AdvertisingInclude.localName` adds.
    public var adapterName = ""

    /// The transmit power of the controller, which `AdvertisingInclude.txPower` adds.
    public var transmitPower: TransmitPower = .dBm(0)

    /// Creates the capabilities of an adapter.
    ///
    /// - Parameters:
    ///   - version: The version of BlueZ.
    ///   - isExtended: Whether the adapter has extended advertising. This value also decides the initial
    ///     values of the other capabilities.
    public init(version: BlueZVersion, isExtended: Bool) {
        self.version = version
        self.isExtended = isExtended
        maximumAdvertisingDataLength = isExtended ? Self.extendedLength : Self.legacyLength
        maximumScanResponseLength = isExtended ? Self.extendedLength : Self.legacyLength
        includes = [.txPower, .appearance, .localName]
        secondaryChannels = isExtended ? [.oneM, .twoM, .coded] : []
        canSetTransmitPower = isExtended
        offloadsToHardware = isExtended
        activeInstances = 0
        freeInstances = 5
    }

    /// The capacity in bytes of a legacy advertisement, and of its scan response.
    ///
    /// See the Core Specification, Vol 6, Part B, 2.3.1.
    public static let legacyLength = 31

    /// The capacity in bytes of an extended advertisement that fits into one command.
    ///
    /// See the Core Specification, Vol 4, Part E, 7.8.54.
    public static let extendedLength = 251
}

extension AdvertisingCapabilities {
    /// A Bluetooth 4 adapter without extended advertising, with the newest BlueZ that this package knows.
    public static let legacy = legacy(.v5_87)

    /// A Bluetooth 5 adapter with extended advertising, with the newest BlueZ that this package knows.
    public static let extended = extended(.v5_87)

    /// An adapter without extended advertising, with a version of BlueZ such as `"5.66"`.
    public static func legacy(_ version: BlueZVersion) -> AdvertisingCapabilities {
        AdvertisingCapabilities(version: version, isExtended: false)
    }

    /// An adapter with extended advertising, with a version of BlueZ such as `"5.66"`.
    public static func extended(_ version: BlueZVersion) -> AdvertisingCapabilities {
        AdvertisingCapabilities(version: version, isExtended: true)
    }
}
