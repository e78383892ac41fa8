public import PeripheralKit

/// The serial port that a ``NordicUARTService`` provides while the peripheral is running.
///
/// The port transfers a stream of bytes in each direction. The boundaries of individual writes and
/// notifications have no meaning.
public struct UARTPort: Sendable {
    /// The writes from centrals, in order of arrival.
    ///
    /// Each write contains the bytes and identifies the central that wrote the bytes.
    ///
    /// The sequence ends when the session ends. The port delivers each byte only once, either in ``received``
    /// or in ``lines``.
    public let received: ReceivedWrites<[UInt8]>

    private let tx: Characteristic<[UInt8]>
    private let session: PeripheralSession

    init(tx: Characteristic<[UInt8]>, received: ReceivedWrites<[UInt8]>, session: PeripheralSession) {
        self.tx = tx
        self.received = received
        self.session = session
    }

    /// The lines that centrals write, each at most 1024 bytes long.
    public var lines: UARTLines { lines(upTo: 1024) }

    /// Returns the lines that centrals write.
    ///
    /// - Parameter length: The maximum number of bytes in a line. The minimum length is 1. The sequence
    ///   splits a line that exceeds the maximum length.
    /// - Returns: A sequence of the lines from all centrals. The sequence delivers a line as soon as the line
    ///   is complete. The sequence ends when the session ends.
    public func lines(upTo length: Int) -> UARTLines {
        UARTLines(received: received, assembler: UARTLineAssembler(limit: max(1, length)), session: session)
    }

    /// Sends bytes to all subscribers.
    ///
    /// The port adapts its speed to each subscriber.
    ///
    /// The method returns when the transfer to each subscriber is complete. If there are no subscribers, the
    /// method sends nothing. If a task calls the method repeatedly, the bytes arrive in the order of the
    /// calls. A central that subscribes during the call receives all of the bytes.
    ///
    /// - Parameter bytes: The bytes to send. The number of bytes is not limited. The port uses the smallest
    ///   possible number of notifications for each central.
    /// - Throws: Any error that `session.send` throws, or `CancellationError`.
    public func write(_ bytes: [UInt8]) async throws {
        try await session.send(bytes, over: tx, chunkSize: .maximum, endMarker: nil)
    }

    /// Sends bytes to one central, as fast as the central accepts the bytes.
    ///
    /// - Parameters:
    ///   - bytes: The bytes to send. The number of bytes is not limited. The port uses the smallest possible
    ///     number of notifications.
    ///   - central: A subscriber.
    /// - Throws: Any error that `session.send` throws, or `CancellationError`. The method throws
    ///   `PeripheralError` with the code `notSubscribed` if the central has not subscribed.
    public func write(_ bytes: [UInt8], to central: Central) async throws {
        try await session.send(bytes, over: tx, to: central, chunkSize: .maximum, endMarker: nil)
    }

    /// Encodes text as UTF-8, and sends the bytes to all subscribers.
    ///
    /// The method does not change the text.
    ///
    /// - Parameter text: The text. End each line with `\n`.
    /// - Throws: Any error that ``write(_:)-([UInt8])`` throws.
    public func write(_ text: String) async throws {
        try await write(Array(text.utf8))
    }

    /// Encodes text as UTF-8, and sends the bytes to one central.
    ///
    /// The method does not change the text.
    ///
    /// - Parameters:
    ///   - text: The text. End each line with `\n`.
    ///   - central: A subscriber.
    /// - Throws: Any error that ``write(_:to:)-([UInt8],_)`` throws.
    public func write(_ text: String, to central: Central) async throws {
        try await write(Array(text.utf8), to: central)
    }
}
