internal import PeripheralCore
internal import PeripheralKit

/// Which indications are not yet confirmed, and by whom.
///
/// A pure value: what was sent and what comes back goes in, what has ended comes out.
struct Confirmations {
    /// On which way a confirmation comes.
    enum Source: Hashable {
        /// On the socket of a central.
        case socket(SubscriptionTable.Socket)
        /// By a call that does not tell of which central.
        case call(AttributeHandle)
    }

    struct End {
        var update: Update.ID
        var outcome: UpdateOutcome
    }

    private struct Awaited {
        var missing: Int
        var failure: PeripheralError?
    }

    private var awaited: [Update.ID: Awaited] = [:]
    /// What confirmations are due, in their order.
    private var due: [Source: [Update.ID]] = [:]

    /// Takes note of an indication that was sent; a source stands there once for each confirmation.
    ///
    /// - Returns: Its end, when there is nothing to wait for.
    mutating func sent(_ update: Update.ID, awaiting sources: [Source]) -> End? {
        guard !sources.isEmpty else { return End(update: update, outcome: .delivered) }
        awaited[update] = Awaited(missing: sources.count)
        for source in sources { due[source, default: []].append(update) }
        return nil
    }

    /// Takes note of a confirmation.
    mutating func confirmed(_ source: Source) -> End? {
        guard var updates = due.removeValue(forKey: source), !updates.isEmpty else { return nil }
        let update = updates.removeFirst()
        if !updates.isEmpty { due[source] = updates }
        return settle(update, nil)
    }

    /// Takes note that nothing more comes from a source.
    mutating func lost(_ source: Source, because failure: PeripheralError) -> [End] {
        (due.removeValue(forKey: source) ?? []).compactMap { settle($0, failure) }
    }

    /// Takes note that nothing more comes from the sockets of a central.
    mutating func lost(from central: Central.ID, because failure: PeripheralError) -> [End] {
        let sources = due.keys.filter { source in
            guard case .socket(let socket) = source else { return false }
            return socket.central == central
        }
        return sources.flatMap { lost($0, because: failure) }
    }

    private mutating func settle(_ update: Update.ID, _ failure: PeripheralError?) -> End? {
        guard var entry = awaited.removeValue(forKey: update) else { return nil }
        entry.missing -= 1
        entry.failure = entry.failure ?? failure
        guard entry.missing == 0 else {
            awaited[update] = entry
            return nil
        }
        return End(update: update, outcome: entry.failure.map { .failed($0) } ?? .delivered)
    }
}
