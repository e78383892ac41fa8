internal import PeripheralKit

/// The lines that centrals write to a ``UARTPort``, in the order in which they are complete.
///
/// A line ends with CR, LF or both. The lines of different centrals do not mix. What a central has written of a line when
/// it leaves is dropped when another writes; if it is back before, it goes on with its line.
public struct UARTLines: AsyncSequence, Sendable {
    let received: ReceivedWrites<[UInt8]>
    let assembler: UARTLineAssembler
    let session: PeripheralSession

    /// Takes one line after the other.
    public struct Iterator: AsyncIteratorProtocol {
        var received: ReceivedWrites<[UInt8]>.Iterator
        var assembler: UARTLineAssembler
        let session: PeripheralSession

        /// Waits for the next line.
        ///
        /// - Returns: The line; `nil` when the session has ended and all lines are taken, or the task is cancelled.
        public mutating func next() async -> UARTLine? {
            while true {
                if let line = assembler.next() { return line }
                guard let write = await received.next() else { return nil }
                assembler.append(write.value, from: write.central) { session.centrals }
            }
        }
    }

    /// Begins to take lines.
    public func makeAsyncIterator() -> Iterator {
        Iterator(received: received.makeAsyncIterator(), assembler: assembler, session: session)
    }
}

@available(*, unavailable)
extension UARTLines.Iterator: Sendable {}
