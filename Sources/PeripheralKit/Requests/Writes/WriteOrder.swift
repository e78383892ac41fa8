internal import PeripheralCore
private import Synchronization

/// Runs the writes of each central in order, one at a time.
///
/// A central waits for the response to a write request before it sends the next write request. But a central
/// can send any number of writes without response, and can read immediately afterwards. Handlers run in
/// tasks, and tasks do not run in a defined order.
final class WriteOrder: Sendable {
    /// A position in a central's line.
    ///
    /// Each holder of a ticket must call ``run(_:_:)`` with the ticket.
    struct Ticket: Sendable {
        /// The line of one central.
        ///
        /// A line ends when it is empty. The next write of the central begins another line.
        fileprivate let line: UInt64
        fileprivate let number: UInt64
    }

    private struct Line {
        let central: Central
        let number: UInt64
        var nextTicket: UInt64 = 0
        var serving: UInt64 = 0
        /// The waiters, each with the number of the first ticket at which the waiter continues.
        var waiting: [(from: UInt64, continuation: CheckedContinuation<Void, Never>)] = []
        /// The last write without response to each attribute.
        ///
        /// The array contains few elements.
        var commands: [(attribute: AttributeHandle, number: UInt64)] = []
    }

    private struct State {
        /// The lines with a waiting or running write.
        ///
        /// The array contains few elements.
        var lines: [Line] = []
        var nextLine: UInt64 = 0

        func index(of ticket: Ticket) -> Int? { lines.firstIndex { $0.number == ticket.line } }
    }

    private let capacity: UInt64
    private let state = Mutex(State())

    init(capacity: UInt64 = 256) {
        self.capacity = capacity
    }

    /// Returns the next position in the central's line; `nil` if too many writes are waiting.
    func ticket(for request: BackendWriteRequest) -> Ticket? {
        state.withLock { state in
            let known = state.lines.firstIndex { $0.central == request.central }
            let index = known ?? state.lines.count
            if known == nil {
                state.lines.append(Line(central: request.central, number: state.nextLine))
                state.nextLine += 1
            }
            let line = state.lines[index]
            guard line.nextTicket - line.serving < capacity else { return nil }
            state.lines[index].nextTicket += 1
            if !request.expectsResponse {
                state.lines[index].commands.removeAll { $0.attribute == request.attribute }
                state.lines[index].commands.append((request.attribute, line.nextTicket))
            }
            return Ticket(line: line.number, number: line.nextTicket)
        }
    }

    /// Returns the central's last unfinished write without response to the attribute; `nil` if there is none.
    func command(to attribute: AttributeHandle, by central: Central) -> Ticket? {
        state.withLock { state in
            guard let line = state.lines.first(where: { $0.central == central }),
                let command = line.commands.first(where: { $0.attribute == attribute }),
                command.number >= line.serving
            else { return nil }
            return Ticket(line: line.number, number: command.number)
        }
    }

    /// Waits until the work of another ticket is done.
    func end(of ticket: Ticket) async {
        await wait(in: ticket, for: ticket.number + 1)
    }

    /// Performs the work after the work of all earlier tickets of the central.
    ///
    /// - Returns: The result of the work; `nil` if the task was cancelled first. In this case, the work was
    ///   not performed, and the central has been informed that its write failed.
    func run<Output>(_ ticket: Ticket, _ work: () async -> Output) async -> Output? {
        await wait(in: ticket, for: ticket.number)
        defer { leave(ticket) }
        guard !Task.isCancelled else { return nil }
        return await work()
    }

    /// Waits until the line of a ticket serves a number or has ended.
    private func wait(in ticket: Ticket, for number: UInt64) async {
        await withCheckedContinuation { continuation in
            let isServed = state.withLock { state in
                guard let index = state.index(of: ticket), state.lines[index].serving < number else {
                    return true
                }
                state.lines[index].waiting.append((number, continuation))
                return false
            }
            if isServed { continuation.resume() }
        }
    }

    private func leave(_ ticket: Ticket) {
        let ready = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            guard let index = state.index(of: ticket) else { return [] }
            state.lines[index].serving += 1
            let line = state.lines[index]
            state.lines[index].waiting.removeAll { $0.from <= line.serving }
            if line.serving == line.nextTicket { state.lines.remove(at: index) }
            return line.waiting.filter { $0.from <= line.serving }.map(\.continuation)
        }
        for waiter in ready { waiter.resume() }
    }
}
