/// The progress of a transfer.
public struct TransferProgress: Hashable, Sendable {
    /// The central that the progress belongs to.
    ///
    /// The central is `nil` for the progress of all recipients together. This is the case if the Bluetooth
    /// stack cannot reach each recipient alone.
    public let central: Central.ID?

    /// The number of bytes that have left this device, as far as is known.
    ///
    /// When the transfer starts again, the number is 0 again.
    public let sent: Int

    /// The size of the document, in bytes.
    public let total: Int

    /// Creates a progress, for tests.
    public init(central: Central.ID? = nil, sent: Int, total: Int) {
        self.central = central
        self.sent = sent
        self.total = total
    }

    /// The fraction of the document that has left this device, from 0 to 1.
    ///
    /// For an empty document, the fraction is 1.
    public var fraction: Double { total == 0 ? 1 : Double(sent) / Double(total) }
}
