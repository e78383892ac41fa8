internal import PeripheralCore
private import Synchronization

/// Keeps the writes of each central in order, one at a time.
///
/// A central waits for the response to a write request before it sends the next, but may send any number of
/// writes without response, and read right after. Their handlers run in tasks, which keep no order by themselves.
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
        /// The last write without response to each attribute.
        var commands: [AttributeHandle: UInt64] = [:]
        /// Who waits until such a write is done with.
        var readers: [(after: UInt64, continuation: CheckedContinuation<Void, Never>)] = []

        /// Takes those who need to wait no longer.
        mutating func takeReaders() -> [CheckedContinuation<Void, Never>] {
            if readers.isEmpty { return [] }
            defer { readers.removeAll { $0.after < serving } }
            return readers.filter { $0.after < serving }.map(\.continuation)
        }
    }

    private let capacity: UInt64
    private let lines = Mutex<[Central: Line]>([:])

    init(capacity: UInt64 = 256) {
        self.capacity = capacity
    }

    /// Takes the next place in the central's line; `nil` when too many are waiting.
    func ticket(for request: WriteRequest) -> Ticket? {
        lines.withLock { lines in
            var line = lines[request.central] ?? Line()
            guard line.nextTicket - line.serving < capacity else { return nil }
            let ticket = Ticket(central: request.central, number: line.nextTicket)
            line.nextTicket += 1
            if !request.expectsResponse { line.commands[request.attribute] = ticket.number }
            lines[request.central] = line
            return ticket
        }
    }

    /// The last write without response of the central to the attribute that is not done with; `nil` when there is none.
    func command(to attribute: AttributeHandle, by central: Central) -> Ticket? {
        lines.withLock { lines in
            guard let line = lines[central], let number = line.commands[attribute], number >= line.serving
            else { return nil }
            return Ticket(central: central, number: number)
        }
    }

    /// Waits until somebody else's ticket is done with.
    func end(of ticket: Ticket) async {
        await withCheckedContinuation { continuation in
            let isOver = lines.withLock { lines in
                guard let line = lines[ticket.central], ticket.number >= line.serving else { return true }
                lines[ticket.central]?.readers.append((ticket.number, continuation))
                return false
            }
            if isOver { continuation.resume() }
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
        let ready = lines.withLock { lines -> [CheckedContinuation<Void, Never>] in
            guard var line = lines.removeValue(forKey: ticket.central) else { return [] }
            line.serving += 1
            var ready = line.takeReaders()
            if let next = line.waiting.removeValue(forKey: line.serving) { ready.append(next) }
            if line.serving < line.nextTicket { lines[ticket.central] = line }
            return ready
        }
        for waiter in ready { waiter.resume() }
    }
}
