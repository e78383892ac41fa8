public import PeripheralCore

/// The writes that centrals make to a characteristic with a ``WriteStream``.
///
/// They come in the order in which they arrived. Each write is delivered once, to the first task that asks.
/// Several tasks may consume writes, at the same time or one after the other. If a task is cancelled, the
/// next task gets the remaining writes. The sequence ends after the last write when the session ends.
///
/// Writes that are not consumed fill the buffer of the ``WriteStream``. A full buffer holds up all other
/// writes of the same central.
public struct ReceivedWrites<Value: GATTValue>: AsyncSequence, Sendable {
    let buffer: WriteBuffer

    /// Delivers one write after the other.
    public struct Iterator: AsyncIteratorProtocol {
        let buffer: WriteBuffer

        /// Waits for the next write.
        ///
        /// - Returns: The write; `nil` when the session has ended and all writes are consumed, or the task is
        ///   cancelled.
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
    /// Returns the writes that centrals make to a characteristic.
    ///
    /// - Parameter characteristic: A characteristic of this peripheral with a ``WriteStream``.
    /// - Returns: The writes that are not consumed yet, and all later ones until the session ends.
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
