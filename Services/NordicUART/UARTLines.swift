internal import PeripheralKit

/// The lines that centrals write to a ``UARTPort``.
///
/// The lines are delivered in the order in which they are completed.
///
/// A line ends with CR, LF or both. A line contains the bytes of one central only. If a central disconnects,
/// the sequence keeps the unfinished line of that central until another central writes. The write of the
/// other central drops the unfinished line. If the disconnected central reconnects before that write, the
/// central continues the line.
public struct UARTLines: AsyncSequence, Sendable {
    let received: ReceivedWrites<[UInt8]>
    let assembler: UARTLineAssembler
    let session: PeripheralSession

    /// Iterates over the lines.
    public struct Iterator: AsyncIteratorProtocol {
        var received: ReceivedWrites<[UInt8]>.Iterator
        var assembler: UARTLineAssembler
        let session: PeripheralSession

        /// Waits for the next line.
        ///
        /// - Returns: The line; `nil` if the session has ended and all lines are delivered, or if the task is
        ///   cancelled.
        public mutating func next() async -> UARTLine? {
            while true {
                if let line = assembler.next() { return line }
                guard let write = await received.next() else { return nil }
                assembler.append(write.value, from: write.central) { session.centrals }
            }
        }
    }

    /// Returns an iterator over the lines.
    public func makeAsyncIterator() -> Iterator {
        Iterator(received: received.makeAsyncIterator(), assembler: assembler, session: session)
    }
}

@available(*, unavailable)
extension UARTLines.Iterator: Sendable {}
