public import PeripheralKit

/// The serial port of a ``NordicUARTService`` during the run of its peripheral.
///
/// Bytes are a stream in both directions. The boundaries of writes and notifications have no meaning.
public struct UARTPort: Sendable {
    /// The writes of centrals as they arrive, each with its bytes and its central.
    ///
    /// The sequence ends with the session. Each byte is delivered once, either here or in ``lines``.
    public let received: ReceivedWrites<[UInt8]>

    private let tx: Characteristic<[UInt8]>
    private let session: PeripheralSession

    init(tx: Characteristic<[UInt8]>, received: ReceivedWrites<[UInt8]>, session: PeripheralSession) {
        self.tx = tx
        self.received = received
        self.session = session
    }

    /// The lines that centrals write, of up to 1024 bytes each.
    public var lines: UARTLines { lines(upTo: 1024) }

    /// Returns the lines that centrals write.
    ///
    /// - Parameter length: The largest number of bytes in a line, at least 1. A longer line is delivered in
    ///   parts.
    /// - Returns: The lines of all centrals, each complete, until the session ends.
    public func lines(upTo length: Int) -> UARTLines {
        UARTLines(received: received, assembler: UARTLineAssembler(limit: max(1, length)), session: session)
    }

    /// Sends bytes to all subscribers, to each as fast as it accepts them.
    ///
    /// The call returns when the bytes are completed for all subscribers. Without subscribers, nothing is
    /// sent. The bytes of one caller arrive in order. A central that subscribes during the call gets all
    /// bytes.
    ///
    /// - Parameter bytes: The bytes, of any number. They are sent in as few notifications as each central
    ///   allows.
    /// - Throws: The errors of `session.send`; `CancellationError`.
    public func write(_ bytes: [UInt8]) async throws {
        try await session.send(bytes, over: tx, chunkSize: .maximum, endMarker: nil)
    }

    /// Sends bytes to one central, as fast as it accepts them.
    ///
    /// - Parameters:
    ///   - bytes: The bytes, of any number. They are sent in as few notifications as the central allows.
    ///   - central: A subscriber.
    /// - Throws: The errors of `session.send`, such as `PeripheralError` with the code `notSubscribed` when
    ///   the central has not subscribed; `CancellationError`.
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
