public import PeripheralCore

/// Receives a central's writes of a characteristic as a stream, for bulk data.
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
/// Use it in place of ``Write``. A write is answered once it is in the buffer, before the program has taken
/// it. The program therefore cannot refuse it with an error of its own. Bytes that are not a `Value`, or have
/// another length than declared, are refused first.
///
/// While the buffer is full, further writes wait for room:
///
/// - A write with response is refused with `ATTError.unlikelyError` after 4 seconds, and is not taken.
/// - A write without response waits for any time. Up to 256 writes of a central wait besides the buffer.
///   Further writes are lost and logged. Some stacks treat every write to a characteristic with
///   `.writeWithoutResponse` this way. If no data may be lost, declare `.write` alone.
///
/// The writes of a central to all attributes are handled in order. A write that waits for room therefore
/// delays the central's other writes, including those to a control point. They, too, are refused after 4
/// seconds. The same applies to a read of a value that the central has since written without response. The
/// central's other reads and other centrals are not delayed. Take the writes without delay, and store data
/// elsewhere if processing takes time.
public struct WriteStream<Value: GATTValue>: Sendable {
    let target: WriteTarget

    /// Creates a stream with a buffer for writes that the program has not taken yet.
    ///
    /// - Parameter capacity: The number of buffered writes of all centrals together; at least 1.
    public init(capacity: Int = 64) {
        target = .stream(capacity: max(1, capacity)) { bytes in _ = try Value(gattBytes: bytes) }
    }
}

/// A central's write, as an element of ``PeripheralSession/writes(to:)``.
public struct ReceivedWrite<Value: GATTValue>: Sendable {
    /// The value that was written.
    public let value: Value

    /// The central that has written it.
    public let central: Central
}
