/// How centrals can pair with a ``Peripheral``.
///
/// The way to pair depends on what the device offers to a person: a display, a keyboard or buttons.
///
/// ```swift
/// Peripheral("Lamp", pairing: .displayPasskey { passkey, _ in await screen.show(passkey) }) {
///     GATTService("5c3a0001-7e3c-4b6e-9d29-b3f1c0a1d001") { power }
/// }
/// ```
///
/// Without a pairing, no central can pair. A central either pairs in the declared way or is refused. For
/// example, if a passkey has to be typed, a central without a keyboard is refused.
///
/// A handler has 30 seconds. An error that it throws refuses the pairing. If the pairing needs the handler's
/// answer, exceeding the time refuses it as well. The handler's task is cancelled when the time is over, and
/// when the central cancels the pairing. A handler can therefore show something until its task is cancelled.
///
/// See Core Specification, Vol 3, Part H, 2.3.5.
public struct Pairing: Sendable {
    /// A handler that receives a passkey or number of six digits, and a central.
    public typealias NumberHandler<BackendAnswer> =
        @Sendable (_ number: UInt32, _ central: Central) async throws -> BackendAnswer

    enum Kind: Sendable {
        case none, system
        /// Decides whether a central can replace its bond; `nil` refuses all.
        case justWorks(mayReplaceBond: (@Sendable (Central) async throws -> Bool)?)
        case displayPasskey(NumberHandler<Void>)
        case enterPasskey(@Sendable (Central) async throws -> UInt32?)
        case confirmNumber(NumberHandler<Bool>)
    }

    let kind: Kind

    /// No central can pair.
    ///
    /// This applies to pairings that the Bluetooth stack asks this program about. Another program can take
    /// over that role later. If the stack does not accept this program in that role, the peripheral runs
    /// anyway and logs a warning. The security of attributes does not depend on it.
    public static let none = Pairing(kind: .none)

    /// Every central can pair without a person's consent, but none can replace a bond.
    ///
    /// This encrypts the link, which is enough for `SecurityLevel.encrypted`. It does not protect against a
    /// device in the middle during the pairing.
    ///
    /// A central that has lost its bond cannot pair again. An example is a phone whose user has chosen to
    /// forget this device. With Just Works, the central cannot prove that it is not another device with its
    /// address. The pairing is refused and logged, and the old keys stay valid. The central can pair again
    /// after this device has forgotten its bond, with `PeripheralSession.forget(_:)`; for example, when a
    /// person holds a button. To decide at the time of the pairing, use ``justWorks(replacingBondIf:)``.
    public static let justWorks = Pairing(kind: .justWorks(mayReplaceBond: nil))

    /// Every central can pair without a person's consent, and replace its bond if the program agrees.
    ///
    /// ```swift
    /// Peripheral("Lamp", pairing: .justWorks(replacingBondIf: { _ in await button.isHeld })) {
    ///     GATTService("5c3a0001-7e3c-4b6e-9d29-b3f1c0a1d001") { power }
    /// }
    /// ```
    ///
    /// A bonded central pairs again if it has lost its keys. But any device can take its address and do the
    /// same. Just Works cannot distinguish the two. Return `true` only if something else confirms the
    /// central, such as a button on the device. The new keys replace those of the bond. The central that has
    /// paired is then the bonded one: it has the subscriptions and the updates that are preserved for that
    /// central.
    ///
    /// The handler is not called for the first pairing of a central. On BlueZ, it is called only with
    /// `JustWorksRepairing = confirm` in bluetoothd's main.conf. With `never`, the default, bluetoothd
    /// refuses the pairing without asking. With `always`, bluetoothd accepts it without asking.
    ///
    /// - Parameter mayReplaceBond: Returns whether a bonded central can pair again. The pairing is refused if
    ///   the handler throws or takes longer than 30 seconds.
    /// - Returns: The way to pair.
    public static func justWorks(
        replacingBondIf mayReplaceBond: @escaping @Sendable (_ central: Central) async throws -> Bool
    ) -> Pairing {
        Pairing(kind: .justWorks(mayReplaceBond: mayReplaceBond))
    }

    /// The system decides how centrals pair, such as in the settings of the desktop.
    ///
    /// The program then does not learn how a central pairs, or that it pairs again. A bonded central that
    /// pairs again in a weaker way keeps its earlier level. Values that require more than
    /// `SecurityLevel.encrypted` from a subscriber's link are sent to it until the bond is forgotten.
    public static let system = Pairing(kind: .system)

    /// The device shows a passkey, which a person types on the central.
    ///
    /// The handler can return at once, or show the passkey until its task is cancelled. That happens when the
    /// central has paired, tries again or disconnects, and after 30 seconds. Some stacks do not report a
    /// wrong passkey, after which the central can stay connected. Some do not report that a bonded central
    /// has paired again. In these cases, the task is cancelled only after 30 seconds.
    ///
    /// Throw an error if the passkey cannot be shown. This ends the pairing and the connection.
    ///
    /// - Parameter show: Shows the passkey, 0 to 999,999, as six digits with leading zeros.
    /// - Returns: The way to pair.
    public static func displayPasskey(_ show: @escaping NumberHandler<Void>) -> Pairing {
        Pairing(kind: .displayPasskey(show))
    }

    /// The central shows a passkey, which a person types on the device.
    ///
    /// - Parameter passkey: Returns the passkey that was typed, 0 to 999,999, or `nil` to refuse.
    /// - Returns: The way to pair.
    public static func enterPasskey(
        _ passkey: @escaping @Sendable (_ central: Central) async throws -> UInt32?
    ) -> Pairing {
        Pairing(kind: .enterPasskey(passkey))
    }

    /// Both devices show a number, and a person confirms that it is the same.
    ///
    /// A central that pairs without LE Secure Connections has no such number, and is refused.
    ///
    /// - Parameter isSame: Shows the number, 0 to 999,999, as six digits with leading zeros. Returns whether
    ///   the person has confirmed it.
    /// - Returns: The way to pair.
    public static func confirmNumber(_ isSame: @escaping NumberHandler<Bool>) -> Pairing {
        Pairing(kind: .confirmNumber(isSame))
    }
}

extension Pairing {
    /// The way to pair without its handlers, for a backend.
    var method: PairingMethod {
        switch kind {
        case .none: .none
        case .justWorks: .justWorks
        case .displayPasskey: .displayPasskey
        case .enterPasskey: .enterPasskey
        case .confirmNumber: .confirmNumber
        case .system: .system
        }
    }
}
