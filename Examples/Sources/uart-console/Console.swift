import ExampleSupport
import Glibc

/// The commands of this device, which are not a shell.
struct Console {
    /// The highest number that it counts to.
    private static let highest = 100_000

    /// Carries out a line.
    ///
    /// - Parameters:
    ///   - line: The typed line.
    ///   - write: Sends a part of the answer, and returns when the link has accepted it. The answer may
    ///     therefore have any length.
    /// - Throws: The errors of `write`.
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
        echo TEXT    repeats the text
        load         shows the load of this device
        uptime       shows how long this device has been running
        count N      counts to N, 100 000 at most, as fast as the link allows

        """
}
