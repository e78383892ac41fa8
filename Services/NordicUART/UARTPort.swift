public import PeripheralKit

/// The serial port of a ``NordicUARTService`` while its peripheral is published.
///
/// Bytes arrive and leave as a stream: where one write or one notification ends has no meaning.
public struct UARTPort: Sendable {
    /// What centrals have written, as it comes: bytes, and whose they are.
    ///
    /// The sequence ends with the session. Each byte is given once, here or in ``lines``.
    public let received: ReceivedWrites<[UInt8]>

    private let tx: Characteristic<[UInt8]>
    private let session: PeripheralSession

    init(tx: Characteristic<[UInt8]>, received: ReceivedWrites<[UInt8]>, session: PeripheralSession) {
        self.tx = tx
        self.received = received
        self.session = session
    }

    /// What centrals have written, line by line; a line may have 1024 bytes.
    public var lines: UARTLines { lines(upTo: 1024) }

    /// What centrals have written, line by line.
    ///
    /// - Parameter length: How many bytes a line may have, at least 1; a longer one is given in parts.
    /// - Returns: The lines of all centrals, each whole, until the session ends.
    public func lines(upTo length: Int) -> UARTLines {
        UARTLines(received: received, assembler: UARTLineAssembler(limit: max(1, length)), session: session)
    }

    /// Sends bytes to all centrals that listen, to each as fast as it takes them.
    ///
    /// The call returns when they have left for all of them; nobody listens, nothing is sent. Bytes of one caller arrive
    /// in order. Who begins to listen meanwhile gets all of them.
    ///
    /// - Parameter bytes: Any number; sent in as few notifications as each central takes.
    /// - Throws: `PeripheralError` as `session.send` does; `CancellationError`.
    public func write(_ bytes: [UInt8]) async throws {
        try await session.send(bytes, over: tx, chunkSize: .maximum, endMarker: nil)
    }

    /// Sends bytes to one central, as fast as it takes them.
    ///
    /// - Parameters:
    ///   - bytes: Any number; sent in as few notifications as the central takes.
    ///   - central: A central that listens.
    /// - Throws: `PeripheralError` as `session.send` does: with the code `notSubscribed` when the central does not listen;
    ///   `CancellationError`.
    public func write(_ bytes: [UInt8], to central: Central) async throws {
        try await session.send(bytes, over: tx, to: central, chunkSize: .maximum, endMarker: nil)
    }

    /// Sends a text in UTF-8, as it is, to all centrals that listen.
    ///
    /// - Parameter text: The text; end a line by `\n`.
    /// - Throws: As ``write(_:)-([UInt8])``.
    public func write(_ text: String) async throws {
        try await write(Array(text.utf8))
    }

    /// Sends a text in UTF-8, as it is, to one central.
    ///
    /// - Parameters:
    ///   - text: The text; end a line by `\n`.
    ///   - central: A central that listens.
    /// - Throws: As ``write(_:to:)-([UInt8],_)``.
    public func write(_ text: String, to central: Central) async throws {
        try await write(Array(text.utf8), to: central)
    }
}
