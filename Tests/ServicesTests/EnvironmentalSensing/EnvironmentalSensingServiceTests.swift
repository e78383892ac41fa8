import PeripheralEnvironmentalSensing
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct EnvironmentalSensingServiceTests {
    @Test func declaresWhatIsGiven() async throws {
        let names = Recorded<String>()
        let inside = EnvironmentalSensor(
            .temperature,
            initially: 20,
            of: EnvironmentalMeasurement(application: .inside),
            triggers: [.changed, .every(seconds: 60), .less(than: 5)],
            logic: .all,
            areTriggersSettable: true,
            name: "Inside",
            onRename: { names.append($0) },
            range: -10...50,
            which: .inside,
            security: .open
        )
        let outside = EnvironmentalSensor(
            .temperature,
            of: EnvironmentalMeasurement(application: .outside)
        )
        let humidity = EnvironmentalSensor(.humidity, triggers: [], name: "Humidity")
        let service = EnvironmentalSensingService([inside, outside, humidity])
        try await Peripheral("Weather") { service }.test { central in
            let declared = try await central.discover().declared
            #expect(
                declared == [
                    DeclaredCharacteristic(service: 0x181A, uuid: 0x2A7D, properties: .indicate),
                    DeclaredCharacteristic(service: 0x181A, uuid: 0x2A6E, properties: [.read, .notify]),
                    DeclaredCharacteristic(service: 0x181A, uuid: 0x2A6E, properties: [.read, .notify]),
                    DeclaredCharacteristic(service: 0x181A, uuid: 0x2A6F, properties: .read),
                ]
            )
            // The user description can be written.
            #expect(try await central.read(.characteristicExtendedProperties, of: inside.value) == [2, 0])
            #expect(try await central.read(inside.value).gattBytes == [0xD0, 0x07])
            #expect(try await central.read(outside.value).gattBytes == [0x00, 0x80])
            #expect(try await central.read(.environmentalSensingMeasurement, of: inside.value)[9] == 0x1B)
            #expect(try await central.read(.environmentalSensingConfiguration, of: inside.value) == [0])
            #expect(try await central.read(.validRange, of: inside.value) == [0x18, 0xFC, 0x88, 0x13])
            let format = try await central.read(.characteristicPresentationFormat, of: inside.value)
            #expect(format == [0x0E, 0xFE, 0x2F, 0x27, 1, 0x0B, 0x01])
            let triggers = try await central.locate(inside.value).descriptors
                .filter { $0.uuid == .environmentalSensingTriggerSetting }
            #expect(triggers.count == 3)
            var settings: [[UInt8]] = []
            for trigger in triggers { settings.append(try await central.read(trigger.handle, offset: 0)) }
            #expect(settings == [[3], [1, 60, 0, 0], [4, 0xF4, 0x01]])

            let description = try await central.locate(inside.value).handle(
                of: .characteristicUserDescription
            )
            try await central.write(description, Array("Kitchen".utf8))
            #expect(names.values == ["Kitchen"])
            #expect(try await central.read(description, offset: 0) == Array("Kitchen".utf8))
            let fixed = try await central.locate(outside.value).handle(
                of: .environmentalSensingTriggerSetting
            )
            await #expect(throws: ATTError.writeNotPermitted) { try await central.write(fixed, [0]) }
            let text = try await central.read(.characteristicUserDescription, of: humidity.value)
            #expect(text == Array("Humidity".utf8))
        }
    }

    /// Environmental Sensing Service 1.0, section 3.1.2.2: up to three ES Trigger Setting descriptors.
    @Test func aFourthTriggerIsNotLeftOutInSilence() async throws {
        func weather(_ triggers: Int) -> Peripheral {
            let sensor = EnvironmentalSensor(.uvIndex, triggers: Array(repeating: .inactive, count: triggers))
            return Peripheral("Weather") { EnvironmentalSensingService([sensor]) }
        }
        #expect(weather(3).validate() == [])
        await #expect(throws: DeclarationError.self) { try await weather(4).test { _ in } }
    }

    /// Environmental Sensing Service 1.0, section 3.1.2.3.1, and the definition of the service: "If Write is
    /// supported, bonding is mandatory".
    @Test func settingTriggersTakesABond() async throws {
        let sensor = EnvironmentalSensor(
            .temperature,
            triggers: [.changed, .inactive],
            areTriggersSettable: true,
            onRename: { _ in }
        )
        let weather = EnvironmentalSensingService([sensor])
        let issues = Peripheral("Weather") { weather }.validate()
        #expect(!issues.isEmpty && issues.allSatisfy { $0.severity == .error })
        let peripheral = Peripheral("Weather", pairing: .justWorks) { weather }
        #expect(peripheral.validate() == [])
        try await peripheral.test { central in
            _ = try await central.read(sensor.value)
            try await central.subscribe(to: sensor.value)
            let location = try await central.locate(sensor.value)
            let types: [BluetoothUUID] = [
                .environmentalSensingTriggerSetting, .environmentalSensingConfiguration,
                .characteristicUserDescription,
            ]
            for type in types {
                let handle = try location.handle(of: type)
                _ = try await central.read(handle, offset: 0)
                await #expect(throws: ATTError.insufficientEncryption) {
                    try await central.write(handle, [0])
                }
            }
            try await central.pair(.justWorks)
            for type in types { try await central.write(location.handle(of: type), [0]) }
        }
    }

    @Test func hasNothingToChange() async throws {
        let service = EnvironmentalSensingService([EnvironmentalSensor(.uvIndex)])
        #expect(service.descriptorValueChanged == nil)
        // It has nothing to wait for either.
        try await Peripheral("Weather") { service }.test { _, session in try await service.run(in: session) }
    }

    @Test(
        arguments: [
            ([0], nil), ([3], nil), ([1, 60, 0, 0], nil), ([2, 0, 0, 0], nil), ([4, 0xF4, 0x01], nil),
            ([5, 0, 0], nil), ([6, 0, 0], nil), ([7, 0, 0], nil), ([8, 0, 0], nil), ([9, 0, 0], nil),
            ([10], ATTError(rawValue: 0x81)), ([255, 0, 0], ATTError(rawValue: 0x81)),
            ([4, 0x00, 0x80], ATTError(rawValue: 0x80)), ([], .invalidAttributeValueLength),
            ([0, 0], .invalidAttributeValueLength), ([1, 60], .invalidAttributeValueLength),
            ([4, 0], .invalidAttributeValueLength), ([4, 0, 0, 0], .invalidAttributeValueLength),
            ([4, 0x4C, 0x95], ATTError(rawValue: 0x80)),
        ] as [([UInt8], ATTError?)]
    )
    func takesTriggersThatItHas(bytes: [UInt8], error: ATTError?) async throws {
        let sensor = EnvironmentalSensor(.temperature, areTriggersSettable: true, security: .open)
        try await Peripheral("Weather") { EnvironmentalSensingService([sensor]) }.test { central in
            let handle = try await central.locate(sensor.value).handle(
                of: .environmentalSensingTriggerSetting
            )
            if let error {
                await #expect(throws: error) { try await central.write(handle, bytes) }
                #expect(try await central.read(handle, offset: 0) == [3])
            } else {
                try await central.write(handle, bytes)
                #expect(try await central.read(handle, offset: 0) == bytes)
            }
        }
    }

    /// Environmental Sensing Service 1.0, section 1.6: 0x80, Write Request Rejected.
    @Test(arguments: [([2], 0x80), ([255], 0x80), ([], 0x0D), ([0, 0], 0x0D)] as [([UInt8], UInt8)])
    func refusesALogicThatIsReserved(bytes: [UInt8], error: UInt8) async throws {
        let sensor = EnvironmentalSensor(
            .temperature,
            triggers: [.changed, .inactive],
            areTriggersSettable: true,
            security: .open
        )
        try await Peripheral("Weather") { EnvironmentalSensingService([sensor]) }.test { central in
            let handle = try await central.locate(sensor.value).handle(of: .environmentalSensingConfiguration)
            await #expect(throws: ATTError(rawValue: error)) { try await central.write(handle, bytes) }
            #expect(try await central.read(handle, offset: 0) == [1])
        }
    }

    private static let minute: UInt32 = 60

    @Test(
        arguments: [
            ([.changed], .any, [(0, 1, true), (0, 1, false), (0, 2, true)]),
            ([.inactive], .any, [(0, 1, false), (0, 2, false)]),
            ([.every(seconds: minute)], .any, [(0, 1, true), (59, 2, false), (1, 2, true)]),
            ([.less(than: 5)], .any, [(0, 5, false), (0, 4, true), (0, 4, true)]),
            ([.lessOrEqual(to: 5)], .any, [(0, 6, false), (0, 5, true)]),
            ([.greater(than: 5)], .any, [(0, 5, false), (0, 6, true)]),
            ([.greaterOrEqual(to: 5)], .any, [(0, 4, false), (0, 5, true)]),
            ([.equal(to: 5)], .any, [(0, 4, false), (0, 5, true)]),
            ([.notEqual(to: 5)], .any, [(0, 5, false), (0, 4, true), (0, nil, false)]),
            (
                [.changed, .atMostEvery(seconds: minute)], .all,
                [(0, 1, true), (59, 2, false), (1, 2, false), (0, 3, true)]
            ),
            ([.greater(than: 5), .less(than: 1)], .any, [(0, 3, false), (0, 6, true), (0, 0, true)]),
            (
                [.greater(than: 1), .less(than: 5), .inactive], .all,
                [(0, 6, false), (0, 3, true), (0, 0, false)]
            ),
        ] as [([EnvironmentalTrigger], EnvironmentalTriggerLogic, [(Int, Double?, Bool)])]
    )
    func sendsWhatTheTriggersSay(
        triggers: [EnvironmentalTrigger],
        logic: EnvironmentalTriggerLogic,
        steps: [(Int, Double?, Bool)]
    ) async throws {
        let clock = ManualClock()
        let sensor = EnvironmentalSensor(.temperature, initially: 0, triggers: triggers, logic: logic)
        let service = EnvironmentalSensingService([sensor], clock: clock)
        try await Peripheral("Weather") { service }.test { central, session in
            try await central.subscribe(to: sensor.value)
            for (seconds, number, _) in steps {
                clock.advance(by: .seconds(seconds))
                try await service.update(sensor, to: number, in: session)
            }
            // A last notification shows that no unexpected notification came before it.
            let last = EnvironmentalValue(99, of: .temperature)
            try await session.notify(sensor.value, last)
            for number in steps.filter(\.2).map(\.1) {
                let received = try await central.nextUpdate(of: sensor.value)
                #expect(try received.number(of: .temperature) == number)
            }
            #expect(try await central.nextUpdate(of: sensor.value) == last)
        }
    }

    @Test func tellsWhatWasWrittenBeforeItRuns() async throws {
        let sensor = EnvironmentalSensor(
            .temperature,
            triggers: [.changed, .inactive],
            areTriggersSettable: true,
            security: .open
        )
        let service = EnvironmentalSensingService([sensor])
        let changes = try #require(service.descriptorValueChanged)
        // What is published does not run by itself.
        try await Peripheral("Weather") { service.service }.test { central, session in
            let other = central.makeAnother()
            try await other.connect()
            try await other.subscribe(to: changes)
            let location = try await central.locate(sensor.value)
            try await central.write(location.handle(of: .environmentalSensingConfiguration), [0])
            let running = Task { try await service.run(in: session) }
            defer { running.cancel() }
            let change = try await other.nextUpdate(of: changes)
            #expect(change == DescriptorValueChange([.byClient, .configuration], of: 0x2A6E))
        }
    }

    @Test func tellsTheOthersWhatACentralHasWritten() async throws {
        let sensor = EnvironmentalSensor(
            .temperature,
            triggers: [.changed, .inactive],
            areTriggersSettable: true,
            security: .open
        )
        let service = EnvironmentalSensingService([sensor])
        let changes = try #require(service.descriptorValueChanged)
        try await Peripheral("Weather") { service }.test(as: .specification) { central in
            let other = central.makeAnother()
            try await other.connect()
            try await other.subscribe(to: changes)
            try await central.subscribe(to: changes)
            let location = try await central.locate(sensor.value)
            let configuration = try location.handle(of: .environmentalSensingConfiguration)
            try await central.write(configuration, [0])
            #expect(
                try await other.nextUpdate(of: changes)
                    == DescriptorValueChange([.byClient, .configuration], of: 0x2A6E)
            )
            // The central that has written is notified only of the other central's change.
            let trigger = try location.handle(of: .environmentalSensingTriggerSetting)
            try await other.write(trigger, [0])
            let change = try await central.nextUpdate(of: changes)
            #expect(change == DescriptorValueChange([.byClient, .triggers], of: 0x2A6E))
        }
    }
}
