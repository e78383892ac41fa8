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
    /// BlueZ refuses this value on kernels from 5.11 on. Declare the appearance in the advertisement instead.
    public static let appearance = AdvertisingInclude(kind: .appearance)
    /// The adapter's name, cut to at most 10 bytes.
    ///
    /// It replaces a name declared in the advertisement.
    public static let localName = AdvertisingInclude(kind: .localName)
    /// The identifier of a coordinated set, such as a pair of earbuds.
    ///
    /// Requires BlueZ 5.67 or later and a SIRK in the section CSIS of BlueZ's `main.conf`.
    public static let resolvableSetIdentifier = AdvertisingInclude(kind: .resolvableSetIdentifier)

    /// Creates a value from BlueZ's name for it: `tx-power`, `appearance`, `local-name` or `rsi`.
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
    /// BlueZ's name for it, such as `tx-power`.
    public var description: String { kind.rawValue }
}
