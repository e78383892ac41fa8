import PeripheralTesting
import Synchronization

/// The replies of a central's process that commands wait for.
final class BumbleReplies: Sendable {
    typealias Waiting = CheckedContinuation<String, any Error>

    private struct State {
        var inOrder: [Waiting] = []
        var tagged: [Substring: Waiting] = [:]
        var lastTag = 0
        var hasEnded = false
    }

    private let state = Mutex(State())

    /// Expects the reply to a command that waits for its turn.
    ///
    /// - Returns: The line to write; `nil` if the process has ended, so that the command has failed.
    func expectInOrder(_ line: String, _ waiting: Waiting) -> String? {
        expect(waiting) { state in
            state.inOrder.append(waiting)
            return line
        }
    }

    /// Expects the reply to a command that runs beside others.
    ///
    /// - Returns: The line to write; `nil` if the process has ended, so that the command has failed.
    func expectBeside(_ line: String, _ waiting: Waiting) -> String? {
        expect(waiting) { state in
            state.lastTag += 1
            state.tagged["@\(state.lastTag)"] = waiting
            return "@\(state.lastTag) \(line)"
        }
    }

    private func expect(_ waiting: Waiting, _ note: (inout sending State) -> String) -> String? {
        let line = state.withLock { $0.hasEnded ? nil : note(&$0) }
        if line == nil { waiting.resume(throwing: Self.end) }
        return line
    }

    /// Gives a line of the process to the command that waits for it.
    func receive(_ line: String) {
        let (waiting, reply): (Waiting?, Substring) = state.withLock { state in
            guard line.first == "@" else {
                return (state.inOrder.isEmpty ? nil : state.inOrder.removeFirst(), line[...])
            }
            let tag = line.prefix { $0 != " " }
            return (state.tagged.removeValue(forKey: tag), line.dropFirst(tag.count + 1))
        }
        waiting?.resume(returning: String(reply))
    }

    /// Fails the commands that wait, and all that come later.
    func end() {
        let waiting = state.withLock { state in
            defer { state = State(hasEnded: true) }
            return state.inOrder + state.tagged.values
        }
        for waiting in waiting { waiting.resume(throwing: Self.end) }
    }

    private static var end: TestCentralError {
        TestCentralError(code: .failed, message: "The central's process has ended.")
    }
}
