/// The method by which centrals pair with a ``Peripheral``.
///
/// Choose a pairing method that suits the hardware of the device: a display, a keyboard or buttons.
///
/// ```swift
/// Peripheral("Lamp", pairing: .displayPasskey { passkey, _ in await screen.show(passkey) }) {
///     GATTService("5c3a0001-7e3c-4b6e-9d29-b3f1c0a1d001") { power }
/// }
/// ```
///
/// If a peripheral declares no pairing method, no central can pair. A central that does not support the
/// declared pairing method cannot pair. For example, a central without a keyboard cannot pair if a person
/// must type a passkey on the central. To serve more centrals, declare several pairing methods with
/// ``any(of:_:_:)``.
///
/// A pairing handler can run for up to 30 seconds. If the pairing handler throws an error, the pairing fails.
/// A pairing that requires an answer from the handler fails if the handler does not answer within 30 seconds.
/// The peripheral cancels the task of the pairing handler after 30 seconds, or when the central cancels the
/// pairing. A pairing handler can show a passkey until the task of the handler is cancelled.
///
/// ## When centrals can pair
///
/// By default, centrals can pair at any time. ``onlyWhenAllowed(disconnectingUnbonded:)`` limits pairing to
/// the times that the program chooses, and ``limitingBonds(to:replacingOldest:)`` limits the number of bonds:
///
/// ```swift
/// let pairing = Pairing.displayPasskey { passkey, _ in await screen.show(passkey) }
///     .onlyWhenAllowed()
///     .limitingBonds(to: 4)
/// ```
///
/// The session reports ``SessionEvent/paired(_:)``, ``SessionEvent/pairingFailed(_:_:)`` and
/// ``SessionEvent/bondRemoved(_:)``.
///
/// The Core Specification defines the pairing methods in Vol 3, Part H, 2.3.5.
public struct Pairing: Sendable {
    /// A handler that receives a six-digit number and a central.
    ///
    /// The number is a passkey, or a number that a person compares on both devices. The central is the device
    /// that pairs with the peripheral.
    public typealias NumberHandler<Answer> =
        @Sendable (_ number: UInt32, _ central: Central) async throws -> Answer

    enum Kind: Sendable {
        case none, system
        /// A closure that decides whether a central can pair. With `nil`, a central can pair if it is not
        /// bonded.
        case justWorks(mayPair: (@Sendable (Central) async throws -> Bool)?)
        case displayPasskey(NumberHandler<Void>)
        case enterPasskey(@Sendable (Central) async throws -> UInt32?)
        case confirmNumber(NumberHandler<Bool>)
    }

    /// The declared methods; more than one with ``any(of:_:_:)``.
    let kinds: [Kind]

    /// When centrals may pair, and how many bonds there may be.
    let policy: PairingPolicy

    init(kinds: [Kind], policy: PairingPolicy = PairingPolicy()) {
        self.kinds = kinds
        self.policy = policy
    }

    private init(kind: Kind) {
        self.init(kinds: [kind])
    }

    /// No central can pair.
    ///
    /// On a Bluetooth stack, only one program at a time makes the pairing decisions. The value `none` has an
    /// effect only while this program makes the pairing decisions. Another program can take over the pairing
    /// decisions at any time. If this program cannot make the pairing decisions, the peripheral logs a
    /// warning and continues to run. The security of attributes does not depend on which program makes the
    /// pairing decisions.
    public static let none = Pairing(kind: .none)

    /// Every central can pair without a person's consent, but no central can replace a bond.
    ///
    /// A Just Works pairing encrypts the link. After a Just Works pairing, the link has the security level
    /// `SecurityLevel.encrypted`. A Just Works pairing does not protect against a man-in-the-middle attack.
    ///
    /// A central that has lost its bond cannot pair again. For example, a phone loses its bond when its user
    /// chooses to forget the device. With Just Works, a central cannot prove its identity, because another
    /// device can use the same address. The peripheral logs the refused pairing, and the keys of the old bond
    /// stay valid.
    ///
    /// A central can pair again after the program has removed the old bond with
    /// `PeripheralSession.forget(_:)`. For example, the program can remove the bond when a person holds down
    /// a button. To decide during the pairing whether a central can replace its bond, use
    /// ``justWorks(if:)``.
    public static let justWorks = Pairing(kind: .justWorks(mayPair: nil))

    /// The handler decides about each central that wants to pair.
    ///
    /// ```swift
    /// let pairing = Pairing.justWorks { central in
    ///     guard !central.isBonded else { return false }
    ///     return await screen.asks("Pair with \(central.address)?")
    /// }
    /// ```
    ///
    /// A Just Works pairing encrypts the link, and does not protect against a man-in-the-middle attack. The
    /// handler can ask a person, or accept only while a button is pressed. To let centrals pair for some
    /// time, use ``onlyWhenAllowed(disconnectingUnbonded:)``.
    ///
    /// ## Replacing a bond
    ///
    /// If ``Central/isBonded`` is `true`, the central wants to replace its bond. A bonded central pairs again
    /// if it has lost its keys. A different device can copy the address of the bonded central and then pair.
    /// Just Works pairing cannot distinguish the bonded central from a different device with the same
    /// address. Accept a bonded central only if additional evidence, such as a pressed button on the device,
    /// confirms its identity.
    ///
    /// The keys of the new pairing replace the keys of the bond. After the new pairing, the newly paired
    /// device is the bonded central. All preserved subscriptions and updates of the bond then belong to the
    /// newly paired device.
    ///
    /// With some configurations, the Bluetooth stack refuses or accepts the new pairing of a bonded central
    /// without calling the handler. The article "Limits of BlueZ by version" in the documentation of
    /// `PeripheralBlueZ` names the setting that enables the handler.
    ///
    /// - Parameter mayPair: Returns whether the central can pair. The pairing fails if the handler throws an
    ///   error or takes longer than 30 seconds.
    /// - Returns: The pairing method to pass to the initializer of a peripheral.
    public static func justWorks(
        if mayPair: @escaping @Sendable (_ central: Central) async throws -> Bool
    ) -> Pairing {
        Pairing(kind: .justWorks(mayPair: mayPair))
    }

    /// The operating system decides how centrals pair, for example through its desktop settings.
    ///
    /// The operating system does not report the pairing method of a central to the program. The operating
    /// system does not report a repeated pairing of the same central either. If a bonded central pairs again
    /// with a weaker method, the peripheral does not detect the lower security level. The central still
    /// receives values that require a higher level than `SecurityLevel.encrypted`. This security risk remains
    /// until the bond of the central is removed.
    public static let system = Pairing(kind: .system)

    /// The device shows a passkey, which a person types on the central.
    ///
    /// The handler can return immediately, or show the passkey until the task of the handler is cancelled.
    /// The peripheral cancels the task of the handler in these cases:
    ///
    /// - The handler has run for 30 seconds.
    /// - The central has paired.
    /// - The central starts another pairing.
    /// - The central has disconnected.
    ///
    /// Some Bluetooth stacks do not report a wrong passkey, and the central can stay connected after a wrong
    /// passkey. Some Bluetooth stacks do not report that a bonded central has paired again. If the Bluetooth
    /// stack does not report the end of a pairing, the peripheral cancels the task of the handler only after
    /// 30 seconds.
    ///
    /// If the device cannot show the passkey, throw an error from the handler. An error from the handler ends
    /// the pairing and the connection.
    ///
    /// - Parameter show: Shows the passkey, from 0 to 999,999, as six digits with leading zeros.
    /// - Returns: The pairing method to pass to the initializer of a peripheral.
    public static func displayPasskey(_ show: @escaping NumberHandler<Void>) -> Pairing {
        Pairing(kind: .displayPasskey(show))
    }

    /// The central shows a passkey, which a person types on the device.
    ///
    /// - Parameter passkey: Returns the passkey that a person has typed, from 0 to 999,999, or `nil` to
    ///   refuse the pairing.
    /// - Returns: The pairing method to pass to the initializer of a peripheral.
    public static func enterPasskey(
        _ passkey: @escaping @Sendable (_ central: Central) async throws -> UInt32?
    ) -> Pairing {
        Pairing(kind: .enterPasskey(passkey))
    }

    /// Both devices show a number, and a person confirms that the numbers are the same.
    ///
    /// A central without LE Secure Connections cannot show a number, and therefore cannot pair.
    ///
    /// - Parameter isSame: Shows the number, from 0 to 999,999, as six digits with leading zeros. Returns
    ///   whether a person has confirmed the number.
    /// - Returns: The pairing method to pass to the initializer of a peripheral.
    public static func confirmNumber(_ isSame: @escaping NumberHandler<Bool>) -> Pairing {
        Pairing(kind: .confirmNumber(isSame))
    }
}

extension Pairing {
    /// The pairing method without the handlers, for a backend.
    ///
    /// Just Works beside other methods has no effect on the result. It needs no input and no output, and a
    /// backend asks for authorization with every method.
    var method: PairingMethod {
        let others = kinds.map(\.method).filter { $0 != .justWorks }
        return switch others.count {
        case 0: .justWorks
        case 1: others[0]
        case 2 where !others.contains(.enterPasskey): .displayPasskeyOrConfirmNumber
        // Validation refuses all other combinations except that of all three methods.
        default: .enterOrDisplayPasskeyOrConfirmNumber
        }
    }
}

extension Pairing.Kind {
    var method: PairingMethod {
        switch self {
        case .none: .none
        case .justWorks: .justWorks
        case .displayPasskey: .displayPasskey
        case .enterPasskey: .enterPasskey
        case .confirmNumber: .confirmNumber
        case .system: .system
        }
    }
}
