public import PeripheralCore

/// A document that a central has written in chunks.
public struct ReceivedDocument: Sendable {
    /// What was written, up to the end marker.
    public let bytes: [UInt8]

    /// Who has written it, as it was at the end.
    public let central: Central

    /// Whether these are all bytes that were written.
    ///
    /// Otherwise, the document was longer than was to be taken, and these are the first of its bytes; or writes without
    /// response were refused, since they came faster than they were taken or were not possible, and lack here. If one
    /// of those was an end marker, this is more than one document.
    public let isComplete: Bool

    /// Makes a document, for tests.
    public init(bytes: [UInt8], central: Central, isComplete: Bool = true) {
        self.bytes = bytes
        self.central = central
        self.isComplete = isComplete
    }
}

/// The documents that centrals write to a characteristic with a ``WriteStream``, in the order in which they end.
///
/// Each central's chunks are put together by themselves. What a central has written is of no document any more when it
/// leaves before the end marker. To take the writes of the same characteristic elsewhere at the same time would tear
/// documents apart.
public struct ReceivedDocuments: AsyncSequence, Sendable {
    let buffer: WriteBuffer
    let connections: ConnectionNumbers
    let assembly: DocumentAssembly

    /// Takes one document after the other.
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

    /// Begins to take documents.
    public func makeAsyncIterator() -> Iterator {
        Iterator(buffer: buffer, connections: connections, assembly: assembly)
    }
}

@available(*, unavailable)
extension ReceivedDocuments.Iterator: Sendable {}

extension PeripheralSession {
    /// The documents that centrals write to a characteristic in chunks, each ended by a marker: the counterpart of
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
    /// What a central writes without response faster than it is taken can be lost, as ``WriteStream`` tells, and then lacks
    /// in the document as well, which is not ``ReceivedDocument/isComplete`` then: where each byte counts, declare
    /// `.write` alone.
    ///
    /// - Parameters:
    ///   - characteristic: A characteristic of this peripheral with a ``WriteStream``.
    ///   - endMarker: What a central writes after the last chunk. A chunk that is equal to it ends the document as well.
    ///   - maximumSize: How many bytes of a document are taken; memory for that many is used by each central that writes.
    /// - Returns: The documents that end from now on, until the session does.
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
                    "An end marker of \(endMarker.bytes.count) bytes is not possible; it has 2 to 20 bytes."
            )
        }
        return ReceivedDocuments(
            buffer: try writes(to: characteristic).buffer,
            connections: runtime.connections,
            assembly: DocumentAssembly(until: endMarker.bytes, maximumSize: max(maximumSize, 0))
        )
    }
}
