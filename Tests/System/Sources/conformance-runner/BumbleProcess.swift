import PeripheralCore
import PeripheralTesting
import Subprocess

/// A process of `bumble_central.py`: one central, driven over the line protocol of PROTOCOL.md.
struct BumbleProcess: Sendable {
    private struct Command: Sendable {
        var line: String
        var isBeside = false
        var reply: CheckedContinuation<String, any Error>
    }

    private let commands: AsyncStream<Command>.Continuation

    /// Runs a central while the body does.
    ///
    /// - Parameters:
    ///   - program: The path of `bumble_central.py`.
    ///   - address: The central's own address.
    ///   - body: What is done with the central.
    /// - Throws: What the body throws, or why there is no process.
    static func run(
        _ program: String,
        address: DeviceAddress,
        _ body: @escaping @Sendable (BumbleProcess) async throws -> Void
    ) async throws {
        let (commands, continuation) = AsyncStream.makeStream(of: Command.self)
        let process = BumbleProcess(commands: continuation)
        _ = try await Subprocess.run(
            .name("python3"),
            arguments: [program],
            input: .inputWriter,
            output: .sequence,
            error: .currentStandardError
        ) { execution in
            try await withThrowingTaskGroup { group in
                group.addTask {
                    defer { continuation.finish() }
                    _ = try await process.ask("hello 5")
                    _ = try await process.ask("open \(address)")
                    try await body(process)
                }
                let replies = BumbleReplies()
                // Commands do not wait for the replies to those before them: some are heard at once.
                group.addTask {
                    defer { replies.end() }
                    // Room for a packet of 65,535 bytes.
                    let lines = execution.standardOutput.strings(bufferingPolicy: .maxLineLength(256 * 1024))
                    for try await line in lines { replies.receive(line) }
                }
                for await command in commands {
                    let line =
                        command.isBeside
                        ? replies.expectBeside(command.line, command.reply)
                        : replies.expectInOrder(command.line, command.reply)
                    guard let line else { continue }
                    do {
                        _ = try await execution.standardInputWriter.write(line + "\n")
                    } catch {
                        replies.end()
                    }
                }
                try await execution.standardInputWriter.finish()
                try await group.waitForAll()
            }
        }
    }

    /// Gives a command, and waits for its reply; commands are carried out in order, but `disconnect` ends
    /// those that are under way, and `answer` is heard by `pairing`.
    ///
    /// - Returns: The words after `ok`.
    func ask(_ line: String) async throws -> [Substring] {
        try await ask(line, isBeside: false)
    }

    /// Gives a command of a channel, and waits for its reply, beside the other commands.
    ///
    /// - Returns: The words after `ok`.
    func askBeside(_ line: String) async throws -> [Substring] {
        try await ask(line, isBeside: true)
    }

    private func ask(_ line: String, isBeside: Bool) async throws -> [Substring] {
        let reply = try await withCheckedThrowingContinuation { continuation in
            let command = Command(line: line, isBeside: isBeside, reply: continuation)
            if case .terminated = commands.yield(command) {
                continuation.resume(
                    throwing: TestCentralError(code: .failed, message: "The central's process is closed.")
                )
            }
        }
        let words = reply.split(whereSeparator: \.isWhitespace)
        guard words.first == "ok" else { throw Self.error(words, line) }
        return Array(words.dropFirst())
    }

    private static func error(_ words: [Substring], _ line: String) -> any Error {
        let message = "\(line.prefix(100)): \(words.joined(separator: " "))"
        switch words.dropFirst().first {
        case "att":
            guard let code = words.last.flatMap({ UInt8($0.dropFirst(2), radix: 16) }) else { break }
            return ATTError(rawValue: code)
        case "pairing": return TestCentralError(code: .pairingFailed, message: message)
        case "channel":
            guard let code = words.last.flatMap({ UInt16($0.dropFirst(2), radix: 16) }) else { break }
            return ChannelRefusal(code: code)
        case "closed", "gone": return TestCentralError(code: .disconnected, message: message)
        case "timeout": return TestCentralError(code: .timedOut, message: message)
        default: break
        }
        return TestCentralError(code: .failed, message: message)
    }
}
