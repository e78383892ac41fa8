/// How far a transfer has come.
public struct TransferProgress: Hashable, Sendable {
    /// Whose progress it is; `nil` is that of all together, where the Bluetooth stack cannot reach each alone.
    public let central: Central.ID?

    /// How many bytes have left this device, as far as is known; 0 again when the transfer begins anew.
    public let sent: Int

    /// How many bytes there are.
    public let total: Int

    /// Makes a progress, for tests.
    public init(central: Central.ID? = nil, sent: Int, total: Int) {
        self.central = central
        self.sent = sent
        self.total = total
    }

    /// What part has left: 0 to 1; 1 when there is nothing to send.
    public var fraction: Double { total == 0 ? 1 : Double(sent) / Double(total) }
}
