/// Something that the Bluetooth stack knows, and adds to an advertisement when told to.
public struct AdvertisingInclude: Hashable, Sendable {
    private enum Kind: String {
        case txPower = "tx-power"
        case appearance
        case localName = "local-name"
        case resolvableSetIdentifier = "rsi"
    }

    private let kind: Kind

    /// The power at which the advertisement is sent, for centrals to estimate the distance.
    public static let txPower = AdvertisingInclude(kind: .txPower)
    /// The adapter's appearance.
    ///
    /// BlueZ refuses it on kernels from 5.11 on; declare the appearance itself.
    public static let appearance = AdvertisingInclude(kind: .appearance)
    /// The adapter's name, of which at most 10 bytes are sent; instead of a name of the advertisement's own.
    public static let localName = AdvertisingInclude(kind: .localName)
    /// The identifier of a coordinated set, such as a pair of earbuds; BlueZ 5.67 and later.
    ///
    /// It needs a SIRK in the section CSIS of BlueZ's `main.conf`.
    public static let resolvableSetIdentifier = AdvertisingInclude(kind: .resolvableSetIdentifier)

    /// What BlueZ names so: `tx-power`, `appearance`, `local-name` or `rsi`; `nil` for another text.
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
