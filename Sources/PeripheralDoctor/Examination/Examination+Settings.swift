internal import PeripheralBlueZModel
internal import PeripheralCore

extension Examination {
    /// What the settings do to a peripheral.
    func settingFindings(of file: KeyFile) -> [Finding] {
        let settings = Settings(file: file, daemon: machine.daemon)
        return [
            client(settings), controllerMode(settings), autoEnable(settings), repairing(settings),
            deviceInformation(settings), cache(settings), exchangeMTU(settings), channels(settings),
            experimental(settings), temporaryTimeout(settings), privacy(settings), keySize(settings),
            intervals(settings), security(settings),
        ].compactMap { $0 }
    }

    private func finding(
        _ severity: Finding.Severity,
        _ code: String,
        _ summary: String,
        reason: String,
        remedy: String? = nil
    ) -> Finding {
        Finding(
            severity,
            Self.configurationSubject,
            code,
            summary,
            reason: reason,
            remedy: remedy.map { "\($0) in \(machine.configuration.path), and restart bluetoothd." },
            command: remedy.map { _ in privileged("systemctl restart bluetooth") }
        )
    }

    /// bluetoothd as a client of the centrals that connect.
    private func client(_ settings: Settings) -> Finding? {
        let isOff = settings.truth(.client) == false || settings.truth(.reverseServiceDiscovery) == false
        guard !isOff else { return nil }
        let knowsClient = settings.version.map { $0 >= "5.74" } ?? false
        let line =
            knowsClient ? "'Client = false' in [GATT]" : "'ReverseServiceDiscovery = false' in [General]"
        let readsBattery = !machine.daemon.excludedPlugins.contains("battery")
        return finding(
            readsBattery ? .warning : .note,
            "setting-client",
            "bluetoothd explores the services of each central that connects.",
            reason: readsBattery
                ? "Among others it reads the battery level, which an iPhone answers by asking its user to pair; "
                    + "requests of the central wait meanwhile."
                : "That delays the first requests of a central; the battery level, which makes iPhones ask their "
                    + "user to pair, is left alone.",
            remedy: "On a device that is a peripheral only, write \(line)"
        )
    }

    private func controllerMode(_ settings: Settings) -> Finding? {
        switch settings.word(.controllerMode) {
        case "bredr":
            finding(
                .error,
                "setting-controller-mode",
                "ControllerMode is 'bredr': Bluetooth LE is off.",
                reason: "A peripheral needs it.",
                remedy: "Write 'ControllerMode = le', or 'dual',"
            )
        case "le": nil
        case _
        where !machine.adapters.isEmpty && !machine.adapters.contains { $0.advertising?.usesClassic == true }:
            nil
        default:
            finding(
                .note,
                "setting-controller-mode",
                "Classic Bluetooth is on where the controller has it.",
                reason:
                    "Advertisements then do not say that it is missing, and a phone may try to connect by it.",
                remedy: "On a device that needs LE only, write 'ControllerMode = le' in [General]"
            )
        }
    }

    private func autoEnable(_ settings: Settings) -> Finding? {
        guard settings.truth(.autoEnable) == false else { return nil }
        return finding(
            .warning,
            "setting-auto-enable",
            "AutoEnable is off.",
            reason: "After each start, adapters stay powered off until somebody powers them on.",
            remedy:
                "Unless the program does it (AdapterSettings(powersOn: true)), write 'AutoEnable = true' in [Policy]"
        )
    }

    private func repairing(_ settings: Settings) -> Finding? {
        switch settings.word(.justWorksRepairing) {
        case "always":
            finding(
                .warning,
                "setting-repairing",
                "JustWorksRepairing is 'always'.",
                reason:
                    "Any device can take the address of a bonded central and replace its bond by Just Works.",
                remedy: "Write 'JustWorksRepairing = never', or 'confirm' where the program decides "
                    + "(Pairing.justWorks(replacingBondIf:)), in [General]"
            )
        case "confirm":
            finding(
                .note,
                "setting-repairing",
                "JustWorksRepairing is 'confirm'.",
                reason:
                    "When a bonded central pairs again by Just Works, the program decides; but one that declares no "
                    + "Pairing.justWorks(replacingBondIf:) always refuses, and another pairing agent may accept.",
                remedy: "Unless a program decides, write 'JustWorksRepairing = never' in [General]"
            )
        default: nil
        }
    }

    private func deviceInformation(_ settings: Settings) -> Finding? {
        let value = settings.word(.deviceID)
        guard value?.lowercased() != "false" else { return nil }
        return finding(
            .note,
            "setting-device-id",
            "bluetoothd publishes a Device Information service of its own, with "
                + (value == nil ? "BlueZ's PnP ID." : "the PnP ID of DeviceID."),
            reason: "Centrals find it beside that of the program, and may read the wrong one.",
            remedy:
                "Where that matters, write 'DeviceID = false' in [General] (bluetoothd then tells its version no "
                + "more: give it to the program)"
        )
    }

    private func cache(_ settings: Settings) -> Finding? {
        guard let word = settings.word(.cache), word != "always" else { return nil }
        return finding(
            .note,
            "setting-cache",
            "Cache is '\(word)'.",
            reason:
                "bluetoothd explores the services of a central anew at each connection, where it is their client.",
            remedy: "Write 'Cache = always' in [GATT]"
        )
    }

    private func exchangeMTU(_ settings: Settings) -> Finding? {
        guard let size = settings.number(.exchangeMTU), size < 517 else { return nil }
        return finding(
            .note,
            "setting-exchange-mtu",
            "ExchangeMTU is \(size).",
            reason: "An update carries \(size - 3) bytes at most, and long values take more packets.",
            remedy: "Unless that is wanted, write 'ExchangeMTU = 517' in [GATT]"
        )
    }

    private func channels(_ settings: Settings) -> Finding? {
        let standard = settings.version.map { $0 < "5.67" } == true ? 3 : 1
        let value = settings.number(.channels)
        let channels = value ?? standard
        guard channels > 1 else { return nil }
        return finding(
            value == nil ? .note : .warning,
            "setting-channels",
            "Up to \(channels) channels carry attributes (EATT\(value == nil ? ", by default" : "")).",
            reason: "Updates can overtake each other with a central that uses them.",
            remedy: "Write 'Channels = 1' in [GATT]"
        )
    }

    private func experimental(_ settings: Settings) -> Finding? {
        guard let version = settings.version, version < "5.77" else { return nil }
        let isOn =
            settings.truth(.experimental) == true
            || machine.daemon.arguments.contains { $0 == "-E" || $0 == "--experimental" }
            || machine.adapters.contains { $0.advertising?.isExperimental == true }
        guard !isOn else { return nil }
        return finding(
            .note,
            "setting-experimental",
            "Experimental is off.",
            reason:
                "BlueZ \(version) passes over the interval and the transmission power of an advertisement then.",
            remedy: "Where they matter, write 'Experimental = true' in [General]"
        )
    }

    private func temporaryTimeout(_ settings: Settings) -> Finding? {
        guard settings.number(.temporaryTimeout) == 0 else { return nil }
        return finding(
            .note,
            "setting-temporary-timeout",
            "TemporaryTimeout is 0.",
            reason:
                "bluetoothd keeps each central that ever connected, under each address that it had: its memory "
                + "grows where phones come by.",
            remedy: "Write 'TemporaryTimeout = 30' in [General]"
        )
    }

    private func privacy(_ settings: Settings) -> Finding? {
        guard let word = settings.word(.privacy), word != "off" else { return nil }
        return finding(
            .note,
            "setting-privacy",
            "Privacy is '\(word)'.",
            reason: "The peripheral's address changes: centrals that have not bonded do not know it again.",
            remedy: "Unless that is wanted, write 'Privacy = off' in [General]"
        )
    }

    private func keySize(_ settings: Settings) -> Finding? {
        guard let size = settings.number(.keySize) else { return nil }
        return finding(
            .note,
            "setting-key-size",
            "KeySize is \(size).",
            reason: "Secured attributes are refused to centrals whose key has fewer bytes."
        )
    }

    private func intervals(_ settings: Settings) -> Finding? {
        guard settings.word(.minimumInterval) != nil || settings.word(.maximumInterval) != nil else {
            return nil
        }
        return finding(
            .note,
            "setting-intervals",
            "[LE] sets the interval of advertising.",
            reason: "It is that of advertisements that declare none."
        )
    }

    private func security(_ settings: Settings) -> Finding? {
        guard let word = settings.word(.security), word != "auto" else { return nil }
        return finding(
            .warning,
            "setting-security",
            "[GATT] Security is '\(word)'.",
            reason:
                "It is made for tests: together with 'Testing', 'low' lets everybody read and write secured "
                + "attributes.",
            remedy: "Leave it out"
        )
    }
}

/// The settings that count: those that bluetoothd knows, with values that it takes.
private struct Settings {
    let file: KeyFile
    let version: BlueZVersion?

    init(file: KeyFile, daemon: Machine.Daemon) {
        self.file = file
        version = daemon.version
    }

    func word(_ setting: Setting) -> String? {
        guard let value = file[setting.group, setting.key], setting.accepts(value) else { return nil }
        if let since = setting.since, let version, version < since { return nil }
        return value
    }

    func truth(_ setting: Setting) -> Bool? {
        word(setting).flatMap(Setting.truth)
    }

    func number(_ setting: Setting) -> Int? {
        word(setting).flatMap(Setting.number)
    }
}
