internal import PeripheralCore
package import PeripheralKit

/// The rules about single settings of bluetoothd.
package struct SettingRules {
    let settings: DaemonSettings

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
            pairableTimeout, secureConnections,
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
        let canPair = publication.pairing != .none
        let issues = [
            client, controllerMode, privacy, security,
            canPair ? pairableTimeout : nil,
            canPair ? repairing(askingProgram: publication.asksBeforeReplacingBonds) : nil,
            publication.pairing == .confirmNumber ? secureConnections : nil,
            sendsUpdates ? channels : nil,
            needsInterval ? advertisingInterval : nil,
            services.isEmpty ? nil : connectionInterval,
        ].compactMap { $0 }
        return issues.filter { $0.severity != .note } + issues.filter { $0.severity == .note }
    }

    func issue(
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
}
