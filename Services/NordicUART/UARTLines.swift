internal import PeripheralKit

/// The lines that centrals write to a ``UARTPort``.
///
/// The sequence delivers the lines in order of completion.
///
/// A line ends with CR, LF, or CR followed by LF. A line contains bytes from only one central.
///
/// If a central disconnects in the middle of a line, the sequence keeps the unfinished line. If the central
/// reconnects, the next bytes from the central continue the unfinished line. When a central begins a line,
/// the sequence drops the unfinished lines of all disconnected centrals.
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
        /// - Returns: The next line. The result is `nil` after the last line of the session, or if the task
        ///   is cancelled.
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
