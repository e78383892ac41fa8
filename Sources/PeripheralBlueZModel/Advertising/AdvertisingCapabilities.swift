public import PeripheralCore

/// What an adapter and its Bluetooth stack can advertise.
///
/// The presets describe machines that this one need not be:
///
/// ```swift
/// print(advertisement.plan(for: .legacy))
/// print(advertisement.plan(for: .extended("5.82")))
/// ```
public struct AdvertisingCapabilities: Hashable, Sendable {
    /// The version of BlueZ.
    public var version: BlueZVersion

    /// Whether the adapter has extended advertising (Core Specification, Vol 6, Part B, 2.3.4), as from Bluetooth 5
    /// on.
    public var isExtended: Bool

    /// How many bytes the advertising data may take; 31 for legacy advertising.
    public var maximumAdvertisingDataLength: Int

    /// How many bytes a scan response may take; 31 for legacy advertising.
    public var maximumScanResponseLength: Int

    /// What the stack can add by itself.
    public var includes: Set<AdvertisingInclude>

    /// The secondary channels that extended advertising can use; none without it.
    public var secondaryChannels: Set<SecondaryChannel>

    /// The powers that can be asked for; `nil` where the stack does not tell.
    public var transmitPowers: ClosedRange<TransmitPower>?

    /// Whether the power can be chosen.
    public var canSetTransmitPower: Bool

    /// Whether the controller alternates between several advertisements, without the kernel's help.
    public var offloadsToHardware: Bool

    /// How many advertisements are registered, by whomever.
    public var activeInstances: Int

    /// How many more can be registered.
    public var freeInstances: Int

    /// Whether the adapter has classic Bluetooth (BR/EDR) switched on.
    public var usesClassic = false

    /// Whether the adapter itself is discoverable, as it is while a desktop looks for new devices.
    public var isAdapterDiscoverable = false

    /// Whether bluetoothd runs with `--experimental`, which before 5.77 the intervals and the power need.
    public var isExperimental = false

    /// The adapter's name, which ``AdvertisingInclude/localName`` adds.
    public var adapterName = ""

    /// The power that the controller sends with, which ``AdvertisingInclude/txPower`` adds.
    public var transmitPower: TransmitPower = .dBm(0)

    /// Describes an adapter.
    ///
    /// - Parameters:
    ///   - version: The version of BlueZ.
    ///   - isExtended: Whether the adapter has extended advertising; the other capabilities follow from it, and can
    ///     be changed.
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

    /// The bytes of a legacy advertisement, and of its scan response (Core Specification, Vol 6, Part B, 2.3.1).
    public static let legacyLength = 31

    /// The bytes of an extended advertisement that fit into one command (Core Specification, Vol 4, Part E, 7.8.54).
    public static let extendedLength = 251
}

extension AdvertisingCapabilities {
    /// An adapter without extended advertising, of Bluetooth 4, with the newest BlueZ that this package knows.
    public static let legacy = legacy(.v5_87)

    /// An adapter with extended advertising, of Bluetooth 5, with the newest BlueZ that this package knows.
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
