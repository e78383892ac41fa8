public import PeripheralCore

/// The advertising features and limits of an adapter and its Bluetooth stack.
///
/// The presets can describe a different machine:
///
/// ```swift
/// print(advertisement.plan(for: .legacy))
/// print(advertisement.plan(for: .extended("5.82")))
/// ```
public struct AdvertisingCapabilities: Hashable, Sendable {
    /// The version of BlueZ.
    public var version: BlueZVersion

    /// Whether the adapter has extended advertising (Core Specification, Vol 6, Part B, 2.3.4).
    ///
    /// Extended advertising exists from Bluetooth 5 on.
    public var isExtended: Bool

    /// The maximum number of bytes of advertising data: 31 for legacy advertising.
    public var maximumAdvertisingDataLength: Int

    /// The maximum number of bytes of a scan response: 31 for legacy advertising.
    public var maximumScanResponseLength: Int

    /// The fields that the stack can add automatically.
    public var includes: Set<AdvertisingInclude>

    /// The secondary channels for extended advertising, empty without extended advertising.
    public var secondaryChannels: Set<SecondaryChannel>

    /// The transmit powers that can be requested, or `nil` if the stack does not report them.
    public var transmitPowers: ClosedRange<TransmitPower>?

    /// Whether the transmit power can be chosen.
    public var canSetTransmitPower: Bool

    /// Whether the controller alternates between several advertisements without the kernel's help.
    public var offloadsToHardware: Bool

    /// The number of registered advertisements, including those of other programs.
    public var activeInstances: Int

    /// The number of further advertisements that can be registered.
    public var freeInstances: Int

    /// Whether classic Bluetooth (BR/EDR) is on.
    public var usesClassic = false

    /// Whether the adapter is discoverable, for example while a desktop searches for new devices.
    public var isAdapterDiscoverable = false

    /// Whether bluetoothd runs with `--experimental`.
    ///
    /// Before BlueZ 5.77, advertising intervals and transmit power require that option.
    public var isExperimental = false

    /// The adapter's name, which ``AdvertisingInclude/localName`` adds.
    public var adapterName = ""

    /// The controller's transmit power, which ``AdvertisingInclude/txPower`` adds.
    public var transmitPower: TransmitPower = .dBm(0)

    /// Creates the capabilities of an adapter.
    ///
    /// - Parameters:
    ///   - version: The version of BlueZ.
    ///   - isExtended: Whether the adapter has extended advertising. The other capabilities follow from this
    ///     value and can be changed.
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

    /// The maximum length of legacy advertising data and of its scan response, in bytes.
    ///
    /// Source: Core Specification, Vol 6, Part B, 2.3.1.
    public static let legacyLength = 31

    /// The bytes of extended advertising data that fit into one HCI command.
    ///
    /// Source: Core Specification, Vol 4, Part E, 7.8.54.
    public static let extendedLength = 251
}

extension AdvertisingCapabilities {
    /// A Bluetooth 4 adapter without extended advertising, with the newest BlueZ that this package supports.
    public static let legacy = legacy(.v5_87)

    /// A Bluetooth 5 adapter with extended advertising, with the newest BlueZ that this package supports.
    public static let extended = extended(.v5_87)

    /// Returns an adapter without extended advertising, with a BlueZ version such as `"5.66"`.
    public static func legacy(_ version: BlueZVersion) -> AdvertisingCapabilities {
        AdvertisingCapabilities(version: version, isExtended: false)
    }

    /// Returns an adapter with extended advertising, with a BlueZ version such as `"5.66"`.
    public static func extended(_ version: BlueZVersion) -> AdvertisingCapabilities {
        AdvertisingCapabilities(version: version, isExtended: true)
    }
}
