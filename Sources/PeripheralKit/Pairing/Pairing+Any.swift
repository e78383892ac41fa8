extension Pairing {
    /// Each central pairs by the declared method that suits both devices.
    ///
    /// A lock with a display and two buttons can compare numbers with a phone. It can also show a passkey for
    /// a central that has only a keyboard:
    ///
    /// ```swift
    /// let pairing = Pairing.any(
    ///     of: .confirmNumber { number, _ in await screen.asks(whetherSame: number) },
    ///     .displayPasskey { passkey, _ in await screen.show(passkey) }
    /// )
    /// Peripheral("Lock", pairing: pairing) {
    ///     GATTService("5c3a0001-7e3c-4b6e-9d29-b3f1c0a1d001") { isLocked }
    /// }
    /// ```
    ///
    /// The order of the methods has no meaning. The input and output capabilities of both devices determine
    /// the method (Core Specification, Vol 3, Part H, 2.3.5.1). The declared methods determine the capability
    /// that the device reports. The table shows what a person compares or enters if the central requests
    /// protection against man-in-the-middle attacks:
    ///
    /// | The central has | `.confirmNumber`, `.displayPasskey` | also `.enterPasskey` |
    /// |---|---|---|
    /// | *the device reports* | DisplayYesNo | KeyboardDisplay |
    /// | a display and two keys | the number on both devices | the number on both devices |
    /// | a display and a keyboard | the number on both devices | the number on both devices |
    /// | only a keyboard | the passkey on the device | the passkey on the device |
    /// | only a display | cannot pair | the passkey on the central |
    ///
    /// A central without LE Secure Connections cannot confirm a number. Instead, a person enters a passkey if
    /// one of the two devices has a keyboard and the other device has a display. If both devices have both,
    /// the central displays the passkey.
    ///
    /// ## Pairing without a person
    ///
    /// A central pairs by Just Works if it does not request protection against man-in-the-middle attacks. A
    /// central with neither input nor output can pair only by Just Works. The peripheral refuses Just Works
    /// unless the list contains one of the methods named `justWorks`. After a Just Works pairing,
    /// the link has the security level `SecurityLevel.encrypted`. The central cannot use an attribute that
    /// requires a higher level.
    ///
    /// A central that requests the protection does not pair by Just Works if the list contains another
    /// method. If no other method suits both devices, the pairing fails. The article "Limits of BlueZ by
    /// version" in the documentation of `PeripheralBlueZ` describes exceptions for centrals that connected
    /// earlier, and for a setting of BlueZ.
    ///
    /// With ``justWorks(if:)``, the handler also decides whether Just Works replaces a bond that
    /// another method has made.
    ///
    /// ## Combinations
    ///
    /// Validation refuses these lists:
    ///
    /// - A list with ``none`` or ``system``.
    /// - A list that contains a method twice.
    /// - A list with ``enterPasskey(_:)`` and only one of ``confirmNumber(_:)`` and ``displayPasskey(_:)``. A
    ///   device with a keyboard and a display must offer all three: with LE Secure Connections, most centrals
    ///   then compare numbers, and a central with only a keyboard needs a passkey that the device shows.
    ///
    /// - Parameters:
    ///   - first: A method.
    ///   - second: Another method.
    ///   - others: More methods.
    /// - Returns: The pairing methods to pass to the initializer of a peripheral.
    public static func any(of first: Pairing, _ second: Pairing, _ others: Pairing...) -> Pairing {
        let all = [first, second] + others
        return Pairing(
            kinds: all.flatMap(\.kinds),
            policy: all.dropFirst().reduce(first.policy) { $0.combined(with: $1.policy) }
        )
    }
}
