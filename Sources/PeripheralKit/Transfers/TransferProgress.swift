/// The progress of a transfer.
public struct TransferProgress: Hashable, Sendable {
    /// The central that the progress belongs to.
    ///
    /// It is `nil` for all recipients together, if the Bluetooth stack cannot reach each alone.
    public let central: Central.ID?

    /// How many bytes have left this device, as far as is known.
    ///
    /// It is 0 again when the transfer starts again.
    public let sent: Int

    /// The size of the document, in bytes.
    public let total: Int

    /// Creates a progress, for tests.
    public init(central: Central.ID? = nil, sent: Int, total: Int) {
        self.central = central
        self.sent = sent
        self.total = total
    }

    /// The part of the document that has left this device, from 0 to 1.
    ///
    /// It is 1 when there is nothing to send.
    public var fraction: Double { total == 0 ? 1 : Double(sent) / Double(total) }
}
