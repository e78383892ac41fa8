internal import PeripheralCore

extension Examination {
    static let configurationSubject = "main.conf"

    /// bluetoothd's configuration: the file, its mistakes, and the settings that bite a peripheral.
    var configurationFindings: [Finding] {
        let path = machine.configuration.path
        switch machine.configuration.content {
        case .missing:
            return [
                Finding(
                    .ok,
                    Self.configurationSubject,
                    "configuration-missing",
                    "There is no \(path): bluetoothd has its defaults."
                )
            ] + settingFindings(of: KeyFile([]))
        case .unreadable(let reason):
            return [
                Finding(
                    .note,
                    Self.configurationSubject,
                    "configuration-unreadable",
                    "\(path) cannot be read: \(reason).",
                    reason: "Settings in it that bite a peripheral go unnoticed.",
                    remedy: "Examine again as root.",
                    command: "sudo peripheral-doctor"
                )
            ]
        case .read(let file):
            if let line = file.refusedLine { return [damage(line)] + settingFindings(of: KeyFile([])) }
            return [
                Finding(.ok, Self.configurationSubject, "configuration-read", "\(path) is read.")
            ] + mistakes(in: file) + settingFindings(of: file)
        }
    }

    private func damage(_ line: Int) -> Finding {
        Finding(
            .warning,
            Self.configurationSubject,
            "configuration-damaged",
            "Line \(line) of \(machine.configuration.path) is neither a group, a setting nor a comment.",
            reason: "bluetoothd passes over the whole file for it, and has its defaults.",
            remedy: "Correct the line and restart bluetoothd.",
            command: privileged("systemctl restart bluetooth")
        )
    }

    private func mistakes(in file: KeyFile) -> [Finding] {
        var findings = Setting.all.flatMap { mistakes(with: $0, in: file) }
        if file.isCut {
            findings.append(
                Finding(
                    .note,
                    Self.configurationSubject,
                    "configuration-cut",
                    "Only the first \(KeyFile.maximumSize) bytes of \(machine.configuration.path) were read.",
                    reason: "Settings behind them go unnoticed here."
                )
            )
        }
        return findings
    }

    private func mistakes(with setting: Setting, in file: KeyFile) -> [Finding] {
        var findings: [Finding] = []
        for entry in file.entries where entry.key == setting.key && entry.group != setting.group {
            findings.append(
                Finding(
                    .warning,
                    Self.configurationSubject,
                    "setting-misplaced",
                    "Line \(entry.line): \(setting.key) stands in [\(entry.group)].",
                    reason: "bluetoothd looks for it in [\(setting.group)] only.",
                    remedy: "Move it there and restart bluetoothd.",
                    command: privileged("systemctl restart bluetooth")
                )
            )
        }
        guard let value = file[setting.group, setting.key] else { return findings }
        if let since = setting.since, let version = machine.daemon.version, version < since {
            findings.append(
                Finding(
                    .warning,
                    Self.configurationSubject,
                    "setting-unknown",
                    "\(setting.name) is set, which BlueZ \(version) does not know.",
                    reason: "It is there since \(since); it has no effect here.",
                    remedy: setting == .client
                        ? "Write 'ReverseServiceDiscovery = false' into [General]." : "Leave it out."
                )
            )
        } else if !setting.accepts(value) {
            findings.append(
                Finding(
                    .warning,
                    Self.configurationSubject,
                    "setting-invalid",
                    "\(setting.name) is '\(value)', which bluetoothd does not take.",
                    reason: "It stays at its default or at its limit. Spaces behind a word are part of it.",
                    remedy: "Correct the line and restart bluetoothd.",
                    command: privileged("systemctl restart bluetooth")
                )
            )
        }
        return findings
    }
}
