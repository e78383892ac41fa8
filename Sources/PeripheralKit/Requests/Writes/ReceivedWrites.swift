public import PeripheralCore

/// The writes from centrals to a characteristic with a ``WriteStream``.
///
/// The sequence delivers the writes in the order of their arrival. The sequence delivers each write to
/// exactly one task: the first task that waits for a write. Several tasks can read the sequence, concurrently
/// or one after another. If one task is cancelled, the other tasks receive the remaining writes. After the
/// session has ended, the sequence delivers the remaining writes and ends.
///
/// A write stays in the buffer of the ``WriteStream`` until a task reads the write. If the buffer is full, a
/// further write waits until the buffer has room. While a write waits, all later writes of the same central
/// also wait.
public struct ReceivedWrites<Value: GATTValue>: AsyncSequence, Sendable {
    let buffer: WriteBuffer

    /// An iterator that delivers the writes one after another.
    public struct Iterator: AsyncIteratorProtocol {
        let buffer: WriteBuffer

        /// Waits for the next write from a central.
        ///
        /// - Returns: The next write, or `nil` if the task is cancelled. The result is also `nil` if the
        ///   session has ended and all writes have been read.
        public mutating func next() async -> ReceivedWrite<Value>? {
            while let write = await buffer.next() {
                // Writes that cannot be decoded were refused earlier.
                guard !write.isLost, let value = try? Value(gattBytes: write.value) else { continue }
                return ReceivedWrite(value: value, central: write.central)
            }
            return nil
        }
    }

    /// Creates an iterator over the writes.
    public func makeAsyncIterator() -> Iterator {
        Iterator(buffer: buffer)
    }
}

@available(*, unavailable)
extension ReceivedWrites.Iterator: Sendable {}
