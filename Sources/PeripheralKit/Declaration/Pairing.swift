/// How centrals can pair with a ``Peripheral``.
///
/// Select the way to pair by the hardware of the device: a display, a keyboard or buttons.
///
/// ```swift
/// Peripheral("Lamp", pairing: .displayPasskey { passkey, _ in await screen.show(passkey) }) {
///     GATTService("5c3a0001-7e3c-4b6e-9d29-b3f1c0a1d001") { power }
/// }
/// ```
///
/// Without a declared pairing, no central can pair. A central that cannot pair in the declared way is
/// refused. For example, if a person must type a passkey on the central, a central without a keyboard is
/// refused.
///
/// A handler can take 30 seconds. An error that the handler throws refuses the pairing. If the pairing
/// requires the handler's answer and the handler takes longer, the pairing is also refused. The handler's
/// task is cancelled after 30 seconds, and when the central cancels the pairing. Therefore, a handler can
/// show a passkey until its task is cancelled.
///
/// See Core Specification, Vol 3, Part H, 2.3.5.
public struct Pairing: Sendable {
    /// A handler that receives a passkey or number of six digits, and the central that pairs.
    public typealias NumberHandler<Answer> =
        @Sendable (_ number: UInt32, _ central: Central) async throws -> Answer

    enum Kind: Sendable {
        case none, system
        /// Decides whether a central can replace its bond; `nil` refuses every replacement.
        case justWorks(mayReplaceBond: (@Sendable (Central) async throws -> Bool)?)
        case displayPasskey(NumberHandler<Void>)
        case enterPasskey(@Sendable (Central) async throws -> UInt32?)
        case confirmNumber(NumberHandler<Bool>)
    }

    let kind: Kind

    /// No central can pair.
    ///
    /// A Bluetooth stack asks only one program about pairings. `none` applies while the stack asks this
    /// program. Another program can take over this role later. If the stack does not accept this program in
    /// the role, the peripheral runs without the role and logs a warning. The security of attributes does not
    /// depend on the role.
    public static let none = Pairing(kind: .none)

    /// Every central can pair without a person's consent, but none can replace a bond.
    ///
    /// The pairing encrypts the link, which is enough for `SecurityLevel.encrypted`. The pairing does not
    /// protect against an attack by a device in the middle.
    ///
    /// A central that has lost its bond cannot pair again. An example is a phone whose user has chosen to
    /// forget this device. With Just Works, the central cannot prove that it is not another device with the
    /// same address. The pairing is refused and logged, and the old keys stay valid.
    ///
    /// The central can pair again after the program has removed its bond with `PeripheralSession.forget(_:)`.
    /// For example, remove the bond when a person holds a button. To decide at the time of the pairing, use
    /// ``justWorks(replacingBondIf:)``.
    public static let justWorks = Pairing(kind: .justWorks(mayReplaceBond: nil))

    /// Every central can pair without a person's consent, and can replace its bond if the program agrees.
    ///
    /// ```swift
    /// Peripheral("Lamp", pairing: .justWorks(replacingBondIf: { _ in await button.isHeld })) {
    ///     GATTService("5c3a0001-7e3c-4b6e-9d29-b3f1c0a1d001") { power }
    /// }
    /// ```
    ///
    /// A bonded central pairs again if it has lost its keys. But any other device can use the central's
    /// address and pair. Just Works cannot distinguish the two devices. Return `true` only if something else
    /// confirms the central, such as a button on the device.
    ///
    /// The new keys replace the keys of the bond. The device that has paired is then the bonded central. That
    /// device receives the subscriptions and the updates that are preserved for the bonded central.
    ///
    /// The handler is not called for the first pairing of a central. On BlueZ, it is called only with
    /// `JustWorksRepairing = confirm` in bluetoothd's main.conf. With `never`, the default, bluetoothd
    /// refuses the pairing without a call of the handler. With `always`, bluetoothd accepts the pairing
    /// without a call of the handler.
    ///
    /// - Parameter mayReplaceBond: Returns whether a bonded central can pair again. The pairing is refused if
    ///   the handler throws or takes longer than 30 seconds.
    /// - Returns: The way to pair.
    public static func justWorks(
        replacingBondIf mayReplaceBond: @escaping @Sendable (_ central: Central) async throws -> Bool
    ) -> Pairing {
        Pairing(kind: .justWorks(mayReplaceBond: mayReplaceBond))
    }

    /// The system decides how centrals pair, for example by the settings of the desktop.
    ///
    /// The program is not informed how a central pairs, or that a central pairs again. If a bonded central
    /// pairs again in a weaker way, its earlier security level still applies. The central then receives
    /// values that require more than `SecurityLevel.encrypted` until its bond is removed.
    public static let system = Pairing(kind: .system)

    /// The device shows a passkey, which a person types on the central.
    ///
    /// The handler can return at once, or show the passkey until its task is cancelled. The task is cancelled
    /// when the central has paired, tries again or disconnects, and after 30 seconds.
    ///
    /// Some stacks do not report a wrong passkey, and the central can stay connected afterwards. Some stacks
    /// do not report that a bonded central has paired again. In these cases, the task is cancelled only after
    /// 30 seconds.
    ///
    /// If the passkey cannot be shown, throw an error. The error ends the pairing and the connection.
    ///
    /// - Parameter show: Shows the passkey, 0 to 999,999, as six digits with leading zeros.
    /// - Returns: The way to pair.
    public static func displayPasskey(_ show: @escaping NumberHandler<Void>) -> Pairing {
        Pairing(kind: .displayPasskey(show))
    }

    /// The central shows a passkey, which a person types on the device.
    ///
    /// - Parameter passkey: Returns the passkey that the person has typed, 0 to 999,999, or `nil` to refuse
    ///   the pairing.
    /// - Returns: The way to pair.
    public static func enterPasskey(
        _ passkey: @escaping @Sendable (_ central: Central) async throws -> UInt32?
    ) -> Pairing {
        Pairing(kind: .enterPasskey(passkey))
    }

    /// Both devices show a number, and a person confirms that the numbers are the same.
    ///
    /// A central that pairs without LE Secure Connections cannot show such a number, and is refused.
    ///
    /// - Parameter isSame: Shows the number, 0 to 999,999, as six digits with leading zeros. Returns whether
    ///   the person has confirmed the number.
    /// - Returns: The way to pair.
    public static func confirmNumber(_ isSame: @escaping NumberHandler<Bool>) -> Pairing {
        Pairing(kind: .confirmNumber(isSame))
    }
}

extension Pairing {
    /// The way to pair, without the handlers, for a backend.
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
