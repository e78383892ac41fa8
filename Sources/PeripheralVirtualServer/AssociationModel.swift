/// How two devices authenticate each other while they pair (Core Specification, Vol 3, Part H, 2.3.5.1).
package enum AssociationModel: Hashable, Sendable {
    /// The two devices do not authenticate each other.
    case justWorks
    /// The peripheral displays a passkey, which the user enters on the central.
    case peripheralDisplaysPasskey
    /// The central displays a passkey, which the user enters on the peripheral.
    case centralDisplaysPasskey
    /// The user enters the same passkey on the central and on the peripheral.
    case bothEnterPasskey
    /// The central and the peripheral display a number, and the user of each device confirms that the two
    /// numbers are equal.
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
