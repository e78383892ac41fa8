public import PeripheralCore

/// A simulated person who pairs a `TestCentral` with a peripheral.
///
/// A `PairingUser` contains the pairing capabilities of the central. A `PairingUser` also contains the
/// answers of the simulated person to questions during pairing.
///
/// ```swift
/// try await central.pair(.justWorks)
/// try await central.pair(.enteringDisplayedPasskey)
/// try await central.pair(.confirming { number in await shownNumber() == number })
/// ```
///
/// The IO capabilities of the two devices determine the pairing question, and determine which device asks the
/// question (Core Specification, Vol 3, Part H, 2.3.5.1).
public struct PairingUser: Sendable {
    /// The IO capability of a device (Core Specification, Vol 3, Part H, 2.3.2).
    public enum Capability: Hashable, Sendable, CaseIterable {
        /// A device with neither input nor output.
        case noInputNoOutput
        /// A device with a display.
        case displayOnly
        /// A device with a display and a yes/no input.
        case displayYesNo
        /// A device with a keyboard.
        case keyboardOnly
        /// A device with a display and a keyboard.
        case keyboardDisplay
    }

    /// The IO capability of the central.
    public var capability: Capability

    /// Whether the central and the peripheral bond: they store keys that encrypt later connections.
    public var isBonding: Bool

    /// Whether the central requests protection against man-in-the-middle attacks.
    ///
    /// If neither side requests protection against man-in-the-middle attacks, the two sides pair using Just
    /// Works, regardless of their IO capabilities.
    public var requiresAuthentication: Bool

    /// Whether the central offers LE Secure Connections.
    ///
    /// If the property is `false`, the central uses LE legacy pairing.
    public var secureConnections: Bool

    /// The public identity address that the central sends to the peripheral during bonding.
    ///
    /// If the property is `nil`, the identity address is the original address of the central. The function
    /// `changeAddress()` does not change the original address. The identity address of a central can differ
    /// from the address that the central uses for connections. For example, the two addresses of an iPhone
    /// differ (Core Specification, Vol 3, Part H, 3.6.5).
    ///
    /// Only a `VirtualCentral` uses this property. All other types of `TestCentral` ignore the property, and
    /// send their own identity address.
    public var identityAddress: DeviceAddress?

    /// Receives the passkey that the central displays.
    ///
    /// The person enters the passkey on the peripheral.
    public var display: @Sendable (_ passkey: UInt32) async -> Void

    /// Whether the person reads the passkey that the peripheral displays, and enters it on the central.
    ///
    /// If the property is `true`, the pairing does not use ``enterPasskey``. Only a `VirtualCentral` can read
    /// the display, because the peripheral runs in the same process. The method `pair(_:)` of any other
    /// `TestCentral` throws a ``TestCentralError``: use ``entering(_:)`` there.
    public var entersDisplayedPasskey = false

    /// Waits until the peripheral has displayed a passkey, and returns the passkey.
    ///
    /// A `VirtualCentral` sets this closure if ``entersDisplayedPasskey`` is `true`.
    package var readDisplay: (@Sendable (_ passkey: UInt32) async -> UInt32?)?

    /// Returns the passkey that the person enters on the central, from 0 to 999,999.
    ///
    /// A result of `nil` cancels the pairing.
    public var enterPasskey: @Sendable () async -> UInt32?

    /// Returns whether the peripheral displays the same number as the central.
    public var confirm: @Sendable (_ number: UInt32) async -> Bool

    /// Creates a user.
    ///
    /// - Parameters:
    ///   - capability: The IO capability of the central.
    ///   - isBonding: Whether the central and the peripheral store the keys of the pairing.
    ///   - requiresAuthentication: Whether the central requests protection against man-in-the-middle attacks.
    ///   - secureConnections: Whether the central offers LE Secure Connections.
    ///   - identityAddress: The public identity address that a virtual central sends during bonding. With the
    ///     default value `nil`, the identity address is the original address of the central. The function
    ///     `changeAddress()` does not change the original address.
    ///   - display: Receives the passkey that the central displays. The default closure ignores the passkey.
    ///   - enterPasskey: Returns the passkey that the person enters on the central. The default closure
    ///     cancels the pairing.
    ///   - confirm: Returns whether the central and the peripheral display the same number. The default
    ///     closure returns `true`.
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
    /// A central with neither a display nor a keyboard, which bonds without asking the user.
    public static let justWorks = PairingUser(capability: .noInputNoOutput)

    /// A central with a keyboard, whose person enters the passkey that the peripheral displays.
    ///
    /// ```swift
    /// try await central.pair(.enteringDisplayedPasskey)
    /// ```
    ///
    /// The person enters the passkey after the handler of `Pairing.displayPasskey(_:)` has returned. If the
    /// handler has not returned after 1 second, for example because it shows the passkey until its task is
    /// cancelled, the person enters the passkey then. If the handler throws an error, the person enters
    /// nothing, and the pairing fails.
    ///
    /// Only a `VirtualCentral` can pair with this user. The method `pair(_:)` of any other `TestCentral`
    /// throws a ``TestCentralError`` with the code `failed`. The reason is that no other central can read the
    /// display of the peripheral. Use ``entering(_:)`` there.
    public static let enteringDisplayedPasskey: PairingUser = {
        var user = PairingUser(capability: .keyboardOnly, requiresAuthentication: true)
        user.entersDisplayedPasskey = true
        return user
    }()

    /// A central with a keyboard, on which a person enters a certain passkey.
    ///
    /// If the passkey is the one that the peripheral displays, ``enteringDisplayedPasskey`` is simpler.
    ///
    /// - Parameter passkey: Returns the passkey that the person enters, or `nil` to cancel the pairing.
    /// - Returns: The user.
    public static func entering(_ passkey: @escaping @Sendable () async -> UInt32?) -> PairingUser {
        PairingUser(capability: .keyboardOnly, requiresAuthentication: true, enterPasskey: passkey)
    }

    /// A central that has a display, but no keyboard.
    ///
    /// The central displays a passkey. The person enters the passkey on the peripheral.
    ///
    /// - Parameter passkey: Receives the passkey that the central displays.
    /// - Returns: The user.
    public static func reading(_ passkey: @escaping @Sendable (UInt32) async -> Void) -> PairingUser {
        PairingUser(capability: .displayOnly, requiresAuthentication: true, display: passkey)
    }

    /// A central with a display and two buttons.
    ///
    /// The peripheral displays a number to compare.
    ///
    /// - Parameter answer: Returns whether the peripheral displays the same number as the central. The
    ///   default closure returns `true`.
    /// - Returns: The user.
    public static func confirming(
        _ answer: @escaping @Sendable (UInt32) async -> Bool = { _ in true }
    ) -> PairingUser {
        PairingUser(capability: .displayYesNo, requiresAuthentication: true, confirm: answer)
    }
}
