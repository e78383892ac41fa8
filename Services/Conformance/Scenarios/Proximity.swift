internal import PeripheralConformance
internal import PeripheralImmediateAlert
internal import PeripheralKit
internal import PeripheralLinkLoss
internal import PeripheralTesting
internal import PeripheralTxPower

extension ServiceConformance {
    static let proximity = [
        txPowerLevel, immediateAlert, immediateAlertOfOneWhoLeaves, linkLossLevel, linkLossAlert,
    ]

    private static let txPowerLevel = Scenario("TxPower: a central reads the power") {
        let service = TxPowerService(TxPowerLevel(dBm: -20))
        return ScenarioRun(Peripheral("Tag") { service }) { central, _ in
            try expect("power", try await central.read(service.level), is: TxPowerLevel(dBm: -20))
        }
    }

    private static let immediateAlert = Scenario(
        "ImmediateAlert: the device alerts at each level that a central writes"
    ) {
        let levels = Recorder<AlertLevel>()
        let service = ImmediateAlertService { level in levels.record(level) }
        return ScenarioRun(Peripheral("Keys") { service }) { central, _ in
            for level: AlertLevel in [.high, .mild, .none] {
                try await central.writeWithoutResponse(service.alertLevel, level)
                try expect("level", try await levels.next(), is: level)
            }
        }
    }

    private static let linkLossLevel = Scenario("LinkLoss: a central reads the level that it wrote") {
        let service = LinkLossService { _, _ in }
        return ScenarioRun(Peripheral("Keys") { service }) { central, _ in
            try expect("level", try await central.read(service.alertLevel), is: AlertLevel.none)
            try await central.write(service.alertLevel, .high)
            try expect("level", try await central.read(service.alertLevel), is: .high)
        }
    }

    private static let immediateAlertOfOneWhoLeaves = Scenario(
        "ImmediateAlert: an alert ends when its central disconnects"
    ) {
        let levels = Recorder<AlertLevel>()
        let service = ImmediateAlertService { level in levels.record(level) }
        return ScenarioRun(Peripheral("Keys") { service }) { central, _ in
            try await central.writeWithoutResponse(service.alertLevel, .high)
            try expect("level", try await levels.next(), is: .high)
            try await central.disconnect()
            try expect("level", try await levels.next(), is: AlertLevel.none)
        }
    }

    private static let linkLossAlert = Scenario("LinkLoss: the device alerts when it loses the central") {
        let levels = Recorder<AlertLevel>()
        let service = LinkLossService { level, _ in levels.record(level) }
        return ScenarioRun(Peripheral("Keys") { service }) { central, _ in
            try await central.write(service.alertLevel, .high)
            try await central.disconnect()
            try expect("level", try await levels.next(), is: .high)
        }
    }
}
