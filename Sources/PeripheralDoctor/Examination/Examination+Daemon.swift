internal import PeripheralBlueZModel
internal import PeripheralCore

extension Examination {
    /// bluetoothd: whether it runs, which version, and what is known against that.
    var daemonFindings: [Finding] {
        switch machine.daemon.state {
        case .unknown: return []
        case .absent: return [absence]
        case .startable:
            return [
                Finding(
                    .warning,
                    "bluetoothd",
                    "daemon-stopped",
                    "bluetoothd does not run; the bus can start it when a program calls it.",
                    reason:
                        "Nothing can be said of its adapters before. Where its systemd unit is disabled, the bus fails to.",
                    remedy: "Start it, and examine again.",
                    command: privileged("systemctl start bluetooth")
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
                "bluetoothd does not run, and is not installed where it usually is.",
                reason: "It is the Bluetooth stack that a peripheral runs on.",
                remedy: "Install BlueZ.",
                command: privileged("apt-get install bluez")
            )
        }
        return Finding(
            .error,
            "bluetoothd",
            "daemon-stopped",
            "bluetoothd \(version) is installed, but does not run.",
            reason: "It is the Bluetooth stack that a peripheral runs on.",
            remedy: "Start it now and at each boot.",
            command: privileged("systemctl enable --now bluetooth")
        )
    }

    /// What the running one does when it is called.
    private var conduct: Finding {
        let command = privileged("systemctl restart bluetooth")
        switch machine.daemon.answer {
        case .silent:
            return Finding(
                .error,
                "bluetoothd",
                "daemon-silent",
                "bluetoothd runs, but does not answer.",
                reason: "Nothing can be registered with it.",
                remedy: "Restart it; its log may tell why.",
                command: command
            )
        case .failed(let message):
            return Finding(
                .error,
                "bluetoothd",
                "daemon-failing",
                "bluetoothd does not tell its adapters: \(message).",
                reason: "Nothing can be registered with it.",
                remedy: "Restart it; its log may tell why.",
                command: command
            )
        case .denied, .notAsked, .answered:
            return Finding(.ok, "bluetoothd", "daemon-running", "bluetoothd\(versionText) runs.")
        }
    }

    private var versionText: String {
        let daemon = machine.daemon
        if let version = daemon.toldVersion { return " \(version)" }
        if let version = daemon.installedVersion { return " (\(version) is installed)" }
        return daemon.oldestVersion.map { " \($0) or later" } ?? ""
    }

    private var versionFindings: [Finding] {
        guard let version = machine.daemon.version else { return [] }
        var findings: [Finding] = []
        if version < .v5_66 {
            findings.append(tooOld(version))
        } else if version < "5.76" {
            findings.append(sharedUpdates(version))
        }
        if version == "5.74" || version == "5.75" {
            findings.append(refusedHandles(version))
        }
        if machine.daemon.toldVersion == nil, !machine.adapters.isEmpty {
            findings.append(untoldVersion)
        }
        return findings
    }

    private func tooOld(_ version: BlueZVersion) -> Finding {
        let defect =
            (("5.64" as BlueZVersion)..."5.65").contains(version)
            ? " In \(version), nobody can subscribe to a characteristic that demands security of its subscribers."
            : ""
        return Finding(
            .error,
            "bluetoothd",
            "daemon-too-old",
            "BlueZ \(version) is older than 5.66.",
            reason: "swift-peripheral is made for 5.66 and later, and tested on nothing older." + defect,
            remedy: "Update BlueZ."
        )
    }

    private func sharedUpdates(_ version: BlueZVersion) -> Finding {
        Finding(
            .note,
            "bluetoothd",
            "daemon-shares-updates",
            "BlueZ \(version) sends an update to all subscribers together.",
            reason:
                "Updates for one central among several fail, and the end of one subscription among others "
                + "is not told. BlueZ 5.76 can do both.",
            remedy: "Nothing, unless the program addresses single centrals."
        )
    }

    private func refusedHandles(_ version: BlueZVersion) -> Finding {
        Finding(
            .warning,
            "bluetoothd",
            "daemon-refuses-handles",
            "BlueZ \(version) refuses an application that asks for its handles.",
            reason: "Programs that give 'Handle' as 0 fail with 'Failed to create entry in database'. "
                + "swift-peripheral does not ask this version, and cannot tell where its attributes are.",
            remedy: "Update BlueZ to 5.76 or later."
        )
    }

    private var untoldVersion: Finding {
        Finding(
            .note,
            "bluetoothd",
            "daemon-version-untold",
            "bluetoothd does not tell its version.",
            reason:
                "It stands in its device ID, which 'DeviceID' in main.conf replaces or leaves out. swift-peripheral then "
                + "goes by the oldest version that it may be\(machine.daemon.oldestVersion.map { ", \($0)" } ?? "").",
            remedy:
                "Tell the program: .bluez(version: \"\(machine.daemon.installedVersion ?? .v5_66)\"), with what "
                + "'bluetoothd --version' prints."
        )
    }
}
