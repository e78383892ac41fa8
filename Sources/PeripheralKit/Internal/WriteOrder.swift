internal import PeripheralCore
private import Synchronization

/// Keeps the writes of each central in order, one at a time.
///
/// A central waits for the response to a write request before it sends the next, but may send any number of
/// writes without response. Their handlers run in tasks, which keep no order by themselves.
final class WriteOrder: Sendable {
    /// A place in a central's line.
    ///
    /// Whoever holds one must call ``run(_:_:)`` with it.
    struct Ticket: Sendable {
        fileprivate let central: Central
        fileprivate let number: UInt64
    }

    private struct Line {
        var nextTicket: UInt64 = 0
        var serving: UInt64 = 0
        var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
    }

    private let capacity: UInt64
    private let lines = Mutex<[Central: Line]>([:])

    init(capacity: UInt64 = 256) {
        self.capacity = capacity
    }

    /// Takes the next place in the central's line; `nil` when too many are waiting.
    func ticket(for central: Central) -> Ticket? {
        lines.withLock { lines in
            var line = lines[central] ?? Line()
            guard line.nextTicket - line.serving < capacity else { return nil }
            let ticket = Ticket(central: central, number: line.nextTicket)
            line.nextTicket += 1
            lines[central] = line
            return ticket
        }
    }

    /// Does the work when all earlier tickets of the central are done with.
    ///
    /// - Returns: `nil`, and the work is not done, when the task was cancelled before: the central has been told that
    ///   its write failed.
    func run<Output>(_ ticket: Ticket, _ work: () async -> Output) async -> Output? {
        await withCheckedContinuation { continuation in
            let isNext = lines.withLock { lines in
                if lines[ticket.central]?.serving == ticket.number { return true }
                lines[ticket.central]?.waiting[ticket.number] = continuation
                return false
            }
            if isNext { continuation.resume() }
        }
        defer { leave(ticket) }
        guard !Task.isCancelled else { return nil }
        return await work()
    }

    private func leave(_ ticket: Ticket) {
        let next = lines.withLock { lines -> CheckedContinuation<Void, Never>? in
            guard var line = lines.removeValue(forKey: ticket.central) else { return nil }
            line.serving += 1
            let next = line.waiting.removeValue(forKey: line.serving)
            if line.serving < line.nextTicket { lines[ticket.central] = line }
            return next
        }
        next?.resume()
    }
}
