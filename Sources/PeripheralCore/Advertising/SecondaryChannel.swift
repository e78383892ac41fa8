/// How the secondary channels carry an extended advertisement (Core Specification, Vol 6, Part B, 2.3.4).
///
/// Whoever knows legacy advertising only, as Bluetooth 4 does, does not hear what is sent there.
public struct SecondaryChannel: Hashable, Sendable {
    private enum Kind: String {
        case oneM = "1M"
        case twoM = "2M"
        case coded = "Coded"
    }

    private let kind: Kind

    /// One million symbols a second, uncoded.
    public static let oneM = SecondaryChannel(kind: .oneM)
    /// Two million symbols a second: less time on the air, and less reach.
    public static let twoM = SecondaryChannel(kind: .twoM)
    /// One million symbols a second, coded: more reach.
    public static let coded = SecondaryChannel(kind: .coded)

    /// The channel with BlueZ's name for it: `1M`, `2M` or `Coded`; `nil` for another text.
    public init?(_ description: String) {
        guard let kind = Kind(rawValue: description) else { return nil }
        self.kind = kind
    }

    private init(kind: Kind) {
        self.kind = kind
    }
}

extension SecondaryChannel: LosslessStringConvertible {
    /// BlueZ's name for it: `1M`, `2M` or `Coded`.
    public var description: String { kind.rawValue }
}
