/// How two devices make sure that nobody stands between them while they pair (Core Specification, Vol 3, Part H,
/// 2.3.5.1).
package enum AssociationModel: Hashable, Sendable {
    /// They do not.
    case justWorks
    /// The peripheral displays a passkey, which is entered on the central.
    case peripheralDisplaysPasskey
    /// The central displays a passkey, which is entered on the peripheral.
    case centralDisplaysPasskey
    /// The same passkey is entered on both.
    case bothEnterPasskey
    /// Both display a number, and are told whether it is the same.
    case numericComparison

    /// The model that follows from what both have, when one of them asks for protection.
    ///
    /// - Parameters:
    ///   - central: What the central has, which begins the pairing.
    ///   - peripheral: What the peripheral has.
    ///   - secureConnections: Whether both pair by LE Secure Connections.
    package init(
        central: PairingUser.Capability,
        peripheral: PairingUser.Capability,
        secureConnections: Bool
    ) {
        self =
            switch (central, peripheral) {
            case (.noInputNoOutput, _), (_, .noInputNoOutput): .justWorks
            case (.keyboardOnly, .keyboardOnly): .bothEnterPasskey
            case (.keyboardOnly, _): .peripheralDisplaysPasskey
            case (_, .keyboardOnly): .centralDisplaysPasskey
            case (.displayOnly, .keyboardDisplay): .centralDisplaysPasskey
            case (.keyboardDisplay, .displayOnly): .peripheralDisplaysPasskey
            case (.displayOnly, _), (_, .displayOnly): .justWorks
            case _ where secureConnections: .numericComparison
            case (.displayYesNo, .displayYesNo): .justWorks
            case (.keyboardDisplay, .displayYesNo): .peripheralDisplaysPasskey
            case (_, .keyboardDisplay): .centralDisplaysPasskey
            }
    }
}
