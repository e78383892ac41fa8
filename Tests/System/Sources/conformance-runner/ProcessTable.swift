import Glibc

/// What the processes of the virtual machine use of it.
enum ProcessTable {
    struct Memory {
        /// What it has at this moment, in kB.
        var now: Int
        /// The greatest since ``resetPeak(of:)``.
        var peak: Int
        /// The part of it that is not from a file, in kB.
        var anonymous: Int
    }

    /// Processor time by what uses it, in seconds.
    ///
    /// - Parameter program: The process that is called `program`.
    /// - Returns: The times, by the names of programs; what else is written in Python are the centrals.
    static func processorTimes(program: pid_t) -> [String: Double] {
        let (radio, daemon) = (number(inFile: "/run/rig/radio.pid"), daemon)
        var times: [String: Double] = [:]
        for identifier in identifiers {
            guard let stat = contents(of: "/proc/\(identifier)/stat"), let end = stat.lastIndex(of: ")"),
                let begin = stat.firstIndex(of: "(")
            else { continue }
            let fields = stat[end...].split(separator: " ")
            guard fields.count > 13, let user = Double(fields[12]), let system = Double(fields[13]) else {
                continue
            }
            let command = stat[stat.index(after: begin)..<end]
            let name =
                switch identifier {
                case program: "program"
                case radio: "radio"
                case daemon: "bluetoothd"
                case getpid(): "runner"
                default: command.hasPrefix("python") ? "centrals" : String(command)
                }
            times[name, default: 0] += (user + system) / Double(sysconf(CInt(_SC_CLK_TCK)))
        }
        return times
    }

    /// What share of the processor each had in so many seconds.
    static func shares(_ times: [String: Double], since before: [String: Double], in seconds: Double)
        -> String
    {
        let shares = times.map { ($0.key, Int(100 * ($0.value - (before[$0.key] ?? 0)) / seconds)) }
        return shares.filter { $0.1 > 0 }.sorted { $0.1 > $1.1 }.map { "\($0.0) \($0.1) %" }.joined(
            separator: ", "
        )
    }

    /// bluetoothd, as the rig has started it.
    static var daemon: pid_t { number(inFile: "/run/rig/bluetoothd.pid") ?? 0 }

    static func memory(of process: pid_t) -> Memory {
        let lines = contents(of: "/proc/\(process)/status")?.split(separator: "\n") ?? []
        func kilobytes(_ name: Substring) -> Int {
            let words = lines.lazy.map { $0.split(whereSeparator: \.isWhitespace) }.first { $0.first == name }
            return words.flatMap { $0.count > 1 ? Int($0[1]) : nil } ?? 0
        }
        return Memory(
            now: kilobytes("VmRSS:"),
            peak: kilobytes("VmHWM:"),
            anonymous: kilobytes("RssAnon:")
        )
    }

    /// Has the greatest memory of a process counted from now on.
    static func resetPeak(of process: pid_t) {
        guard let file = fopen("/proc/\(process)/clear_refs", "w") else { return }
        fputs("5", file)
        fclose(file)
    }

    private static var identifiers: [pid_t] {
        guard let directory = opendir("/proc") else { return [] }
        defer { closedir(directory) }
        var identifiers: [pid_t] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if let identifier = pid_t(name) { identifiers.append(identifier) }
        }
        return identifiers
    }

    private static func number(inFile path: String) -> pid_t? {
        contents(of: path)?.split(whereSeparator: \.isWhitespace).first.flatMap { pid_t($0) }
    }

    private static func contents(of path: String) -> String? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 8192)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}
