/// The progress of the transfer of a document.
public struct TransferProgress: Hashable, Sendable {
    /// The central that receives the document.
    ///
    /// The central is `nil` if the Bluetooth stack cannot send updates to each recipient separately. If
    /// ``central`` is `nil`, the other properties describe one shared transfer to all recipients.
    public let central: Central.ID?

    /// The number of document bytes that the device has sent.
    ///
    /// The value of the property becomes 0 when the session restarts the transfer.
    public let sent: Int

    /// The size of the document, in bytes.
    public let total: Int

    /// Creates a progress value for use in tests.
    public init(central: Central.ID? = nil, sent: Int, total: Int) {
        self.central = central
        self.sent = sent
        self.total = total
    }

    /// The fraction of the document that the device has sent, from 0 to 1.
    ///
    /// For an empty document, the fraction is 1.
    public var fraction: Double { total == 0 ? 1 : Double(sent) / Double(total) }
}
