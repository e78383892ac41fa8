internal import PeripheralKit

/// The lines that centrals write to a ``UARTPort``, in the order of their ends.
///
/// A line ends with CR, LF or both. The lines of different centrals do not mix. When a central disconnects,
/// its unfinished line is dropped as soon as another central writes. If the central returns before that, it
/// continues its line.
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
        /// - Returns: The line; `nil` when the session has ended and all lines are taken, or when the task is
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
