import PeripheralEnvironmentalSensing
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct EnvironmentalQuantityTests {
    /// GATT Specification Supplement: type, exponent and special values of each characteristic.
    @Test(
        arguments: [
            (.temperature, 0x2A6E, 21.56, [0x6C, 0x08]), (.temperature, 0x2A6E, -0.01, [0xFF, 0xFF]),
            (.temperature, 0x2A6E, nil, [0x00, 0x80]), (.humidity, 0x2A6F, 100, [0x10, 0x27]),
            (.humidity, 0x2A6F, nil, [0xFF, 0xFF]), (.pressure, 0x2A6D, 101_325, [0x02, 0x76, 0x0F, 0x00]),
            (.dewPoint, 0x2A7B, -5, [0xFB]), (.heatIndex, 0x2A7A, 40, [0x28]),
            (.windChill, 0x2A79, -128, [0x80]),
            (.trueWindSpeed, 0x2A70, 12.34, [0xD2, 0x04]),
            (.trueWindDirection, 0x2A71, 359.99, [0x9F, 0x8C]),
            (.apparentWindSpeed, 0x2A72, 0.01, [1, 0]), (.apparentWindDirection, 0x2A73, 90, [0x28, 0x23]),
            (.gustFactor, 0x2A74, 1.5, [15]), (.rainfall, 0x2A78, 0.012, [12, 0]),
            (.illuminance, 0x2AFB, 167_772.14, [0xFE, 0xFF, 0xFF]),
            (.illuminance, 0x2AFB, nil, [0xFF, 0xFF, 0xFF]),
            (.irradiance, 0x2A77, 6553.5, [0xFF, 0xFF]), (.uvIndex, 0x2A76, 11, [11]),
            (.carbonDioxide, 0x2B8C, 421, [0xA5, 0x01]), (.carbonDioxide, 0x2B8C, nil, [0xFF, 0xFF]),
            (.volatileOrganicCompounds, 0x2BE7, 65_534, [0xFE, 0xFF]),
            (.particulateMatter2_5, 0x2BD6, 0.000_000_03, [0x03, 0x80]),
            (.particulateMatter2_5, 0x2BD6, nil, [0xFF, 0x07]), (.pollen, 0x2A75, 66_051, [3, 2, 1]),
            (.elevation, 0x2A6C, -1, [0x9C, 0xFF, 0xFF]),
            (.elevation, 0x2A6C, 83_886.07, [0xFF, 0xFF, 0x7F]),
            (.magneticDeclination, 0x2A2C, 3.5, [0x5E, 0x01]),
        ] as [(EnvironmentalQuantity, UInt16, Double?, [UInt8])]
    )
    func writesNumbers(quantity: EnvironmentalQuantity, type: UInt16, number: Double?, bytes: [UInt8]) throws
    {
        #expect(quantity.type == BluetoothUUID(type))
        #expect(quantity.bytes(of: number) == bytes)
        #expect(try quantity.number(of: bytes) == number)
    }

    @Test(
        arguments: [
            (.temperature, -300, [0x4D, 0x95]), (.temperature, 1000, [0xFF, 0x7F]),
            (.humidity, 101, [0x10, 0x27]),
            (.humidity, -1, [0, 0]), (.uvIndex, .infinity, [0xFF]), (.uvIndex, .nan, [0]),
            (.uvIndex, nil, [0]),
            (.temperature, .nan, [0x00, 0x80]), (.carbonDioxide, 100_000, [0xFE, 0xFF]),
            (.trueWindDirection, 360, [0x9F, 0x8C]), (.ozone, .nan, [0xFF, 0x07]),
        ] as [(EnvironmentalQuantity, Double?, [UInt8])]
    )
    func clampsWhatCannotBe(quantity: EnvironmentalQuantity, number: Double?, bytes: [UInt8]) {
        #expect(quantity.bytes(of: number) == bytes)
    }

    @Test(
        arguments: [
            (.temperature, [0x6C]), (.temperature, [0x6C, 8, 0]), (.temperature, [0x4C, 0x95]),
            (.humidity, [0x11, 0x27]), (.trueWindDirection, [0xA0, 0x8C]), (.ozone, [0]), (.pressure, []),
        ] as [(EnvironmentalQuantity, [UInt8])]
    )
    func refuses(quantity: EnvironmentalQuantity, bytes: [UInt8]) {
        #expect(throws: GATTDecodingError.self) { try quantity.number(of: bytes) }
    }

    @Test(
        "What is read is written the same",
        arguments: [
            EnvironmentalQuantity.temperature, .humidity, .pressure, .dewPoint, .gustFactor, .rainfall,
            .illuminance,
            .elevation, .pollen, .carbonDioxide,
        ]
    )
    func readsWhatItWrites(quantity: EnvironmentalQuantity) throws {
        var generator = SeededGenerator(seed: 1)
        let size = quantity.bytes(of: 0).count
        for _ in 0..<2_000 {
            let bytes = generator.bytes(count: size)
            guard let number = try? quantity.number(of: bytes) else { continue }
            try #require(quantity.bytes(of: number) == bytes, "seed 1, \(bytes)")
        }
    }
}

@Suite(.timeLimit(.minutes(1)))
struct EnvironmentalDescriptorTests {
    /// Environmental Sensing Service 1.0, section 3.1: flags, sampling, period, interval, application, uncertainty.
    @Test(
        arguments: [
            (EnvironmentalMeasurement(), [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0xFF]),
            (
                EnvironmentalMeasurement(
                    sampling: .arithmeticMean,
                    period: 60,
                    updateInterval: 0x010203,
                    application: .outside,
                    uncertainty: 1.5
                ),
                [0, 0, 2, 60, 0, 0, 3, 2, 1, 0x0E, 3]
            ),
            (
                EnvironmentalMeasurement(sampling: .maximum, uncertainty: 0),
                [0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0]
            ),
        ] as [(EnvironmentalMeasurement, [UInt8])]
    )
    func tellsHowItIsMeasured(measurement: EnvironmentalMeasurement, bytes: [UInt8]) throws {
        #expect(EnvironmentalMeasurement(uncertainty: .nan).gattBytes.last == 0xFF)
        #expect(measurement.gattBytes == bytes)
        #expect(try EnvironmentalMeasurement(gattBytes: bytes) == measurement)
    }

    @Test(
        arguments: [
            (DescriptorValueChange([.byClient, .triggers], of: 0x2A6E), [0x03, 0, 0x6E, 0x2A]),
            (
                DescriptorValueChange(.userDescription, of: "00112233-4455-6677-8899-aabbccddeeff"),
                [
                    0x10, 0, 0xFF, 0xEE, 0xDD, 0xCC, 0xBB, 0xAA, 0x99, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33,
                    0x22, 0x11,
                    0x00,
                ]
            ),
        ] as [(DescriptorValueChange, [UInt8])]
    )
    func tellsWhatHasChanged(change: DescriptorValueChange, bytes: [UInt8]) throws {
        #expect(change.gattBytes == bytes)
        #expect(try DescriptorValueChange(gattBytes: bytes) == change)
    }

    @Test(arguments: [[], [1, 0], [1, 0, 0x6E], [1, 0, 1, 2, 3, 4]] as [[UInt8]])
    func refusesChanges(bytes: [UInt8]) {
        #expect(throws: GATTDecodingError.self) { try DescriptorValueChange(gattBytes: bytes) }
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func decodersEndWhateverTheyRead(seed: UInt64) throws {
        try fuzz(EnvironmentalMeasurement.self, seed: seed, count: 10...12)
        try fuzz(EnvironmentalTriggerLogic.self, seed: seed, count: 0...2)
        try fuzz(DescriptorValueChange.self, seed: seed, count: 0...19)
    }
}

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
            name: "Inside",
            onRename: { names.append($0) },
            range: -10...50,
            which: .inside
        )
        let outside = EnvironmentalSensor(
            .temperature,
            of: EnvironmentalMeasurement(application: .outside),
            areTriggersSettable: false
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
            #expect(try await central.read(inside.value) == [0xD0, 0x07])
            #expect(try await central.read(outside.value) == [0x00, 0x80])
            #expect(try await central.read(.environmentalSensingMeasurement, of: inside.value)[9] == 0x0D)
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

    @Test func hasNothingToChange() async throws {
        let service = EnvironmentalSensingService([EnvironmentalSensor(.uvIndex, areTriggersSettable: false)])
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
        let sensor = EnvironmentalSensor(.temperature)
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
        let sensor = EnvironmentalSensor(.temperature, triggers: [.changed, .inactive])
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
            // Nothing but a notification of what comes last can tell that nothing else has come.
            try await session.notify(sensor.value, [])
            for number in steps.filter(\.2).map(\.1) {
                let received = try await central.nextUpdate(of: sensor.value)
                #expect(try EnvironmentalQuantity.temperature.number(of: received) == number)
            }
            #expect(try await central.nextUpdate(of: sensor.value) == [])
        }
    }

    @Test func tellsWhatWasWrittenBeforeItRuns() async throws {
        let sensor = EnvironmentalSensor(.temperature, triggers: [.changed, .inactive])
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
        let sensor = EnvironmentalSensor(.temperature, triggers: [.changed, .inactive])
        let service = EnvironmentalSensingService([sensor])
        let changes = try #require(service.descriptorValueChanged)
        try await Peripheral("Weather") { service }.test { central in
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
            // The one that has written is told of the other's change alone.
            let trigger = try location.handle(of: .environmentalSensingTriggerSetting)
            try await other.write(trigger, [0])
            let change = try await central.nextUpdate(of: changes)
            #expect(change == DescriptorValueChange([.byClient, .triggers], of: 0x2A6E))
        }
    }
}
