import ExampleSupport
import Glibc

/// What can be said to this device: a few commands of its own, no shell.
struct Console {
    /// So far it counts.
    private static let highest = 100_000

    /// Carries out a line.
    ///
    /// - Parameters:
    ///   - line: What was typed.
    ///   - write: Sends a part of the answer, and returns when the link has taken it: so the answer may be of any length.
    /// - Throws: What `write` throws.
    func carryOut(_ line: String, write: (String) async throws -> Void) async throws {
        let words = line.split(separator: " ", maxSplits: 1)
        let argument = words.dropFirst().first.map(String.init) ?? ""
        switch words.first {
        case nil: break
        case "help":
            try await write(Self.help)
        case "echo":
            try await write(argument + "\n")
        case "load":
            try await write((SystemFiles.line("/proc/loadavg") ?? "not known") + "\n")
        case "uptime":
            let seconds = SystemFiles.line("/proc/uptime")?.split(separator: ".").first
            try await write("\(seconds ?? "?") s\n")
        case "count":
            guard let last = Int(argument), (1...Self.highest).contains(last) else {
                try await write("count to what?\n")
                break
            }
            for first in stride(from: 1, through: last, by: 100) {
                let numbers = first...min(last, first + 99)
                try await write(numbers.map { "\($0)\n" }.joined())
            }
        case let command?:
            try await write("\(command)? Try help.\n")
        }
        try await write("> ")
    }

    private static let help = """
        echo TEXT    says it
        load         how busy this device is
        uptime       for how long it has been up
        count N      counts to N, 100 000 at most, as fast as the link and no faster

        """
}
