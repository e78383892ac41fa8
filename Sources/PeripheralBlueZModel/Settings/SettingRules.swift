internal import PeripheralCore
package import PeripheralKit

/// The rules about single settings of bluetoothd.
package struct SettingRules {
    private let settings: DaemonSettings

    /// Creates the rules for the settings of a bluetoothd.
    package init(_ settings: DaemonSettings) {
        self.settings = settings
    }

    /// The issues of all settings that can affect a peripheral.
    package var issues: [SettingIssue] {
        [
            client, controllerMode, autoEnable, repairing,
            deviceInformation, cache, exchangeMTU, channels,
            experimental, temporaryTimeout, privacy, keySize,
            advertisingInterval, connectionInterval, security,
        ].compactMap { $0 }
    }

    /// The issues that affect a certain peripheral, warnings before notes.
    ///
    /// Settings that a person has chosen on purpose, and that only limit the peripheral, are left out. The
    /// rules of BlueZ already warn of a second Device Information service.
    package func issues(affecting publication: BackendPublication) -> [SettingIssue] {
        let services = publication.table.services
        let sendsUpdates = services.contains { service in
            service.characteristics.contains { $0.properties.allowsSubscription }
        }
        let needsInterval = publication.advertisements.contains { $0.interval == nil }
        let issues = [
            client, controllerMode, privacy, security,
            publication.pairing == .none ? nil : repairing,
            sendsUpdates ? channels : nil,
            needsInterval ? advertisingInterval : nil,
            services.isEmpty ? nil : connectionInterval,
        ].compactMap { $0 }
        return issues.filter { $0.severity != .note } + issues.filter { $0.severity == .note }
    }

    private func issue(
        _ severity: SettingIssue.Severity,
        _ code: String,
        _ summary: String,
        reason: String,
        remedy: String? = nil,
        change: SettingChange? = nil,
        changes: [SettingChange] = []
    ) -> SettingIssue {
        SettingIssue(
            severity: severity,
            code: code,
            summary: summary,
            reason: reason,
            remedy: remedy,
            changes: changes + (change.map { [$0] } ?? [])
        )
    }

    /// Checks whether bluetoothd acts as a GATT client of the centrals that connect.
    private var client: SettingIssue? {
        let isOff = settings.truth(.client) == false || settings.truth(.reverseServiceDiscovery) == false
        guard !isOff else { return nil }
        let knowsClient = settings.version.map { $0 >= "5.74" } ?? false
        let line =
            knowsClient ? "'Client = false' in [GATT]" : "'ReverseServiceDiscovery = false' in [General]"
        let readsBattery = settings.readsBattery
        return issue(
            readsBattery ? .warning : .note,
            "setting-client",
            "bluetoothd discovers the services of each central that connects.",
            reason: readsBattery
                ? "It also reads the battery level. An iPhone then asks its user to pair, and the requests of the "
                    + "central wait meanwhile."
                : "This delays the first requests of a central. bluetoothd does not read the battery level, which "
                    + "would make an iPhone ask its user to pair.",
            remedy: "On a device that is only a peripheral, set \(line).",
            change: SettingChange(knowsClient ? .client : .reverseServiceDiscovery, "false")
        )
    }

    private var controllerMode: SettingIssue? {
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
                "Classic Bluetooth is on if the controller supports it.",
                reason:
                    "Advertisements might omit the flag 'BR/EDR Not Supported'. "
                    + "A phone might then try to connect over classic Bluetooth.",
                remedy: "On a device that needs only LE, set 'ControllerMode = le' in [General].",
                change: SettingChange(.controllerMode, "le")
            )
        }
    }

    private var autoEnable: SettingIssue? {
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

    private var repairing: SettingIssue? {
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

    private var deviceInformation: SettingIssue? {
        let value = settings.word(.deviceID)
        guard value?.lowercased() != "false" else { return nil }
        return issue(
            .note,
            "setting-device-id",
            "bluetoothd publishes its own Device Information service, with "
                + (value == nil ? "BlueZ's PnP ID." : "the PnP ID of DeviceID."),
            reason: "Centrals find two Device Information services, and might read the wrong service.",
            remedy:
                "To prevent this, give the program the version of BlueZ, which bluetoothd then no longer reports. "
                + "Set 'DeviceID = false' in [General].",
            change: SettingChange(
                .deviceID,
                "false",
                condition: "Only if the program passes the version of BlueZ to BlueZBackend"
            )
        )
    }

    private var cache: SettingIssue? {
        guard let word = settings.word(.cache), word != "always" else { return nil }
        return issue(
            .note,
            "setting-cache",
            "Cache is '\(word)'.",
            reason:
                "As a client, bluetoothd rediscovers the services of a central at each connection.",
            remedy: "Set 'Cache = always' in [GATT].",
            change: SettingChange(.cache, "always")
        )
    }

    private var exchangeMTU: SettingIssue? {
        guard let size = settings.number(.exchangeMTU), size < 517 else { return nil }
        return issue(
            .note,
            "setting-exchange-mtu",
            "ExchangeMTU is \(size).",
            reason: "An update contains at most \(size - 3) bytes. A long value needs several packets.",
            remedy: "Unless a small MTU is intended, set 'ExchangeMTU = 517' in [GATT].",
            change: SettingChange(.exchangeMTU, "517", condition: "Unless a small MTU is intended")
        )
    }

    private var channels: SettingIssue? {
        let standard = settings.version.map { $0 < "5.67" } == true ? 3 : 1
        let value = settings.number(.channels)
        let channels = value ?? standard
        guard channels > 1 else { return nil }
        return issue(
            value == nil ? .note : .warning,
            "setting-channels",
            "Up to \(channels) channels carry attributes (EATT\(value == nil ? ", by default" : "")).",
            reason: "If a central uses several EATT channels, a later update can overtake an earlier update.",
            remedy: "Set 'Channels = 1' in [GATT].",
            change: SettingChange(.channels, "1")
        )
    }

    private var experimental: SettingIssue? {
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

    private var temporaryTimeout: SettingIssue? {
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

    private var privacy: SettingIssue? {
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

    private var keySize: SettingIssue? {
        guard let size = settings.number(.keySize) else { return nil }
        return issue(
            .note,
            "setting-key-size",
            "KeySize is \(size).",
            reason: "Centrals with a key shorter than \(size) bytes cannot use secured attributes."
        )
    }

    private var advertisingInterval: SettingIssue? {
        guard settings.appliesIntervals != true, settings.word(.minimumInterval) == nil,
            settings.word(.maximumInterval) == nil
        else { return nil }
        return issue(
            .note,
            "setting-advertising-interval",
            "The kernel sends an advertisement without an interval of its own every 1.28 seconds.",
            reason:
                "A phone scans only a part of the time, and can need many seconds to find the peripheral.",
            remedy:
                "For 100 to 152.5 ms, set 'MinAdvertisementInterval = 160' and "
                + "'MaxAdvertisementInterval = 244' in [LE].",
            changes: [SettingChange(.minimumInterval, "160"), SettingChange(.maximumInterval, "244")]
        )
    }

    private var connectionInterval: SettingIssue? {
        guard settings.word(.minimumConnectionInterval) == nil,
            settings.word(.maximumConnectionInterval) == nil
        else { return nil }
        return issue(
            .note,
            "setting-connection-interval",
            "The kernel asks each central for a connection interval of 30 to 50 ms.",
            reason: "The connection of a phone with a shorter interval, such as 15 ms, becomes slower.",
            remedy:
                "To let each central keep its interval, set 'MinConnectionInterval = 6' and "
                + "'MaxConnectionInterval = 3200' in [LE].",
            changes: [
                SettingChange(.minimumConnectionInterval, "6"),
                SettingChange(.maximumConnectionInterval, "3200"),
            ]
        )
    }

    private var security: SettingIssue? {
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
}
