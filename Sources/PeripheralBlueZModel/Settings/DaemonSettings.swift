/// The settings of a bluetoothd: its configuration file, and what else determines them.
package struct DaemonSettings: Sendable {
    /// The configuration file, `main.conf`.
    package var file: KeyFile
    /// The version of bluetoothd, or `nil` if the version is unknown.
    package var version: BlueZVersion?
    /// Whether bluetoothd's plug-in for batteries is active.
    package var readsBattery: Bool
    /// Whether an adapter uses classic Bluetooth, or `nil` if this is unknown.
    package var usesClassic: Bool?
    /// Whether bluetoothd runs with `--experimental`, or reports experimental properties.
    package var isExperimental: Bool

    /// Whether each advertisement chooses its interval; `nil` if the version is unknown.
    var appliesIntervals: Bool? {
        if isExperimental || truth(.experimental) == true { return true }
        return version.map { $0 >= .stableAdvertisingProperties }
    }

    package init(
        file: KeyFile,
        version: BlueZVersion?,
        readsBattery: Bool = true,
        usesClassic: Bool? = nil,
        isExperimental: Bool = false
    ) {
        self.file = file
        self.version = version
        self.readsBattery = readsBattery
        self.usesClassic = usesClassic
        self.isExperimental = isExperimental
    }

    /// Returns the value of a setting.
    ///
    /// - Parameter setting: A setting.
    /// - Returns: The value; `nil` if bluetoothd uses the default, because the file does not contain the
    ///   setting, its value is not valid, or this version does not support it.
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
