/// How two devices authenticate each other while they pair (Core Specification, Vol 3, Part H, 2.3.5.1).
package enum AssociationModel: Hashable, Sendable {
    /// They do not authenticate each other.
    case justWorks
    /// The peripheral displays a passkey, which is entered on the central.
    case peripheralDisplaysPasskey
    /// The central displays a passkey, which is entered on the peripheral.
    case centralDisplaysPasskey
    /// The same passkey is entered on both.
    case bothEnterPasskey
    /// Both display a number, and the user of each confirms that the numbers are equal.
    case numericComparison

    /// Selects the model when one side requests protection against a man in the middle.
    ///
    /// - Parameters:
    ///   - central: The IO capability of the central, which starts the pairing.
    ///   - peripheral: The IO capability of the peripheral.
    ///   - secureConnections: Whether both sides use LE Secure Connections.
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
