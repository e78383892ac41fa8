/// A value that the Bluetooth stack can add to an advertisement.
public struct AdvertisingInclude: Hashable, Sendable {
    private enum Kind: String {
        case txPower = "tx-power"
        case appearance
        case localName = "local-name"
        case resolvableSetIdentifier = "rsi"
    }

    private let kind: Kind

    /// The transmit power, from which centrals estimate the distance.
    public static let txPower = AdvertisingInclude(kind: .txPower)
    /// The adapter's appearance.
    ///
    /// BlueZ refuses this value on kernels of version 5.11 and later. Declare the appearance in the
    /// advertisement instead.
    public static let appearance = AdvertisingInclude(kind: .appearance)
    /// The adapter's name, cut to at most 10 bytes.
    ///
    /// The adapter's name replaces a name that the advertisement declares.
    public static let localName = AdvertisingInclude(kind: .localName)
    /// The identifier of a coordinated set, such as a pair of earbuds.
    ///
    /// The identifier requires BlueZ 5.67 or later and a SIRK in the section CSIS of BlueZ's `main.conf`.
    public static let resolvableSetIdentifier = AdvertisingInclude(kind: .resolvableSetIdentifier)

    /// Creates a value from its BlueZ name: `tx-power`, `appearance`, `local-name` or `rsi`.
    ///
    /// Returns `nil` for any other text.
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
