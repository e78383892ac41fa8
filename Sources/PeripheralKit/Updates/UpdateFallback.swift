/// The recipients of a value that the Bluetooth stack cannot send to one central separately.
public struct UpdateFallback: Sendable {
    let isToAll: Bool

    /// The value is not sent, and the call throws ``PeripheralError/Code/notAddressable``.
    public static let none = UpdateFallback(isToAll: false)

    /// The session sends the value to all subscribers together.
    ///
    /// Subscribers that the program has not chosen then receive the value as well. Do not use this fallback
    /// for a value that only one central may receive.
    public static let allSubscribers = UpdateFallback(isToAll: true)
}
