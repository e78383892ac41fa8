public import PeripheralCore

/// A document that a central has written in chunks.
public struct ReceivedDocument: Sendable {
    /// The bytes that the central wrote before the end marker.
    public let bytes: [UInt8]

    /// The central that wrote the document, with its properties at the end of the document.
    public let central: Central

    /// Whether `bytes` contains all bytes that the central wrote.
    ///
    /// The value is `false` in two cases:
    ///
    /// - The document was longer than the maximum size. `bytes` contains only the first bytes of the
    ///   document.
    /// - Writes without response were refused, because they arrived faster than they were consumed or were
    ///   not possible. The refused writes are missing in `bytes`. If a refused write was an end marker,
    ///   `bytes` contains more than one document.
    public let isComplete: Bool

    /// Creates a document, for tests.
    public init(bytes: [UInt8], central: Central, isComplete: Bool = true) {
        self.bytes = bytes
        self.central = central
        self.isComplete = isComplete
    }
}

/// The documents that centrals write to a characteristic with a ``WriteStream``.
///
/// Documents arrive in the order in which they end. The chunks of each central are assembled separately. If a
/// central disconnects before the end marker, its unfinished document is discarded. Do not consume the writes
/// of the same characteristic elsewhere at the same time. Otherwise, chunks are missing in the documents.
public struct ReceivedDocuments: AsyncSequence, Sendable {
    let buffer: WriteBuffer
    let connections: ConnectionNumbers
    let assembly: DocumentAssembly

    /// An iterator that delivers one document after the other.
    public struct Iterator: AsyncIteratorProtocol {
        let buffer: WriteBuffer
        let connections: ConnectionNumbers
        var assembly: DocumentAssembly

        /// Waits for the next document.
        ///
        /// - Returns: The document; `nil` when the session has ended, or the task is cancelled.
        public mutating func next() async -> ReceivedDocument? {
            while let write = await buffer.next() {
                let document = assembly.take(write) { [connections] central, number in
                    connections.isCurrent(number, of: central)
                }
                if let document { return document }
            }
            return nil
        }
    }

    /// Creates an iterator over the documents.
    public func makeAsyncIterator() -> Iterator {
        Iterator(buffer: buffer, connections: connections, assembly: assembly)
    }
}

@available(*, unavailable)
extension ReceivedDocuments.Iterator: Sendable {}

extension PeripheralSession {
    /// Returns the documents that centrals write to a characteristic in chunks.
    ///
    /// Each document ends with an end marker. The function is the counterpart of
    /// ``send(_:over:to:chunkSize:endMarker:by:progress:)-(_,_,Central,_,_,_,_)``.
    ///
    /// ```swift
    /// let upload = Characteristic<[UInt8]>("5c3a0008-7e3c-4b6e-9d29-b3f1c0a1d001", .write) {
    ///     WriteStream()
    /// }
    /// for await document in try session.documents(writtenTo: upload) {
    ///     print("\(document.central.address) has sent \(document.bytes.count) bytes")
    /// }
    /// ```
    ///
    /// If a central writes without response faster than its writes are consumed, writes can be lost, see
    /// ``WriteStream``. The lost writes are missing in the document, and ``ReceivedDocument/isComplete`` is
    /// `false`. If each byte counts, declare the property `.write` without `.writeWithoutResponse`.
    ///
    /// - Parameters:
    ///   - characteristic: A characteristic of this peripheral with a ``WriteStream``.
    ///   - endMarker: The write that follows the last chunk. A chunk that is equal to the end marker ends the
    ///     document as well.
    ///   - maximumSize: The maximum size of a document, in bytes. Each central that writes can use this
    ///     amount of memory.
    /// - Returns: The documents that end from now on, until the session ends.
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/notDeclared``,
    ///   ``PeripheralError/Code/invalidValue`` when the marker has fewer than 2 or more than 20 bytes, or
    ///   ``PeripheralError/Code/stopped``.
    public func documents(
        writtenTo characteristic: Characteristic<[UInt8]>,
        endMarker: EndMarker = "EOM",
        maximumSize: Int = 65_536
    ) throws(PeripheralError) -> ReceivedDocuments {
        guard (2...20).contains(endMarker.bytes.count) else {
            throw PeripheralError(
                code: .invalidValue,
                message:
                    "The end marker has \(endMarker.bytes.count) bytes. Use 2 to 20 bytes."
            )
        }
        return ReceivedDocuments(
            buffer: try writes(to: characteristic).buffer,
            connections: runtime.connections,
            assembly: DocumentAssembly(until: endMarker.bytes, maximumSize: max(maximumSize, 0))
        )
    }
}
