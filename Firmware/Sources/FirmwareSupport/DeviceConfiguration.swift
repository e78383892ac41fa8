import Glibc

/// The configuration of a device, from the environment, or from a file with lines `NAME=value`.
///
/// The lines follow the syntax of a shell and of an `EnvironmentFile=` of systemd. Empty lines and lines that
/// begin with `#` are ignored, and quotes around a value are removed.
package struct DeviceConfiguration: Sendable {
    private let environment: @Sendable (String) -> String?
    private var file: [String: String] = [:]

    /// Reads the configuration of a program.
    ///
    /// - Parameter program: The name of the program. The file is `/etc/NAME.conf`, or the file that
    ///   `CONFIGURATION_FILE` names. The file in `/etc` may be missing.
    /// - Throws: ``ConfigurationError`` when the file cannot be read, or has an invalid line.
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

    /// Makes a configuration from an environment.
    init(environment: @escaping @Sendable (String) -> String?) {
        self.environment = environment
    }

    /// Returns a value; `nil` when it is not set or empty.
    package subscript(name: String) -> String? {
        let value = environment(name) ?? file[name]
        return value?.isEmpty == true ? nil : value
    }

    /// Returns a time in milliseconds; `nil` when it is not set.
    ///
    /// - Throws: ``ConfigurationError`` when the value is not a whole number above 0.
    package func milliseconds(_ name: String) throws(ConfigurationError) -> Duration? {
        guard let value = self[name] else { return nil }
        guard let number = UInt32(value), number > 0 else {
            throw ConfigurationError(
                place: name,
                reason: "'\(value)' is not a whole number of milliseconds above 0"
            )
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
                throw ConfigurationError(
                    place: "\(place), line \(index + 1)",
                    reason: "the line is not NAME=value"
                )
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

/// The error for an invalid configuration.
package struct ConfigurationError: Error, CustomStringConvertible {
    /// The place of the setting, such as a file and a line.
    package var place: String
    /// The reason for the error.
    package var reason: String

    package var description: String { "\(place): \(reason)." }
}
