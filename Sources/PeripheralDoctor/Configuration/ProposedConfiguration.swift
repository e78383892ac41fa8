internal import PeripheralBlueZModel

/// A complete configuration file for bluetoothd: the present settings with the changes of the examination.
///
/// The comments of the present file are left out.
package struct ProposedConfiguration: Hashable, Sendable {
    /// The path of the file.
    package var path: String
    /// The content of the file.
    package var text: String
    /// The shell command that lets bluetoothd read the file.
    package var command: String

    /// Creates a proposal for a machine; `nil` if the file needs no change, or is not readable.
    package init?(for machine: Machine) {
        let present: KeyFile
        switch machine.configuration.content {
        case .missing: present = KeyFile([])
        case .unreadable: return nil
        // A part of a file is no base for a new file.
        case .read(let file) where file.isCut: return nil
        case .read(let file): present = file
        }
        var proposed = KeyFile(entries: present.entries)
        var changes = Self.changes(of: proposed, on: machine)
        // A moved setting can have a value that must also change.
        for _ in 0..<3 where changes.contains(where: { $0.condition == nil }) {
            for change in changes where change.condition == nil { proposed.apply(change) }
            changes = Self.changes(of: proposed, on: machine)
        }
        guard proposed != present else { return nil }
        path = machine.configuration.path
        command = machine.privileged("systemctl restart bluetooth")
        text = Self.text(of: proposed, with: changes)
    }

    private static func changes(of file: KeyFile, on machine: Machine) -> [SettingChange] {
        var machine = machine
        machine.configuration.content = .read(file)
        return ConfigurationExamination(machine: machine).findings.flatMap(\.changes)
    }

    /// Returns the content of a file, with the conditional changes as comments in their groups.
    private static func text(of file: KeyFile, with changes: [SettingChange]) -> String {
        var groups: [String] = []
        for group in file.entries.map(\.group) + changes.map(\.setting.group) where !groups.contains(group) {
            groups.append(group)
        }
        let sections = groups.map { group in
            var lines = ["[\(group)]"]
            lines += file.entries.filter { $0.group == group }.map { "\($0.key) = \($0.value)" }
            for change in changes where change.setting.group == group {
                guard let condition = change.condition, let value = change.value else { continue }
                lines += ["# \(condition):", "# \(change.setting.key) = \(value)"]
            }
            return lines.joined(separator: "\n")
        }
        return sections.joined(separator: "\n\n")
    }
}

extension KeyFile {
    fileprivate mutating func apply(_ change: SettingChange) {
        self[change.setting.group, change.setting.key] = change.value
    }
}
