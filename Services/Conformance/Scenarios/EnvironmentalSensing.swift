internal import PeripheralConformance
internal import PeripheralEnvironmentalSensing
internal import PeripheralKit
internal import PeripheralTesting

extension ServiceConformance {
    static let environmentalSensing = [environmentalTriggers, environmentalInstances]

    private static let environmentalTriggers = Scenario(
        "EnvironmentalSensing: a value is sent when its triggers require it"
    ) {
        let sensor = EnvironmentalSensor(
            .temperature,
            initially: 20,
            triggers: [.changed, .inactive, .inactive],
            areTriggersSettable: true
        )
        let service = EnvironmentalSensingService([sensor])
        return ScenarioRun(Peripheral("Weather", pairing: .justWorks) { service }) { central, session in
            try await central.pair(.justWorks)
            let triggers = try await central.locate(sensor.value).descriptors
                .filter { $0.uuid == .environmentalSensingTriggerSetting }
            try expect("triggers", triggers.count, is: 3)
            // Above 25 °C, and inactive.
            try await central.write(triggers[1].handle, [0x06, 0xC4, 0x09])
            try await central.write(triggers[0].handle, [0x00])
            try expect(
                "trigger",
                try await central.read(triggers[1].handle, offset: 0),
                is: [0x06, 0xC4, 0x09]
            )
            try await expectRefusal(of: "trigger", by: .environmentalSensingConditionNotSupported) {
                try await central.write(triggers[2].handle, [0x0A])
            }
            try await central.subscribe(to: sensor.value, knownTo: session)
            for celsius in [24, 25, 25.01] { try await service.update(sensor, to: celsius, in: session) }
            try expect(
                "value",
                try await central.nextUpdate(of: sensor.value).gattBytes,
                is: [0xC5, 0x09]
            )
        }
    }

    private static let environmentalInstances = Scenario(
        "EnvironmentalSensing: two sensors of one quantity have their own values"
    ) {
        let inside = EnvironmentalSensor(
            .temperature,
            initially: 21.5,
            of: EnvironmentalMeasurement(application: .inside),
            which: .inside
        )
        let outside = EnvironmentalSensor(
            .temperature,
            initially: -3,
            of: EnvironmentalMeasurement(application: .outside),
            which: .outside
        )
        let service = EnvironmentalSensingService([inside, outside])
        return ScenarioRun(Peripheral("Weather") { service }) { central, _ in
            for (sensor, number, application) in [(inside, 21.5, 0x1B), (outside, -3, 0x1C)]
                as [(_, Double, UInt8)]
            {
                let value = try await central.read(sensor.value).number(of: .temperature)
                try expect("value", value, is: number)
                let measurement = try await central.read(.environmentalSensingMeasurement, of: sensor.value)
                try expect("application", measurement[9], is: application)
            }
        }
    }
}
