/// The findings as text for people or as JSON for programs.
package struct Report: Sendable {
    package let findings: [Finding]
    /// The configuration file that solves the problems of bluetoothd's configuration, if there are any.
    package let configuration: ProposedConfiguration?

    package init(_ findings: [Finding], configuration: ProposedConfiguration? = nil) {
        self.findings = findings
        self.configuration = configuration
    }

    package func count(_ severity: Finding.Severity) -> Int {
        findings.count { $0.severity == severity }
    }

    /// Whether no peripheral can run.
    package var hasErrors: Bool { count(.error) > 0 }
}

// MARK: - Text

extension Report {
    /// The findings by subject, and the proposed configuration.
    ///
    /// Lines have at most 100 columns, for a terminal.
    ///
    /// A longer word and a line of the configuration can exceed the limit.
    package var text: String {
        var lines: [String] = []
        var subject: String?
        for finding in findings {
            if finding.subject != subject {
                if subject != nil { lines.append("") }
                lines.append(finding.subject)
                subject = finding.subject
            }
            append(finding, to: &lines)
        }
        lines += configurationLines + ["", summary]
        return lines.joined(separator: "\n")
    }

    /// The proposed configuration as a whole, for one copy, and the command that applies it.
    private var configurationLines: [String] {
        guard let configuration else { return [] }
        let file = configuration.text.split(separator: "\n", omittingEmptySubsequences: false)
        return [
            "", "Proposed \(configuration.path.printable) for a device that is only a peripheral.",
            "It keeps the other settings of the present file, but not the comments.", "",
        ] + file.map { String($0).printable } + [
            "", "Write the file, and restart bluetoothd:", "  $ \(configuration.command)",
        ]
    }

    private func append(_ finding: Finding, to lines: inout [String]) {
        let label = finding.severity.rawValue
        let padding = String(repeating: " ", count: Self.indent - 2 - label.count)
        let start = "  " + label + padding
        let rest = String(repeating: " ", count: Self.indent)
        lines += Self.wrap(finding.summary, first: start, rest: rest)
        guard finding.severity != .ok else { return }
        for text in [finding.reason, finding.remedy].compactMap(\.self) {
            lines += Self.wrap(text, first: rest, rest: rest)
        }
        if let command = finding.command { lines.append(rest + "$ " + command.printable) }
    }

    private static let indent = 11
    private static let width = 100

    private static func wrap(_ text: String, first: String, rest: String) -> [String] {
        var lines: [String] = []
        var line = first
        var isEmpty = true
        for word in text.printable.split(separator: " ") {
            if !isEmpty, line.count + 1 + word.count > width {
                lines.append(line)
                line = rest
                isEmpty = true
            }
            line += (isEmpty ? "" : " ") + word
            isEmpty = false
        }
        return lines + [line]
    }

    private var summary: String {
        let counts = [("error", Finding.Severity.error), ("warning", .warning), ("note", .note)]
        return counts.map { word, severity in
            let number = count(severity)
            return "\(number) \(word)\(number == 1 ? "" : "s")"
        }.joined(separator: ", ")
    }
}

extension String {
    /// The text without terminal control characters, because names come from devices and files.
    var printable: String {
        String(String.UnicodeScalarView(unicodeScalars.map { $0.isControl ? "\u{FFFD}" : $0 }))
    }
}

extension Unicode.Scalar {
    fileprivate var isControl: Bool {
        properties.generalCategory == .control || properties.generalCategory == .format
    }
}

// MARK: - JSON

extension Report {
    /// The findings as one JSON object, whose format
    /// Sources/PeripheralBlueZ/Documentation.docc/Articles/Doctor.md describes.
    package var json: String {
        let counts = [Finding.Severity.error, .warning, .note].map { "\"\($0.rawValue)s\": \(count($0))" }
        let entries = findings.map { "    " + Self.json($0) }
        return """
            {
              "format": 1,
              \(counts.joined(separator: ",\n  ")),
              "findings": [
            \(entries.joined(separator: ",\n"))
              ],
              "configuration": \(configuration.map { Self.quote($0.text) } ?? "null")
            }
            """
    }

    private static func json(_ finding: Finding) -> String {
        let members: [(String, String?)] = [
            ("subject", finding.subject), ("code", finding.code), ("severity", finding.severity.rawValue),
            ("summary", finding.summary), ("reason", finding.reason), ("remedy", finding.remedy),
            ("command", finding.command),
        ]
        let texts = members.map { key, value in "\(quote(key)): \(value.map(quote) ?? "null")" }
        return "{\(texts.joined(separator: ", "))}"
    }

    /// Returns a JSON string (RFC 8259, 7).
    package static func quote(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\u{00}"..."\u{1F}", "\u{7F}":
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
