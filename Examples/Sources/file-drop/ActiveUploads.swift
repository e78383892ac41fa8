import PeripheralKit
import Synchronization

/// The uploads in progress: at most one for each name.
final class ActiveUploads: Sendable {
    private struct Entry {
        let channel: L2CAPChannel
        /// The next uploads of the same central, which wait for the end of this one.
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let entries = Mutex<[String: Entry]>([:])

    /// Begins an upload.
    ///
    /// A central that returns can be faster than the end of its former channel. So a new upload of the same
    /// central closes the former one, and takes its place.
    ///
    /// - Returns: Whether the upload may begin. If not, another central is uploading a file of this name.
    func begin(_ name: String, on channel: L2CAPChannel) async -> Bool {
        while true {
            let former: L2CAPChannel? = entries.withLock { entries in
                guard let entry = entries[name] else {
                    entries[name] = Entry(channel: channel)
                    return nil
                }
                return entry.channel
            }
            guard let former else { return true }
            guard former.central.id == channel.central.id else { return false }
            former.close()
            await end(of: former, name)
        }
    }

    private func end(of channel: L2CAPChannel, _ name: String) async {
        await withCheckedContinuation { continuation in
            let isOver = entries.withLock { entries in
                guard entries[name]?.channel === channel else { return true }
                entries[name]?.waiting.append(continuation)
                return false
            }
            if isOver { continuation.resume() }
        }
    }

    /// Ends an upload, if it has begun.
    func end(_ name: String, on channel: L2CAPChannel) {
        let waiting = entries.withLock { entries in
            guard entries[name]?.channel === channel else { return [CheckedContinuation<Void, Never>]() }
            return entries.removeValue(forKey: name)?.waiting ?? []
        }
        for continuation in waiting { continuation.resume() }
    }
}
