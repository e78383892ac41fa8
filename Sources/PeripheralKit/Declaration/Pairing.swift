/// How centrals may pair with a ``Peripheral``: what stands on the device for a person to see or to press.
///
/// ```swift
/// Peripheral("Lamp", pairing: .displayPasskey { passkey, _ in await screen.show(passkey) }) {
///     GATTService("5c3a0001-7e3c-4b6e-9d29-b3f1c0a1d001") { power }
/// }
/// ```
///
/// Without one, nobody may pair. A central pairs in the declared way or not at all: one that could only do
/// without it, such as one without a keyboard where a passkey has to be typed, is refused.
///
/// A handler has 30 seconds. What it throws refuses the pairing, and so does its delay when an answer is awaited. Its
/// task is cancelled when the time is over, and when the central takes the pairing back: a handler that shows something
/// until its task is cancelled shows it as long as it is of use.
///
/// See Core Specification, Vol 3, Part H, 2.3.5.
public struct Pairing: Sendable {
    /// A passkey of six digits, and a central.
    public typealias NumberHandler<Answer> =
        @Sendable (_ number: UInt32, _ central: Central) async throws -> Answer

    enum Kind: Sendable {
        case none, system
        /// With what decides whether a central may replace its bond; `nil`: none may.
        case justWorks(mayReplaceBond: (@Sendable (Central) async throws -> Bool)?)
        case displayPasskey(NumberHandler<Void>)
        case enterPasskey(@Sendable (Central) async throws -> UInt32?)
        case confirmNumber(NumberHandler<Bool>)
    }

    let kind: Kind

    /// Nobody may pair.
    ///
    /// It is kept as far as this program is asked. On BlueZ, that ends when another program makes itself the default
    /// agent later; and when bluetoothd does not take the agent that refuses, the peripheral goes on with a warning in the
    /// log. Security of attributes does not depend on it.
    public static let none = Pairing(kind: .none)

    /// Every central may pair without a person's consent, but none may replace a bond.
    ///
    /// This encrypts the link, which serves `SecurityLevel.encrypted`. It does not protect against a device in the middle
    /// while the two pair.
    ///
    /// A central that has lost its bond, such as a phone on which its user has chosen to forget this device, cannot pair
    /// again: by Just Works, it cannot prove that it is not another device that has taken its address. It is refused,
    /// its old keys stay valid, and the log says so. It can pair again when this device forgets its bond, too:
    /// by `PeripheralSession.forget(_:)`, for example when a person holds a button. To decide when it asks, use
    /// ``justWorks(replacingBondIf:)``.
    public static let justWorks = Pairing(kind: .justWorks(mayReplaceBond: nil))

    /// Every central may pair without a person's consent, and replace its bond if the program agrees.
    ///
    /// ```swift
    /// Peripheral("Lamp", pairing: .justWorks(replacingBondIf: { _ in await button.isHeld })) {
    ///     GATTService("5c3a0001-7e3c-4b6e-9d29-b3f1c0a1d001") { power }
    /// }
    /// ```
    ///
    /// A central that is bonded pairs again when it has lost its keys; but any device can take its address and do the same.
    /// By Just Works the two cannot be told apart, so return true only while something else speaks for it, such as a
    /// button on the device. The new keys replace those of the bond: from then on, the central that has paired now
    /// counts as the bonded one, with its subscriptions and the updates that are kept for it.
    ///
    /// The first pairing of a central does not ask. On BlueZ, bonds are replaced only with
    /// `JustWorksRepairing = confirm` in bluetoothd's main.conf; with `never`, bluetoothd's default, it refuses and
    /// does not ask, and with `always` it accepts and does not ask.
    ///
    /// - Parameter mayReplaceBond: Returns whether a central that is bonded may pair again. The pairing is refused if it
    ///   throws or takes longer than 30 seconds.
    /// - Returns: The way to pair.
    public static func justWorks(
        replacingBondIf mayReplaceBond: @escaping @Sendable (_ central: Central) async throws -> Bool
    ) -> Pairing {
        Pairing(kind: .justWorks(mayReplaceBond: mayReplaceBond))
    }

    /// The Bluetooth stack is left to ask whoever it asks otherwise, such as the desktop's settings.
    ///
    /// This program does not learn then how a central has paired, nor that it pairs anew. A bonded central that pairs again
    /// in a weaker way counts as what it was: values that demand more than `SecurityLevel.encrypted` of a subscriber's link
    /// are sent to it, until it was forgotten.
    public static let system = Pairing(kind: .system)

    /// The device shows a passkey, which is typed on the central.
    ///
    /// The handler may return at once, or show the passkey until its task is cancelled: when the central is paired, tries
    /// again or leaves, and after 30 seconds. BlueZ tells neither of a wrong passkey, after which a central can stay
    /// connected, nor of a bonded central that has paired anew: in these cases the passkey is shown until the time is
    /// over. To throw means that the passkey cannot be shown, and ends the connection; the pairing is over then.
    ///
    /// - Parameter show: Shows the passkey, 0 to 999,999, with leading zeros as six digits.
    /// - Returns: The way to pair.
    public static func displayPasskey(_ show: @escaping NumberHandler<Void>) -> Pairing {
        Pairing(kind: .displayPasskey(show))
    }

    /// The central shows a passkey, which is typed on the device.
    ///
    /// - Parameter passkey: Returns what was typed, 0 to 999,999, or `nil` to refuse.
    /// - Returns: The way to pair.
    public static func enterPasskey(
        _ passkey: @escaping @Sendable (_ central: Central) async throws -> UInt32?
    ) -> Pairing {
        Pairing(kind: .enterPasskey(passkey))
    }

    /// Both show a number, and a person tells whether it is the same.
    ///
    /// A central that pairs without LE Secure Connections knows no such numbers, and is refused.
    ///
    /// - Parameter isSame: Shows the number, 0 to 999,999, with leading zeros as six digits, and returns whether the
    ///   person has confirmed it.
    /// - Returns: The way to pair.
    public static func confirmNumber(_ isSame: @escaping NumberHandler<Bool>) -> Pairing {
        Pairing(kind: .confirmNumber(isSame))
    }
}

extension Pairing {
    /// The same without handlers, for a backend.
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
