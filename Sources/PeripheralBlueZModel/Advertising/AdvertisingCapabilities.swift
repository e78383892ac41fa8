public import PeripheralCore

/// The advertising capabilities of an adapter and its Bluetooth stack.
///
/// The presets, such as ``legacy``, describe typical adapters. You can use the presets on a machine without a
/// Bluetooth adapter:
///
/// ```swift
/// print(advertisement.plan(for: .legacy))
/// print(advertisement.plan(for: .extended("5.82")))
/// ```
public struct AdvertisingCapabilities: Hashable, Sendable {
    /// The version of BlueZ that manages the adapter.
    public var version: BlueZVersion

    /// Whether the adapter supports extended advertising, a feature of Bluetooth 5.
    ///
    /// See the Core Specification, Vol 6, Part B, Section 2.3.4.
    public var isExtended: Bool

    /// The maximum number of bytes in the advertising data.
    ///
    /// For legacy advertising, the maximum is 31 bytes.
    public var maximumAdvertisingDataLength: Int

    /// The maximum number of bytes in a scan response.
    ///
    /// For legacy advertising, the maximum is 31 bytes.
    public var maximumScanResponseLength: Int

    /// The advertising structures that the Bluetooth stack can add automatically.
    public var includes: Set<AdvertisingInclude>

    /// The secondary channels that the adapter supports for extended advertising.
    ///
    /// The set is empty if the adapter does not support extended advertising.
    public var secondaryChannels: Set<SecondaryChannel>

    /// The range of supported transmit powers, or `nil` if the stack reports no range.
    public var transmitPowers: ClosedRange<TransmitPower>?

    /// Whether an advertisement can set its transmit power.
    public var canSetTransmitPower: Bool

    /// Whether the controller alternates between several advertisements without help from the kernel.
    public var offloadsToHardware: Bool

    /// The total number of advertisements that programs have registered on the adapter.
    public var activeInstances: Int

    /// The number of additional advertisements that programs can register on the adapter.
    public var freeInstances: Int

    /// Whether classic Bluetooth (BR/EDR) is enabled on the adapter.
    public var usesClassic = false

    /// Whether the adapter is discoverable.
    ///
    /// For example, a desktop environment can make the adapter discoverable during a search for new devices.
    public var isAdapterDiscoverable = false

    /// Whether bluetoothd runs with `--experimental`.
    ///
    /// With some versions of BlueZ, the advertising interval and the transmit power require `--experimental`.
    public var isExperimental = false

    /// The name of the adapter.
    ///
    /// The Bluetooth stack adds this name to an advertisement that includes `AdvertisingInclude.localName`.
    public var adapterName = ""

    /// The transmit power of the controller.
    ///
    /// The Bluetooth stack adds this transmit power to an advertisement that includes
    /// `AdvertisingInclude.txPower`.
    public var transmitPower: TransmitPower = .dBm(0)

    /// Creates the capabilities of an adapter.
    ///
    /// - Parameters:
    ///   - version: The version of BlueZ that manages the adapter.
    ///   - isExtended: Whether the adapter supports extended advertising. The parameter `isExtended`
    ///     determines the initial values of the other capabilities.
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

    /// The capacity, in bytes, of a legacy advertisement or a legacy scan response.
    ///
    /// See the Core Specification, Vol 6, Part B, Section 2.3.1.
    public static let legacyLength = 31

    /// The capacity, in bytes, of an extended advertisement that fits into one HCI command.
    ///
    /// See the Core Specification, Vol 4, Part E, Section 7.8.54.
    public static let extendedLength = 251
}

extension AdvertisingCapabilities {
    /// Whether an advertisement can choose its interval.
    ///
    /// This also requires Linux 5.11. An older kernel ignores the interval.
    package var appliesIntervals: Bool { version >= .stableAdvertisingProperties || isExperimental }

    /// The interval of an advertisement that does not choose one; `nil` if the configuration of bluetoothd
    /// determines the interval of all advertisements.
    package var defaultInterval: AdvertisingInterval? { appliesIntervals ? .fast : nil }

    /// The capabilities of a Bluetooth 4 adapter without extended advertising.
    ///
    /// The preset assumes the newest BlueZ version that this package supports.
    public static let legacy = legacy(.v5_87)

    /// The capabilities of a Bluetooth 5 adapter with extended advertising.
    ///
    /// The preset assumes the newest BlueZ version that this package supports.
    public static let extended = extended(.v5_87)

    /// Returns the capabilities of an adapter without extended advertising.
    ///
    /// The argument is a version of BlueZ, such as `"5.66"`.
    public static func legacy(_ version: BlueZVersion) -> AdvertisingCapabilities {
        AdvertisingCapabilities(version: version, isExtended: false)
    }

    /// Returns the capabilities of an adapter with extended advertising.
    ///
    /// The argument is a version of BlueZ, such as `"5.66"`.
    public static func extended(_ version: BlueZVersion) -> AdvertisingCapabilities {
        AdvertisingCapabilities(version: version, isExtended: true)
    }
}
