// The rules about the services of the peripheral and of the central.

extension SettingRules {
    /// Checks whether bluetoothd acts as a GATT client of the centrals that connect.
    var client: SettingIssue? {
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

    var deviceInformation: SettingIssue? {
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

    var cache: SettingIssue? {
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

    var exchangeMTU: SettingIssue? {
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

    var channels: SettingIssue? {
        let standard = settings.version.map { $0 < "5.67" } == true ? 3 : 1
        let value = settings.number(.channels)
        let channels = value ?? standard
        guard channels > 1 else { return nil }
        return issue(
            value == nil ? .note : .warning,
            "setting-channels",
            "Up to \(channels) channels carry attributes (EATT\(value == nil ? ", by default" : "")), so a later "
                + "update can overtake an earlier update.",
            reason: "A central can use several EATT channels at the same time.",
            remedy: "Set 'Channels = 1' in [GATT].",
            change: SettingChange(.channels, "1")
        )
    }
}
