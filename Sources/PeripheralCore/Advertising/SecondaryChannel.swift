/// The secondary channel of an extended advertisement (Core Specification, Vol 6, Part B, 2.3.4).
///
/// Devices that support only legacy advertising, such as Bluetooth 4 devices, do not receive extended
/// advertisements.
public struct SecondaryChannel: Hashable, Sendable {
    private enum Kind: String {
        case oneM = "1M"
        case twoM = "2M"
        case coded = "Coded"
    }

    private let kind: Kind

    /// The LE 1M physical layer: one million uncoded symbols per second.
    public static let oneM = SecondaryChannel(kind: .oneM)
    /// The LE 2M physical layer, with two million symbols per second.
    ///
    /// This physical layer reduces both the transmission time and the range.
    public static let twoM = SecondaryChannel(kind: .twoM)
    /// The LE Coded physical layer: one million coded symbols per second, for a longer range.
    public static let coded = SecondaryChannel(kind: .coded)

    /// Creates a channel from its BlueZ name: `1M`, `2M` or `Coded`.
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

extension SecondaryChannel: LosslessStringConvertible {
    /// The BlueZ name of the channel: `1M`, `2M` or `Coded`.
    public var description: String { kind.rawValue }
}
