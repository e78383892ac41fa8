internal import PeripheralCore

/// A document that a central has written in chunks.
public struct ReceivedDocument: Sendable {
    /// The bytes that the central wrote before the end marker.
    public let bytes: [UInt8]

    /// The central that wrote the document.
    ///
    /// The value describes the central at the moment when the last write of the document arrived.
    public let central: Central

    /// Whether `bytes` contains all bytes that the central wrote.
    ///
    /// The property is `false` in two cases:
    ///
    /// - The document is longer than the maximum size. `bytes` contains only the first bytes of the document.
    /// - The peripheral refused at least one write without response. The peripheral refuses invalid writes,
    ///   and refuses writes that arrive faster than the program consumes writes. `bytes` does not contain the
    ///   refused writes. If the peripheral refuses an end marker, the document continues until the next end
    ///   marker. In this case, `bytes` contains the bytes of two documents.
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
/// The order of the end markers determines the order of the documents in the sequence. The session assembles
/// the chunks of each central separately. If a central disconnects before the end marker, the session
/// discards the unfinished document. While you iterate over the documents, do not read the ``WriteStream`` of
/// the characteristic. If other code also consumes the writes, chunks are missing from the documents.
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
