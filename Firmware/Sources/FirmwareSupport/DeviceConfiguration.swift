import Glibc

/// What is set for a device: by the environment, or else by a file with a line `NAME=value` each.
///
/// The lines are those of a shell and of an `EnvironmentFile=` of systemd: what is empty or begins with `#` is passed over,
/// and quotes around a value are left out.
package struct DeviceConfiguration: Sendable {
    private let environment: @Sendable (String) -> String?
    private var file: [String: String] = [:]

    /// Reads the configuration of a program.
    ///
    /// - Parameter program: Its name. The file is `/etc/NAME.conf`, or what `CONFIGURATION_FILE` names; it need not be there.
    /// - Throws: ``ConfigurationError`` when the file is there and cannot be read, or has a line that is not understood.
    package init(of program: String) throws(ConfigurationError) {
        self.init { name in getenv(name).map { String(cString: $0) } }
        let named = environment("CONFIGURATION_FILE")
        let path = named ?? "/etc/\(program).conf"
        guard let text = Self.text(of: path) else {
            guard errno != ENOENT || named != nil else { return }
            throw ConfigurationError(place: path, reason: String(cString: strerror(errno)))
        }
        try read(text, from: path)
    }

    /// Makes a configuration of an environment.
    init(environment: @escaping @Sendable (String) -> String?) {
        self.environment = environment
    }

    /// A value; `nil` when it is not set, or empty.
    package subscript(name: String) -> String? {
        let value = environment(name) ?? file[name]
        return value?.isEmpty == true ? nil : value
    }

    /// A time in milliseconds; `nil` when it is not set.
    ///
    /// - Throws: ``ConfigurationError`` when the value is no whole number above 0.
    package func milliseconds(_ name: String) throws(ConfigurationError) -> Duration? {
        guard let value = self[name] else { return nil }
        guard let number = UInt32(value), number > 0 else {
            throw ConfigurationError(place: name, reason: "'\(value)' is no number of milliseconds above 0")
        }
        return .milliseconds(Int64(number))
    }

    mutating func read(_ text: String, from place: String) throws(ConfigurationError) {
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let line = line.drop { $0.isWhitespace }
            guard let first = line.first, first != "#" else { continue }
            guard let sign = line.firstIndex(of: "="), sign != line.startIndex,
                line[..<sign].allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" })
            else {
                throw ConfigurationError(place: "\(place), line \(index + 1)", reason: "it is not NAME=value")
            }
            var value = line[line.index(after: sign)...]
            while value.last?.isWhitespace == true { value.removeLast() }
            if value.count >= 2, let quote = value.first, quote == value.last, "\"'".contains(quote) {
                value = value.dropFirst().dropLast()
            }
            file[String(line[..<sign])] = String(value)
        }
    }

    private static func text(of path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
    }
}

/// Something that is set and not understood.
package struct ConfigurationError: Error, CustomStringConvertible {
    /// Where it is set.
    package var place: String
    /// What is amiss.
    package var reason: String

    package var description: String { "\(place): \(reason)." }
}
