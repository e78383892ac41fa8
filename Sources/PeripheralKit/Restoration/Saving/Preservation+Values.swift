internal import PeripheralCore
private import Synchronization

/// Persistent values with the durable updates that they cause.
///
/// A save includes both the values and their updates, or neither.
extension Preservation {
    /// When the updates of a value are sent.
    enum Sending {
        case atOnce
        /// The framework saves the updates first and sends them afterwards.
        case onceSaved
    }

    /// Records a value that the program sets and whose update the program sends separately.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - handle: The characteristic, by its value handle.
    /// - Returns: The number of the change.
    func set(_ value: [UInt8], of handle: AttributeHandle) -> UInt64 {
        note(value, of: handle, [], .atOnce) { _ in true } ?? 0
    }

    /// Records a value that the program sets and retains its update, if all connected subscribers have room.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - handle: The characteristic, by its value handle.
    ///   - update: The update for all present and expected subscribers.
    ///   - sending: When the update is sent.
    /// - Returns: Whether there is room for the update. Without room, the value has not changed.
    func set(
        _ value: [UInt8],
        of handle: AttributeHandle,
        posting update: DurableUpdate,
        sending: Sending
    ) -> Bool {
        let change = note(value, of: handle, [update], sending) {
            $0.hasRoom(of: update.characteristic, limit: update.limit)
        }
        return change != nil
    }

    /// Records a value that a central writes and retains its updates, even without room.
    ///
    /// A central's write does not wait for subscribers.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - handle: The characteristic, by its value handle.
    ///   - updates: The updates for all present and expected subscribers.
    ///   - sending: When the updates are sent.
    /// - Returns: The number of the change.
    func write(
        _ value: [UInt8],
        to handle: AttributeHandle,
        posting updates: [DurableUpdate],
        sending: Sending
    ) -> UInt64 {
        note(value, of: handle, updates, sending) { _ in true } ?? 0
    }

    private func note(
        _ value: [UInt8],
        of handle: AttributeHandle,
        _ updates: [DurableUpdate],
        _ sending: Sending,
        if hasRoom: (State) -> Bool
    ) -> UInt64? {
        let change = state.withLock { state -> UInt64? in
            guard hasRoom(state) else { return nil }
            state.preserved.values[handle] = value
            state.preserved.formerValues[handle] = nil
            let change = saver.changed()
            for update in updates { state.post(update, after: sending == .onceSaved ? change : 0) }
            return change
        }
        saver.wake()
        if !updates.isEmpty { outboxWakeup.wake() }
        return change
    }
}
