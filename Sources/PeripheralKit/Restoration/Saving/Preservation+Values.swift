internal import PeripheralCore
private import Synchronization

/// The persistent values, with the durable updates that they bring about: whatever save has the one has the others.
extension Preservation {
    /// When what a value brings about is sent.
    enum Sending {
        case atOnce
        /// Not before it is saved.
        case onceSaved
    }

    /// Takes note of a value that the program sets, and sends by itself.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - handle: The characteristic, by its value handle.
    /// - Returns: The number of the change.
    func set(_ value: [UInt8], of handle: AttributeHandle) -> UInt64 {
        note(value, of: handle, [], .atOnce) { _ in true } ?? 0
    }

    /// Takes note of a value that the program sets, and keeps its update, if there is room with all who are there.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - handle: The characteristic, by its value handle.
    ///   - update: What is kept for all who have subscribed, or are expected.
    ///   - sending: When that is sent.
    /// - Returns: Whether there is room; nothing has changed otherwise.
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

    /// Takes note of a value that a central writes, and keeps what that brings about, also where there is no room: a central's write
    /// waits for nobody.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - handle: The characteristic, by its value handle.
    ///   - updates: What is kept for all who have subscribed, or are expected.
    ///   - sending: When that is sent.
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
