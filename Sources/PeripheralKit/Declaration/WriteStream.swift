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
/// Declare a write stream instead of a ``Write`` to receive bulk data. The peripheral answers a write as soon
/// as the write is in the buffer. The peripheral answers even if the program has not read the write from the
/// stream yet. The program cannot refuse a write to a write stream. If the bytes of a write are not a valid
/// `Value` or do not have the declared length, the peripheral refuses the write. A refused write does not
/// enter the buffer.
///
/// While the buffer is full, further writes wait until the buffer has room:
///
/// - If a write with response has waited for 4 seconds, the peripheral refuses the write with
///   `ATTError.unlikelyError`. A refused write does not enter the buffer.
/// - A write without response can wait for any length of time. While the buffer is full, up to 256 writes of
///   each central can wait. When 256 writes of a central are already waiting, the peripheral drops all
///   further writes of that central. The peripheral logs the loss. Some Bluetooth stacks treat every write as
///   a write without response if the characteristic has the property `.writeWithoutResponse`. To prevent the
///   loss of data, declare only the property `.write`.
///
/// The peripheral handles all writes of a central in order, even if the central writes to different
/// attributes. A write that waits for room in the buffer delays the other writes of the same central,
/// including writes to a control point. The peripheral refuses a delayed write after 4 seconds. After a write
/// without response, a read of the same value by the same central waits until the write is in the buffer. A
/// full buffer does not delay the reads of other values or the requests of other centrals. Consume the writes
/// of a write stream without delay. If processing the data takes time, first move the data out of the buffer.
public struct WriteStream<Value: GATTValue>: Sendable {
    let target: WriteTarget

    /// Creates a write stream that buffers writes until the program consumes them.
    ///
    /// - Parameter capacity: The maximum total number of buffered writes from all centrals. The minimum is 1.
    public init(capacity: Int = 64) {
        target = .stream(capacity: max(1, capacity)) { bytes in _ = try Value(written: bytes) }
    }
}

/// A write from a central, as an element of ``PeripheralSession/writes(to:)``.
public struct ReceivedWrite<Value: GATTValue>: Sendable {
    /// The value that the central has written.
    public let value: Value

    /// The central that has written the value.
    public let central: Central
}
