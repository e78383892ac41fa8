// The rules about the adapter.

extension SettingRules {
    var controllerMode: SettingIssue? {
        switch settings.word(.controllerMode) {
        case "bredr":
            issue(
                .error,
                "setting-controller-mode",
                "ControllerMode is 'bredr', so Bluetooth LE is off.",
                reason: "A peripheral needs Bluetooth LE.",
                remedy: "Set 'ControllerMode = le' or 'ControllerMode = dual' in [General].",
                change: SettingChange(.controllerMode, "le")
            )
        case "le": nil
        case _ where settings.usesClassic == false: nil
        default:
            issue(
                .note,
                "setting-controller-mode",
                "Classic Bluetooth is on if the controller supports it, so a phone might try to connect over it.",
                reason: "Advertisements might omit the flag 'BR/EDR Not Supported'.",
                remedy: "On a device that needs only LE, set 'ControllerMode = le' in [General].",
                change: SettingChange(.controllerMode, "le")
            )
        }
    }

    var autoEnable: SettingIssue? {
        guard settings.truth(.autoEnable) == false else { return nil }
        return issue(
            .warning,
            "setting-auto-enable",
            "AutoEnable is off.",
            reason: "After bluetoothd starts, adapters stay off until a program or a user powers them on.",
            remedy:
                "Unless the program does it (AdapterSettings(powersOn: true)), set 'AutoEnable = true' in [Policy].",
            change: SettingChange(.autoEnable, "true")
        )
    }

    var experimental: SettingIssue? {
        guard let version = settings.version, version < .stableAdvertisingProperties else { return nil }
        guard settings.truth(.experimental) != true, !settings.isExperimental else { return nil }
        return issue(
            .note,
            "setting-experimental",
            "Experimental is off.",
            reason:
                "If Experimental is off, BlueZ \(version) ignores the interval and the transmit power "
                + "of advertisements.",
            remedy: "To use an interval or a transmit power, set 'Experimental = true' in [General].",
            change: SettingChange(
                .experimental,
                "true",
                condition: "Only if an advertisement has an interval or a transmit power"
            )
        )
    }

    var temporaryTimeout: SettingIssue? {
        guard settings.number(.temporaryTimeout) == 0 else { return nil }
        return issue(
            .note,
            "setting-temporary-timeout",
            "TemporaryTimeout is 0.",
            reason:
                "bluetoothd keeps every central that ever connected, under each of its addresses. Its memory grows "
                + "where many phones connect.",
            remedy: "Set 'TemporaryTimeout = 30' in [General].",
            change: SettingChange(.temporaryTimeout, "30")
        )
    }

    var privacy: SettingIssue? {
        guard let word = settings.word(.privacy), word != "off" else { return nil }
        return issue(
            .note,
            "setting-privacy",
            "Privacy is '\(word)'.",
            reason: "The device's address changes, so centrals without a bond do not recognize the device.",
            remedy: "Unless privacy is intended, set 'Privacy = off' in [General].",
            change: SettingChange(.privacy, "off", condition: "Unless privacy is intended")
        )
    }
}
