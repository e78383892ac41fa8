/// A change of bluetoothd's configuration that solves a problem.
package struct SettingChange: Hashable, Sendable {
    package var setting: Setting
    /// The new value, or `nil` to remove the setting.
    package var value: String?
    /// The condition under which the change is useful.
    ///
    /// `nil` if the change is useful on every device that is only a peripheral.
    package var condition: String?

    package init(_ setting: Setting, _ value: String?, condition: String? = nil) {
        self.setting = setting
        self.value = value
        self.condition = condition
    }
}
