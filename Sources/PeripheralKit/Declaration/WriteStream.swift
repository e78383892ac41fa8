public import PeripheralCore

/// Receives the writes to a characteristic as a stream, for bulk data.
///
/// ```swift
/// let firmware = Characteristic<[UInt8]>("5c3a0003-7e3c-4b6e-9d29-b3f1c0a1d001", .write) {
///     WriteStream()
/// }
/// try await peripheral.run(on: .bluez) { session in
///     for await write in try session.writes(to: firmware) {
///         try await image.append(write.value)
///     }
/// }
/// ```
///
/// Use a stream instead of a ``Write``. A write is answered as soon as it is in the buffer, before the
/// program has consumed it. Therefore, the program cannot refuse the write. If the bytes of a write are not a
/// `Value` or do not have the declared length, the write does not enter the buffer and is refused.
///
/// While the buffer is full, further writes wait for room:
///
/// - A write with response is refused with `ATTError.unlikelyError` after 4 seconds, and does not enter the
///   buffer.
/// - A write without response waits for any time. Outside the buffer, up to 256 writes of each central can
///   wait. Further writes are lost and logged. Some stacks treat every write to a characteristic with
///   `.writeWithoutResponse` as a write without response. If no data may be lost, declare only `.write`.
///
/// The writes of a central to all attributes are handled in order. A write that waits for room therefore
/// delays the central's other writes, including the writes to a control point. The delayed writes are also
/// refused after 4 seconds. A read is also delayed if a write without response to the same value is delayed.
/// The central's other reads and the requests of other centrals are not delayed. Consume the writes without
/// delay. If the processing takes time, store the data elsewhere first.
public struct WriteStream<Value: GATTValue>: Sendable {
    let target: WriteTarget

    /// Creates a stream with a buffer for writes that the program has not consumed yet.
    ///
    /// - Parameter capacity: The maximum number of buffered writes of all centrals together; at least 1.
    public init(capacity: Int = 64) {
        target = .stream(capacity: max(1, capacity)) { bytes in _ = try Value(gattBytes: bytes) }
    }
}

/// A central's write, as an element of ``PeripheralSession/writes(to:)``.
public struct ReceivedWrite<Value: GATTValue>: Sendable {
    /// The value that the central has written.
    public let value: Value

    /// The central that has written the value.
    public let central: Central
}
