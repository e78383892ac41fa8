public import PeripheralCore

/// Who stands before a ``TestCentral`` while it pairs: what the central can do, and what the person does.
///
/// ```swift
/// try await central.pair(.justWorks)
/// try await central.pair(.entering { await shownPasskey() })
/// try await central.pair(.confirming { number in await shownNumber() == number })
/// ```
///
/// Which question is asked, and on which side, follows from the capabilities of both (Core Specification, Vol 3,
/// Part H, 2.3.5.1).
public struct PairingUser: Sendable {
    /// What the central has for a person to see and to touch: its IO capability (Core Specification, Vol 3,
    /// Part H, 2.3.2).
    public enum Capability: Hashable, Sendable, CaseIterable {
        /// Nothing.
        case noInputNoOutput
        /// A display.
        case displayOnly
        /// A display, and a way to say yes or no.
        case displayYesNo
        /// A keyboard.
        case keyboardOnly
        /// A display and a keyboard.
        case keyboardDisplay
    }

    /// What the central has.
    public var capability: Capability

    /// Whether both sides keep the keys, to encrypt later connections as well.
    public var isBonding: Bool

    /// Whether the central asks for protection against a man in the middle.
    ///
    /// Without it, and unless the peripheral asks for it, two devices pair by Just Works whatever they have.
    public var requiresAuthentication: Bool

    /// Whether the central offers LE Secure Connections; otherwise it pairs by LE legacy pairing.
    public var secureConnections: Bool

    /// The public address that the central shows when it bonds, having come under another one, as phones do (Core
    /// Specification, Vol 3, Part H, 3.6.5); `nil` for a central that shows no other.
    ///
    /// A ``VirtualCentral`` shows this one. Others show what they have.
    public var identityAddress: DeviceAddress?

    /// The person sees a passkey on the central's display, to enter it on the peripheral.
    public var display: @Sendable (_ passkey: UInt32) async -> Void

    /// The person enters a passkey on the central's keyboard, 0 to 999,999; `nil` cancels the pairing.
    public var enterPasskey: @Sendable () async -> UInt32?

    /// The person sees a number on the central's display, and says whether the peripheral's is the same.
    public var confirm: @Sendable (_ number: UInt32) async -> Bool

    /// Makes a person.
    ///
    /// - Parameters:
    ///   - capability: What the central has.
    ///   - isBonding: Whether both sides keep the keys.
    ///   - requiresAuthentication: Whether the central asks for protection against a man in the middle.
    ///   - secureConnections: Whether the central offers LE Secure Connections.
    ///   - identityAddress: The public address that a virtual central shows when it bonds; none unless given.
    ///   - display: Sees a passkey; does nothing unless given.
    ///   - enterPasskey: Enters a passkey; cancels unless given.
    ///   - confirm: Compares a number; says yes unless given.
    public init(
        capability: Capability,
        isBonding: Bool = true,
        requiresAuthentication: Bool = false,
        secureConnections: Bool = true,
        identityAddress: DeviceAddress? = nil,
        display: @escaping @Sendable (_ passkey: UInt32) async -> Void = { _ in },
        enterPasskey: @escaping @Sendable () async -> UInt32? = { nil },
        confirm: @escaping @Sendable (_ number: UInt32) async -> Bool = { _ in true }
    ) {
        self.capability = capability
        self.isBonding = isBonding
        self.requiresAuthentication = requiresAuthentication
        self.secureConnections = secureConnections
        self.identityAddress = identityAddress
        self.display = display
        self.enterPasskey = enterPasskey
        self.confirm = confirm
    }
}

extension PairingUser {
    /// A central without display and keyboard, which bonds without asking anybody.
    public static let justWorks = PairingUser(capability: .noInputNoOutput)

    /// A central with a keyboard, for a peripheral that displays a passkey.
    ///
    /// - Parameter passkey: What the person enters, once asked; `nil` cancels.
    /// - Returns: The person and the central.
    public static func entering(_ passkey: @escaping @Sendable () async -> UInt32?) -> PairingUser {
        PairingUser(capability: .keyboardOnly, requiresAuthentication: true, enterPasskey: passkey)
    }

    /// A central with a display only, for a peripheral on which a passkey is entered.
    ///
    /// - Parameter passkey: Sees what the central displays.
    /// - Returns: The person and the central.
    public static func reading(_ passkey: @escaping @Sendable (UInt32) async -> Void) -> PairingUser {
        PairingUser(capability: .displayOnly, requiresAuthentication: true, display: passkey)
    }

    /// A central with a display and two buttons, for a peripheral that displays a number to compare.
    ///
    /// - Parameter answer: Says whether the peripheral displays this number, too; always unless given.
    /// - Returns: The person and the central.
    public static func confirming(
        _ answer: @escaping @Sendable (UInt32) async -> Bool = { _ in true }
    ) -> PairingUser {
        PairingUser(capability: .displayYesNo, requiresAuthentication: true, confirm: answer)
    }
}
