internal import PeripheralCore

/// A document that a central has written in chunks.
public struct ReceivedDocument: Sendable {
    /// The bytes that the central wrote before the end marker.
    public let bytes: [UInt8]

    /// The central that wrote the document.
    ///
    /// The value describes the central at the time when the document ended.
    public let central: Central

    /// Whether `bytes` contains all bytes that the central wrote.
    ///
    /// The property is `false` in two cases:
    ///
    /// - The document is longer than the maximum size. `bytes` contains only the first bytes of the document.
    /// - The peripheral refused at least one write without response. The peripheral refuses invalid writes,
    ///   and refuses writes that arrive faster than the program consumes writes. `bytes` does not contain the
    ///   refused writes. If the peripheral refuses an end marker, `bytes` also contains the next document.
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
/// The sequence delivers documents in the order in which their end markers arrive. The session assembles the
/// chunks of each central separately. If a central disconnects before the end marker, the session discards
/// the unfinished document. Do not read the ``WriteStream`` of the characteristic directly at the same time.
/// If other code also consumes the writes, chunks are missing from the documents.
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
