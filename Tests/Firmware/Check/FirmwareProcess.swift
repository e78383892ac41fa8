import Glibc

/// The firmware, as a process whose use of the machine is known.
final class FirmwareProcess {
    struct StartError: Error {
        var number: CInt
    }

    /// A figure that is not to be had, of a program that has ended.
    struct EndedError: Error {}

    private let identifier: pid_t
    /// How often each thread has gone to sleep, as it was seen last: those that end take their counts with
    /// them.
    private var sleeps: [String: Int] = [:]

    /// Starts a program with nothing but these variables.
    init(_ program: String, environment: [String: String]) throws {
        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup(program), nil]
        var variables: [UnsafeMutablePointer<CChar>?] =
            environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var identifier: pid_t = 0
        let code = posix_spawn(&identifier, program, nil, nil, &arguments, &variables)
        guard code == 0 else { throw StartError(number: code) }
        self.identifier = identifier
    }

    deinit { end() }

    /// Ends it as an init system does, and waits for it.
    func end() {
        kill(identifier, SIGTERM)
        var status: CInt = 0
        waitpid(identifier, &status, 0)
    }

    /// The time of a processor that it has used, of all its threads.
    var processorTime: Duration {
        get throws {
            var clock = clockid_t()
            var time = timespec()
            guard clock_getcpuclockid(identifier, &clock) == 0, clock_gettime(clock, &time) == 0,
                time.tv_sec > 0 || time.tv_nsec > 0
            else { throw EndedError() }
            return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
        }
    }

    /// Counts how often its threads have gone to sleep, and so been woken, up to now.
    ///
    /// What a thread does between the last count and its end is not seen: count often.
    func countWakeUps() throws -> Int {
        let tasks = "/proc/\(identifier)/task"
        // The first one is there for as long as the program is, or has not been waited for: then it has no
        // memory.
        _ = try memory
        for task in names(in: tasks) {
            sleeps[task] = number("voluntary_ctxt_switches:", in: "\(tasks)/\(task)/status") ?? sleeps[task]
        }
        return sleeps.values.reduce(0, +)
    }

    /// The memory that it has, in kilobytes: all of it, and what is no part of a file that it could be read
    /// from again.
    var memory: (resident: Int, own: Int) {
        get throws {
            let file = "/proc/\(identifier)/smaps_rollup"
            guard let resident = number("Rss:", in: file), let own = number("Private_Dirty:", in: file),
                resident > 0
            else {
                throw EndedError()
            }
            return (resident, own)
        }
    }

    private func names(in directory: String) -> [String] {
        guard let stream = opendir(directory) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }

    /// The number behind a word at the beginning of a line.
    private func number(_ word: String, in path: String) -> Int? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var buffer = [CChar](repeating: 0, count: 256)
        while fgets(&buffer, CInt(buffer.count), file) != nil {
            let line = String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            guard line.hasPrefix(word) else { continue }
            return line.dropFirst(word.count).split { $0.isWhitespace }.first.flatMap { Int($0) }
        }
        return nil
    }
}
