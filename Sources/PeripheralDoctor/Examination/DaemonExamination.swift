internal import PeripheralBlueZModel
internal import PeripheralCore

/// The rules about bluetoothd itself.
struct DaemonExamination {
    let machine: Machine

    /// The findings for bluetoothd: whether it runs, its version, and known problems of that version.
    var findings: [Finding] {
        switch machine.daemon.state {
        case .unknown: return []
        case .absent: return [absence]
        case .startable:
            return [
                Finding(
                    .warning,
                    "bluetoothd",
                    "daemon-stopped",
                    "bluetoothd does not run. The bus can start bluetoothd when a program calls it.",
                    reason:
                        "While bluetoothd does not run, peripheral-doctor cannot examine the adapters. "
                        + "The bus cannot start bluetoothd if its systemd unit is disabled.",
                    remedy: "Start bluetoothd, and run peripheral-doctor again.",
                    command: machine.privileged("systemctl start bluetooth")
                )
            ]
        case .running: return [conduct] + versionFindings
        }
    }

    private var absence: Finding {
        guard let version = machine.daemon.installedVersion else {
            return Finding(
                .error,
                "bluetoothd",
                "daemon-missing",
                "bluetoothd does not run and is not installed in a usual place.",
                reason: "A peripheral needs bluetoothd.",
                remedy: "Install BlueZ.",
                command: machine.privileged("apt-get install bluez")
            )
        }
        return Finding(
            .error,
            "bluetoothd",
            "daemon-stopped",
            "bluetoothd \(version) is installed but does not run.",
            reason: "A peripheral needs bluetoothd.",
            remedy: "Start bluetoothd now and at each boot.",
            command: machine.privileged("systemctl enable --now bluetooth")
        )
    }

    /// The finding for the running daemon's reply to a call.
    private var conduct: Finding {
        let command = machine.privileged("systemctl restart bluetooth")
        switch machine.daemon.answer {
        case .silent:
            return Finding(
                .error,
                "bluetoothd",
                "daemon-silent",
                "bluetoothd runs but does not reply.",
                reason: "No program can register a peripheral with bluetoothd.",
                remedy: "Restart bluetoothd. Its log may contain the cause.",
                command: command
            )
        case .failed(let message):
            return Finding(
                .error,
                "bluetoothd",
                "daemon-failing",
                "bluetoothd does not report its adapters: \(message).",
                reason: "No program can register a peripheral with bluetoothd.",
                remedy: "Restart bluetoothd. Its log may contain the cause.",
                command: command
            )
        case .denied, .notAsked, .answered:
            return Finding(.ok, "bluetoothd", "daemon-running", "bluetoothd\(versionText) runs.")
        }
    }

    private var versionText: String {
        let daemon = machine.daemon
        if let version = daemon.reportedVersion { return " \(version)" }
        if let version = daemon.installedVersion { return " (\(version) is installed)" }
        return daemon.oldestVersion.map { " \($0) or later" } ?? ""
    }

    private var versionFindings: [Finding] {
        guard let version = machine.daemon.version else { return [] }
        var findings: [Finding] = []
        if version < .v5_66 {
            findings.append(tooOld(version))
        } else if version < .socketPerSubscriber {
            findings.append(sharedUpdates(version))
        }
        if !version.reportsHandles {
            findings.append(refusedHandles(version))
        }
        if machine.daemon.reportedVersion == nil, !machine.adapters.isEmpty {
            findings.append(unreportedVersion)
        }
        return findings
    }

    private func tooOld(_ version: BlueZVersion) -> Finding {
        let defect =
            (("5.64" as BlueZVersion)..."5.65").contains(version)
            ? " In \(version), no central can subscribe to a characteristic that requires security to subscribe."
            : ""
        return Finding(
            .error,
            "bluetoothd",
            "daemon-too-old",
            "BlueZ \(version) is older than 5.66.",
            reason: "swift-peripheral supports BlueZ 5.66 and later. Older versions are untested." + defect,
            remedy: "Update BlueZ."
        )
    }

    private func sharedUpdates(_ version: BlueZVersion) -> Finding {
        Finding(
            .note,
            "bluetoothd",
            "daemon-shares-updates",
            "BlueZ \(version) always sends an update to all subscribers of a characteristic.",
            reason:
                "If a characteristic has several subscribers, an update for only one subscriber fails. "
                + "BlueZ also does not report when only one subscriber unsubscribes. "
                + "BlueZ 5.76 and later do not have these limitations.",
            remedy:
                "If the program sends updates to single centrals, update BlueZ. "
                + "Otherwise no action is needed."
        )
    }

    private func refusedHandles(_ version: BlueZVersion) -> Finding {
        Finding(
            .warning,
            "bluetoothd",
            "daemon-refuses-handles",
            "BlueZ \(version) refuses a service if a program requests handles for the service.",
            reason:
                "If a program sets 'Handle' to 0, the registration fails with the error "
                + "'Failed to create entry in database'. "
                + "swift-peripheral does not request handles from this version of BlueZ, "
                + "and does not know the assigned handles.",
            remedy: "Update BlueZ to 5.76 or later."
        )
    }

    private var unreportedVersion: Finding {
        Finding(
            .note,
            "bluetoothd",
            "daemon-version-unreported",
            "bluetoothd does not report its version.",
            reason:
                "The version is part of its device ID, which 'DeviceID' in main.conf replaces or removes. "
                + "swift-peripheral then assumes the oldest possible version\(machine.daemon.oldestVersion.map { ", \($0)" } ?? "").",
            remedy:
                "Give the program the version with .bluez(version: \"\(machine.daemon.installedVersion ?? .v5_66)\"). "
                + "'bluetoothd --version' prints it."
        )
    }
}
