// The rules about pairing and security.

extension SettingRules {
    var repairing: SettingIssue? {
        switch settings.word(.justWorksRepairing) {
        case "always":
            issue(
                .warning,
                "setting-repairing",
                "JustWorksRepairing is 'always'.",
                reason:
                    "A device can use the address of a bonded central, pair with Just Works, "
                    + "and replace the bond.",
                remedy:
                    "Set 'JustWorksRepairing' to 'never', or to 'confirm' if the program answers pairing requests "
                    + "(Pairing.justWorks(if:)), in [General].",
                change: SettingChange(.justWorksRepairing, "never")
            )
        case "confirm":
            issue(
                .note,
                "setting-repairing",
                "JustWorksRepairing is 'confirm'.",
                reason:
                    "When a bonded central pairs again by Just Works, the program decides. A program without "
                    + "Pairing.justWorks(if:) always refuses, but another pairing agent may accept.",
                remedy:
                    "Unless a program answers pairing requests, set 'JustWorksRepairing = never' in [General].",
                change: SettingChange(
                    .justWorksRepairing,
                    "never",
                    condition: "Unless a program answers pairing requests"
                )
            )
        default: nil
        }
    }

    var keySize: SettingIssue? {
        guard let size = settings.number(.keySize) else { return nil }
        return issue(
            .note,
            "setting-key-size",
            "KeySize is \(size).",
            reason: "Centrals with a key shorter than \(size) bytes cannot use secured attributes."
        )
    }

    var security: SettingIssue? {
        guard let word = settings.word(.security), word != "auto" else { return nil }
        return issue(
            .warning,
            "setting-security",
            "[GATT] Security is '\(word)'.",
            reason:
                "The setting is for tests. With 'Testing', 'low' allows every central to read and write secured "
                + "attributes.",
            remedy: "Remove 'Security' from [GATT].",
            change: SettingChange(.security, nil)
        )
    }

    /// Checks whether a bonded central can pair again by Just Works.
    ///
    /// - Parameter asks: Whether the program wants to decide.
    /// - Returns: The issue; `nil` if there is none.
    func repairing(askingProgram asks: Bool) -> SettingIssue? {
        guard asks, settings.word(.justWorksRepairing) != "always" else { return repairing }
        guard settings.word(.justWorksRepairing) != "confirm" else { return nil }
        return issue(
            .note,
            "setting-repairing",
            "JustWorksRepairing is 'never', so the handler of Pairing.justWorks(if:) never sees a bonded central.",
            reason: "When a bonded central pairs again by Just Works, bluetoothd refuses without a question.",
            remedy: "To let the program decide, set 'JustWorksRepairing = confirm' in [General].",
            change: SettingChange(.justWorksRepairing, "confirm")
        )
    }

    var pairableTimeout: SettingIssue? {
        guard let seconds = settings.number(.pairableTimeout), seconds != 0 else { return nil }
        return issue(
            .warning,
            "setting-pairable-timeout",
            "PairableTimeout is \(seconds).",
            reason:
                "bluetoothd makes the adapter not pairable \(seconds) seconds after it became pairable. Centrals can "
                + "then no longer pair.",
            remedy: "Set 'PairableTimeout = 0' in [General].",
            change: SettingChange(.pairableTimeout, "0")
        )
    }

    var secureConnections: SettingIssue? {
        guard settings.word(.secureConnections) == "off" else { return nil }
        return issue(
            .warning,
            "setting-secure-connections",
            "SecureConnections is 'off'.",
            reason:
                "No central can pair by comparing numbers (Pairing.confirmNumber), and other methods are less secure.",
            remedy: "Set 'SecureConnections = on' in [General].",
            change: SettingChange(.secureConnections, "on")
        )
    }
}
