internal import Logging
internal import PeripheralBlueZModel
internal import PeripheralCore
internal import PeripheralKit

/// Logs which settings of bluetoothd affect a peripheral, each once in a run.
struct SettingsReport: Sendable {
    /// The files of this machine; `nil` if bluetoothd runs elsewhere.
    let files: MachineFiles?
    let publication: BackendPublication
    let log: RunLog

    /// Reads bluetoothd's configuration, and logs what it means for the peripheral.
    ///
    /// Without a readable file, nothing is logged. In a container, for example, the file of bluetoothd is
    /// outside.
    func report(on adapter: AdvertisingCapabilities) {
        guard
            let bytes = try? files?.read(KeyFile.path, limit: KeyFile.maximumSize + 1)
        else { return }
        let settings = DaemonSettings(
            file: KeyFile(bytes).effective,
            version: adapter.version,
            usesClassic: adapter.usesClassic,
            isExperimental: adapter.isExperimental
        )
        for line in SettingRules(settings).issues(affecting: publication).lines {
            log.report(.settings(line.codes), .notice, "\(KeyFile.path): \(line.text)")
        }
    }
}
