/// A value that the Bluetooth stack can add to an advertisement.
public struct AdvertisingInclude: Hashable, Sendable {
    private enum Kind: String {
        case txPower = "tx-power"
        case appearance
        case localName = "local-name"
        case resolvableSetIdentifier = "rsi"
    }

    private let kind: Kind

    /// The transmit power, from which a central can estimate the distance to the device.
    public static let txPower = AdvertisingInclude(kind: .txPower)
    /// The adapter's appearance.
    ///
    /// On most machines, BlueZ refuses to add the adapter's appearance. To advertise an appearance, declare
    /// the appearance in the advertisement. The article "Limits of BlueZ by version" in the documentation of
    /// `PeripheralBlueZ` lists the affected versions of Linux.
    public static let appearance = AdvertisingInclude(kind: .appearance)
    /// The adapter's name, shortened to at most 10 bytes.
    ///
    /// The adapter's name replaces the name in the declaration of the advertisement.
    public static let localName = AdvertisingInclude(kind: .localName)
    /// The resolvable set identifier of a coordinated set, such as a pair of earbuds.
    ///
    /// The identifier requires a Set Identity Resolving Key (SIRK) in the `CSIS` section of BlueZ's
    /// `main.conf` file.
    public static let resolvableSetIdentifier = AdvertisingInclude(kind: .resolvableSetIdentifier)

    /// Creates a value from its BlueZ name: `tx-power`, `appearance`, `local-name` or `rsi`.
    ///
    /// The initializer returns `nil` for any other text.
    public init?(_ description: String) {
        guard let kind = Kind(rawValue: description) else { return nil }
        self.kind = kind
    }

    private init(kind: Kind) {
        self.kind = kind
    }
}

extension AdvertisingInclude: LosslessStringConvertible {
    /// The BlueZ name of the value, such as `tx-power`.
    public var description: String { kind.rawValue }
}
