public import PeripheralKit

/// The serial port of a ``NordicUARTService`` during a run of the peripheral.
///
/// The port transfers a stream of bytes in each direction. The boundaries of writes and notifications have no
/// meaning.
public struct UARTPort: Sendable {
    /// The writes of centrals, in the order of arrival.
    ///
    /// Each write contains the bytes, and the central that has written the bytes.
    ///
    /// The sequence ends when the session ends. Each byte is delivered once: either in this sequence or in
    /// ``lines``.
    public let received: ReceivedWrites<[UInt8]>

    private let tx: Characteristic<[UInt8]>
    private let session: PeripheralSession

    init(tx: Characteristic<[UInt8]>, received: ReceivedWrites<[UInt8]>, session: PeripheralSession) {
        self.tx = tx
        self.received = received
        self.session = session
    }

    /// The lines that centrals write, with at most 1024 bytes each.
    public var lines: UARTLines { lines(upTo: 1024) }

    /// Returns the lines that centrals write.
    ///
    /// - Parameter length: The largest number of bytes in a line, at least 1. A longer line is delivered in
    ///   parts.
    /// - Returns: The complete lines of all centrals. The sequence ends when the session ends.
    public func lines(upTo length: Int) -> UARTLines {
        UARTLines(received: received, assembler: UARTLineAssembler(limit: max(1, length)), session: session)
    }

    /// Sends bytes to all subscribers.
    ///
    /// The port sends bytes to each subscriber as fast as that subscriber accepts bytes.
    ///
    /// The call returns when the transfer is completed for all subscribers. Without subscribers, nothing is
    /// sent. The bytes of one caller arrive in the order of the calls. A central that subscribes during the
    /// call receives all bytes of the call.
    ///
    /// - Parameter bytes: The bytes to send. The number of bytes is not limited. The port sends as few
    ///   notifications as each central allows.
    /// - Throws: The errors of `session.send`, and `CancellationError`.
    public func write(_ bytes: [UInt8]) async throws {
        try await session.send(bytes, over: tx, chunkSize: .maximum, endMarker: nil)
    }

    /// Sends bytes to one central, as fast as the central accepts the bytes.
    ///
    /// - Parameters:
    ///   - bytes: The bytes to send. The number of bytes is not limited. The port sends as few notifications
    ///     as the central allows.
    ///   - central: A subscriber.
    /// - Throws: The errors of `session.send`, and `CancellationError`. If the central has not subscribed,
    ///   the code of `PeripheralError` is `notSubscribed`.
    public func write(_ bytes: [UInt8], to central: Central) async throws {
        try await session.send(bytes, over: tx, to: central, chunkSize: .maximum, endMarker: nil)
    }

    /// Sends a text in UTF-8, without changes, to all subscribers.
    ///
    /// - Parameter text: The text. End each line with `\n`.
    /// - Throws: The errors of ``write(_:)-([UInt8])``.
    public func write(_ text: String) async throws {
        try await write(Array(text.utf8))
    }

    /// Sends a text in UTF-8, without changes, to one central.
    ///
    /// - Parameters:
    ///   - text: The text. End each line with `\n`.
    ///   - central: A subscriber.
    /// - Throws: The errors of ``write(_:to:)-([UInt8],_)``.
    public func write(_ text: String, to central: Central) async throws {
        try await write(Array(text.utf8), to: central)
    }
}
