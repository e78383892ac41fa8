public import PeripheralCore

/// Takes a central's writes of a characteristic as a stream, in place of ``Write``: for data in bulk.
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
/// A write is answered once it is in the buffer, before the program has taken it; so a program cannot refuse it by an
/// error of its own. What is not a `Value`, or has another length than declared, is refused before.
///
/// While the buffer is full, a write waits for room; a write request that has waited for 4 seconds is refused by
/// `ATTError.unlikelyError`, and not taken. A write without response waits for as long as it takes, and nothing holds up
/// a central that sends more of these: behind the buffer, 256 writes of a central wait, and what comes then is lost,
/// which is logged. BlueZ treats all writes so of a characteristic that has `.writeWithoutResponse`.
/// Where no data may be lost, declare `.write` alone.
///
/// The writes of a central are handled in their order, whatever they are made to. So one that waits for room holds up
/// the central's other writes, also those of a control point; they are refused after 4 seconds as well, as is a read
/// of what it has just written behind that without response. Its other reads, and other centrals, go on. Take the writes without delay, and store what takes time elsewhere.
public struct WriteStream<Value: GATTValue>: Sendable {
    let target: WriteTarget

    /// Buffers the writes that the program has not taken yet.
    ///
    /// - Parameter capacity: How many writes are buffered, of all centrals together; at least 1.
    public init(capacity: Int = 64) {
        target = .stream(capacity: max(1, capacity)) { bytes in _ = try Value(gattBytes: bytes) }
    }
}

/// A write that a central has made, as ``PeripheralSession/writes(to:)`` gives it.
public struct ReceivedWrite<Value: GATTValue>: Sendable {
    /// What was written.
    public let value: Value

    /// Who has written it.
    public let central: Central
}
