public import PeripheralCore

/// A document that a central has written in chunks.
public struct ReceivedDocument: Sendable {
    /// The bytes that the central wrote before the end marker.
    public let bytes: [UInt8]

    /// The central that wrote the document.
    ///
    /// The properties of the central are those at the time when the document ended.
    public let central: Central

    /// Whether `bytes` contains all bytes that the central wrote.
    ///
    /// The property is `false` in two cases:
    ///
    /// - The document is longer than the maximum size. `bytes` contains only the first bytes of the document.
    /// - Writes without response were refused. A write is refused if it is invalid, or if writes arrive
    ///   faster than the program consumes them. `bytes` does not contain the refused writes. If a refused
    ///   write was an end marker, `bytes` contains more than one document.
    public let isComplete: Bool

    /// Creates a document for use in tests.
    public init(bytes: [UInt8], central: Central, isComplete: Bool = true) {
        self.bytes = bytes
        self.central = central
        self.isComplete = isComplete
    }
}

/// The documents that centrals write to a characteristic with a ``WriteStream``.
///
/// The sequence delivers documents in the order of their end markers. The session assembles the chunks of
/// each central separately. If a central disconnects before the end marker, the session discards the
/// unfinished document. Consume the writes of the characteristic only through the sequence of documents. If
/// other code also consumes the writes, chunks are missing from the documents.
public struct ReceivedDocuments: AsyncSequence, Sendable {
    let buffer: WriteBuffer
    let connections: ConnectionNumbers
    let assembly: DocumentAssembly

    /// An iterator that delivers one document after another.
    public struct Iterator: AsyncIteratorProtocol {
        let buffer: WriteBuffer
        let connections: ConnectionNumbers
        var assembly: DocumentAssembly

        /// Waits for the next document.
        ///
        /// - Returns: The next document, or `nil` if the session has ended or the task is cancelled.
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
    /// Each document ends with an end marker. The function is the receiving counterpart of
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
    /// If a central sends writes without response faster than the program consumes them, writes can be lost
    /// (see ``WriteStream``). A document does not contain lost writes. If writes are lost,
    /// ``ReceivedDocument/isComplete`` is `false`. If the program needs every byte, declare the property
    /// `.write` without `.writeWithoutResponse`.
    ///
    /// - Parameters:
    ///   - characteristic: A characteristic of this peripheral with a ``WriteStream``.
    ///   - endMarker: The write that follows the last chunk of a document. A chunk that is equal to the end
    ///     marker also ends the document.
    ///   - maximumSize: The maximum size of a document, in bytes. Each central that writes a document can
    ///     occupy this amount of memory.
    /// - Returns: A sequence of the documents that end between the call and the end of the session.
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/invalidValue`` when the end marker
    ///   has fewer than 2 or more than 20 bytes. The other possible codes are
    ///   ``PeripheralError/Code/notDeclared`` and ``PeripheralError/Code/stopped``.
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
