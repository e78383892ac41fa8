internal import PeripheralBlueZModel
internal import PeripheralCore

/// The rules about bluetoothd's configuration file.
struct ConfigurationExamination {
    let machine: Machine

    static let subject = "main.conf"

    /// The findings for bluetoothd's configuration: the file, its mistakes, and settings that affect a
    /// peripheral.
    var findings: [Finding] {
        let path = machine.configuration.path
        switch machine.configuration.content {
        case .missing:
            return [
                Finding(
                    .ok,
                    Self.subject,
                    "configuration-missing",
                    "The file \(path) does not exist. bluetoothd uses its default settings."
                )
            ] + settings(of: KeyFile([]))
        case .unreadable(let reason):
            return [
                Finding(
                    .note,
                    Self.subject,
                    "configuration-unreadable",
                    "\(path) cannot be read: \(reason).",
                    reason: "peripheral-doctor cannot check the settings in an unreadable file.",
                    remedy: "Run peripheral-doctor again as root.",
                    command: "sudo peripheral-doctor"
                )
            ]
        case .read(let file):
            let state =
                file.refusedLine.map { [damage($0)] }
                ?? [Finding(.ok, Self.subject, "configuration-read", "\(path) is readable.")]
                + mistakes(in: file)
            return state + settings(of: file.effective)
        }
    }

    private func settings(of file: KeyFile) -> [Finding] {
        let daemon = machine.daemon
        let advertising = machine.adapters.map(\.advertising)
        let settings = DaemonSettings(
            file: file,
            version: daemon.version,
            readsBattery: !daemon.excludedPlugins.contains("battery"),
            usesClassic: advertising.isEmpty ? nil : advertising.contains { $0?.usesClassic == true },
            isExperimental: daemon.arguments.contains { $0 == "-E" || $0 == "--experimental" }
                || advertising.contains { $0?.isExperimental == true }
        )
        return SettingRules(settings).issues.map { Finding($0, subject: Self.subject) }
    }

    private func damage(_ line: Int) -> Finding {
        Finding(
            .warning,
            Self.subject,
            "configuration-damaged",
            "Line \(line) of \(machine.configuration.path) is not a group, a setting or a comment.",
            reason: "bluetoothd ignores a file with an invalid line, and uses the default settings.",
            remedy: "Correct the line."
        )
    }

    private func mistakes(in file: KeyFile) -> [Finding] {
        var findings = Setting.all.flatMap { mistakes(with: $0, in: file) }
        if file.isCut {
            findings.append(
                Finding(
                    .note,
                    Self.subject,
                    "configuration-cut",
                    "Only the first \(KeyFile.maximumSize) bytes of \(machine.configuration.path) were read.",
                    reason:
                        "peripheral-doctor does not check settings beyond the first "
                        + "\(KeyFile.maximumSize) bytes."
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
                    Self.subject,
                    "setting-misplaced",
                    "Line \(entry.line): \(setting.key) is in [\(entry.group)].",
                    reason: "bluetoothd reads \(setting.key) only in [\(setting.group)].",
                    remedy: "Move the line to [\(setting.group)].",
                    changes: moves(of: entry, to: setting, in: file)
                )
            )
        }
        guard let value = file[setting.group, setting.key] else { return findings }
        if let since = setting.since, let version = machine.daemon.version, version < since {
            findings.append(
                Finding(
                    .warning,
                    Self.subject,
                    "setting-unknown",
                    "\(setting.name) is set, but BlueZ \(version) does not support it.",
                    reason:
                        "BlueZ \(since) and later support the setting. Older versions ignore the setting.",
                    remedy: setting == .client
                        ? "Set 'ReverseServiceDiscovery = false' in [General] instead." : "Remove it.",
                    changes: [SettingChange(setting, nil)]
                )
            )
        } else if !setting.accepts(value) {
            findings.append(
                Finding(
                    .warning,
                    Self.subject,
                    "setting-invalid",
                    "\(setting.name) is '\(value)', which bluetoothd does not accept.",
                    reason:
                        "bluetoothd uses the default or the limit instead. Spaces after a word are part of the value.",
                    remedy: "Correct the line.",
                    changes: [SettingChange(setting, nil)]
                )
            )
        }
        return findings
    }

    /// Returns the changes that move a setting to its group, unless the group has the setting already.
    private func moves(of entry: KeyFile.Entry, to setting: Setting, in file: KeyFile) -> [SettingChange] {
        let removal = SettingChange(Setting(entry.group, entry.key, .any), nil)
        guard file[setting.group, setting.key] == nil else { return [removal] }
        return [removal, SettingChange(setting, entry.value)]
    }
}
