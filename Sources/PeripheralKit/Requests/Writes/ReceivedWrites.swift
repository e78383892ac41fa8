public import PeripheralCore

/// The writes of centrals to a characteristic with a ``WriteStream``.
///
/// The sequence delivers the writes in the order in which they arrived. Each write is delivered once, to the
/// first task that waits for a write. Several tasks can consume the writes, concurrently or one after the
/// other. If a task is cancelled, the other tasks receive the remaining writes. After the session has ended,
/// the sequence delivers the remaining writes and then ends.
///
/// Writes that are not consumed fill the buffer of the ``WriteStream``. If the buffer is full, all further
/// writes of the same central wait.
public struct ReceivedWrites<Value: GATTValue>: AsyncSequence, Sendable {
    let buffer: WriteBuffer

    /// An iterator that delivers one write after the other.
    public struct Iterator: AsyncIteratorProtocol {
        let buffer: WriteBuffer

        /// Waits for the next write.
        ///
        /// - Returns: The write; `nil` if the session has ended and all writes are consumed, or if the task
        ///   is cancelled.
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

extension PeripheralSession {
    /// Returns the writes of centrals to a characteristic.
    ///
    /// - Parameter characteristic: A characteristic of this peripheral with a ``WriteStream``.
    /// - Returns: The writes that are not consumed yet, and all later writes until the session ends.
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/notDeclared`` or
    ///   ``PeripheralError/Code/stopped``.
    public func writes<Value>(
        to characteristic: Characteristic<Value>
    ) throws(PeripheralError) -> ReceivedWrites<Value> {
        try runtime.checkIsRunning()
        guard let buffer = runtime.writeBuffer(of: try runtime.valueHandle(of: characteristic.declaration))
        else {
            throw PeripheralError(
                code: .notDeclared,
                message:
                    "Characteristic \(characteristic.uuid) has no WriteStream. Declare one in place of Write."
            )
        }
        return ReceivedWrites(buffer: buffer)
    }
}
