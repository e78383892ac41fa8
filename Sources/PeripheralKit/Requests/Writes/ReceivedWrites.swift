public import PeripheralCore

/// The writes that centrals make to a characteristic with a ``WriteStream``, in the order in which they came.
///
/// Each write is given once, to whoever asks first. Any number of tasks may take writes, at once or one after the other;
/// what one that is cancelled has not taken goes to the next. The sequence ends when the session does, after the last
/// write.
///
/// Writes that are not taken fill the buffer of the ``WriteStream``; then they hold up all other writes of the same
/// central.
public struct ReceivedWrites<Value: GATTValue>: AsyncSequence, Sendable {
    let buffer: WriteBuffer

    /// Takes one write after the other.
    public struct Iterator: AsyncIteratorProtocol {
        let buffer: WriteBuffer

        /// Waits for the next write.
        ///
        /// - Returns: The write; `nil` when the session has ended and all writes are taken, or the task is cancelled.
        public mutating func next() async -> ReceivedWrite<Value>? {
            while let write = await buffer.next() {
                // What cannot be decoded has been refused before it came here.
                guard !write.isLost, let value = try? Value(gattBytes: write.value) else { continue }
                return ReceivedWrite(value: value, central: write.central)
            }
            return nil
        }
    }

    /// Begins to take writes.
    public func makeAsyncIterator() -> Iterator {
        Iterator(buffer: buffer)
    }
}

@available(*, unavailable)
extension ReceivedWrites.Iterator: Sendable {}

extension PeripheralSession {
    /// The writes that centrals make to a characteristic.
    ///
    /// - Parameter characteristic: A characteristic of this peripheral with a ``WriteStream``.
    /// - Returns: The writes that are not taken yet, and all that come until the session ends.
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
                    "Characteristic \(characteristic.uuid) has no WriteStream; declare one in place of Write."
            )
        }
        return ReceivedWrites(buffer: buffer)
    }
}
