internal import PeripheralAutomationIO
internal import PeripheralConformance
internal import PeripheralKit
internal import PeripheralTesting

extension ServiceConformance {
    static let automationIO = [automationInputs, automationAggregate, automationOutputs]

    private static let automationInputs = Scenario(
        "AutomationIO: inputs are sent when their triggers require it"
    ) {
        let doors = AutomationDigital.input([.inactive, .inactive], name: "Doors")
        let light = AutomationAnalog.input(100, hasTriggers: true)
        let io = AutomationIOService(digitals: [doors], analogs: [light])
        return ScenarioRun(Peripheral("Automat") { io }) { central, session in
            let handle = try await central.locate(light.value).handle(of: .valueTriggerSetting)
            try await central.write(handle, [0x01, 200, 0])
            let trigger = try await central.read(.valueTriggerSetting, of: light.value)
            try expect("trigger", trigger, is: [0x01, 200, 0])
            try await expectRefusal(of: "mask", by: .automationConditionNotSupported) {
                try await central.write(handle, [0x04, 1])
            }
            try expect("count", try await central.read(.numberOfDigitals, of: doors.value), is: [2])
            try await central.subscribe(to: doors.value, knownTo: session)
            try await central.subscribe(to: light.value, knownTo: session)
            try await io.update(doors, to: [.active, .inactive], in: session)
            try expect("doors", try await central.nextUpdate(of: doors.value).gattBytes, is: [0x01])
            for value: UInt16 in [150, 199, 200, 201] { try await io.update(light, to: value, in: session) }
            try expect("light", try await central.nextUpdate(of: light.value), is: 201)
        }
    }

    private static let automationAggregate = Scenario(
        "AutomationIO: the aggregate is sent instead of the inputs when their triggers require it"
    ) {
        let doors = AutomationDigital.input([.inactive, .inactive])
        let light = AutomationAnalog.input(100, hasTriggers: true)
        let io = AutomationIOService(digitals: [doors], analogs: [light], hasAggregate: true)
        return ScenarioRun(Peripheral("Automat") { io }) { central, session in
            let aggregate = try present(io.aggregate)
            try expect("doors", try await central.locate(doors.value).properties, is: .read)
            try expect("light", try await central.locate(light.value).properties, is: .read)
            let handle = try await central.locate(light.value).handle(of: .valueTriggerSetting)
            try await central.write(handle, [0x07])
            try await central.subscribe(to: aggregate, knownTo: session)
            try await io.update(light, to: 201, in: session)
            try expect("aggregate", try await central.read(aggregate), is: [0x00, 201, 0])
            try await io.update(doors, to: [.active, .inactive], in: session)
            try expect("aggregate", try await central.nextUpdate(of: aggregate), is: [0x01, 201, 0])
        }
    }

    private static let automationOutputs = Scenario("AutomationIO: a central writes and reads outputs") {
        let written = Recorder<[DigitalState]>()
        let pump = AutomationDigital.output([.inactive]) { states, _ in written.record(states) }
        let fan = AutomationAnalog.output(1, within: 1...10) { _, _ in }
        let io = AutomationIOService(digitals: [pump], analogs: [fan])
        return ScenarioRun(Peripheral("Automat") { io }) { central, _ in
            try await central.write(pump.value, [.active])
            try expect("pump", try await written.next(), is: [.active])
            try expect("pump", try await central.read(pump.value).gattBytes, is: [0x01])
            try await central.write(fan.value, 10)
            try expect("fan", try await central.read(fan.value), is: 10)
        }
    }
}
