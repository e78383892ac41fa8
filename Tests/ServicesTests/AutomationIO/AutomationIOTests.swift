import PeripheralAutomationIO
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct AutomationValueTests {
    /// Automation IO Service 1.0, section 3.1: two bits for each state, the first in the lowest ones.
    @Test(
        arguments: [
            ([.active], [0x01]), ([.unknown, .tristate, .active, .inactive], [0x1B]),
            ([.active, .inactive, .inactive, .inactive, .tristate], [0x01, 0x02]), ([], []),
        ] as [(DigitalStates, [UInt8])]
    )
    func packsStates(states: DigitalStates, bytes: [UInt8]) throws {
        #expect(states.gattBytes == bytes)
        let decoded = try DigitalStates(gattBytes: bytes)
        #expect(decoded.states.count == 4 * bytes.count)
        #expect(Array(decoded.states.prefix(states.states.count)) == states.states)
    }

    @Test(
        arguments: [
            (.changed, [0x00]), (.crosses(0x1234), [0x01, 0x34, 0x12]),
            (.reachesOrLeaves(1), [0x02, 0x01, 0x00]),
            (.changesByMoreThan(2), [0x03, 0x02, 0x00]),
            (.changesAny(of: [0x03, 0x0C]), [0x04, 0x03, 0x0C]),
            (.leavesBounds(upper: 2, lower: 1), [0x05, 2, 0, 1, 0]),
            (.leavesEither(3, or: 4), [0x06, 3, 0, 4, 0]),
            (.never, [0x07]),
        ] as [(AutomationValueTrigger, [UInt8])]
    )
    func tellsWhatIsWorthIt(trigger: AutomationValueTrigger, bytes: [UInt8]) throws {
        #expect(trigger.gattBytes == bytes)
        #expect(try AutomationValueTrigger(gattBytes: bytes) == trigger)
    }

    @Test(
        arguments: [
            (.none, [0x00]), (.every(seconds: 0x010203), [0x01, 0x03, 0x02, 0x01]),
            (.atMostEvery(seconds: 60), [0x02, 60, 0, 0]),
            (.everyChanges(5), [0x03, 5, 0]),
        ] as [(AutomationTimeTrigger, [UInt8])]
    )
    func tellsWhen(trigger: AutomationTimeTrigger, bytes: [UInt8]) throws {
        #expect(trigger.gattBytes == bytes)
        #expect(try AutomationTimeTrigger(gattBytes: bytes) == trigger)
    }

    @Test func refusesWhatIsReserved() {
        for bytes: [UInt8] in [[8], [], [0, 0], [1], [5, 1, 0], [7, 0]] {
            #expect(throws: GATTDecodingError.self) { try AutomationValueTrigger(gattBytes: bytes) }
        }
        for bytes: [UInt8] in [[4], [], [0, 0], [1, 0, 0], [3, 0]] {
            #expect(throws: GATTDecodingError.self) { try AutomationTimeTrigger(gattBytes: bytes) }
        }
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func decodersEndWhateverTheyRead(seed: UInt64) throws {
        try fuzz(DigitalStates.self, seed: seed, count: 0...6)
        try fuzz(AutomationValueTrigger.self, seed: seed, count: 0...6)
        try fuzz(AutomationTimeTrigger.self, seed: seed, count: 0...5)
    }
}

@Suite(.timeLimit(.minutes(1)))
struct AutomationIOServiceTests {
    /// The definition of the service, C3: "The Indicate and Notify properties are excluded for the Digital
    /// and Analog characteristics if the Aggregate characteristic is supported".
    @Test func declaresWhatIsGiven() async throws {
        let written = Recorded<[DigitalState]>()
        let speeds = Recorded<UInt16>()
        let io = AutomationIOService(
            digitals: [
                .input([.active, .inactive], name: "Doors", which: .first, hasTriggers: true),
                .output([.inactive, .inactive, .inactive], which: .second) { states, _ in
                    written.append(states)
                },
            ],
            analogs: [
                .input(7, format: PresentationFormat(.uint16, unit: .lux), isConfirmed: true),
                .output(0, name: "Fan", within: 1...10) { speed, _ in speeds.append(speed) },
            ],
            hasAggregate: true
        )
        try await Peripheral("Automat") { io }.test(as: .specification) { central in
            let declared = try await central.discover().declared
            #expect(
                declared == [
                    DeclaredCharacteristic(service: 0x1815, uuid: 0x2A56, properties: .read),
                    DeclaredCharacteristic(service: 0x1815, uuid: 0x2A56, properties: [.read, .write]),
                    DeclaredCharacteristic(service: 0x1815, uuid: 0x2A58, properties: .read),
                    DeclaredCharacteristic(service: 0x1815, uuid: 0x2A58, properties: [.read, .write]),
                    DeclaredCharacteristic(service: 0x1815, uuid: 0x2A5A, properties: [.read, .notify]),
                ]
            )
            let (doors, relays) = (io.digitals[0].value, io.digitals[1].value)
            let (light, fan) = (io.analogs[0].value, io.analogs[1].value)
            let aggregate = try #require(io.aggregate)
            #expect(try await central.read(.numberOfDigitals, of: doors) == [2])
            #expect(try await central.read(.characteristicUserDescription, of: doors) == Array("Doors".utf8))
            let format: [UInt8] = [0x02, 0, 0x00, 0x27, 1, 2, 0]
            #expect(try await central.read(.characteristicPresentationFormat, of: relays) == format)
            #expect(try await central.read(.characteristicPresentationFormat, of: light)[0] == 6)
            #expect(try await central.read(.validRange, of: fan) == [1, 0, 10, 0])
            #expect(try await central.read(doors).gattBytes == [0x01])
            #expect(try await central.read(light) == 7)
            #expect(try await central.read(aggregate) == [0x01, 7, 0])

            try await central.write(relays, [.active, .tristate, .inactive])
            #expect(written.values == [[.active, .tristate, .inactive]])
            #expect(try await central.read(relays).gattBytes == [0x09])
            // Automation IO Service 1.0, section 3.1: a write of 0b11 leaves a digital as it is.
            try await central.write(relays, [.unknown, .active, .unknown])
            #expect(written.values.last == [.active, .active, .inactive])
            #expect(try await central.read(relays).gattBytes == [0x05])
            await #expect(throws: ATTError.invalidAttributeValueLength) {
                try await central.write(relays, [.active, .active, .active, .active, .active])
            }
            try await central.write(fan, 10)
            await #expect(throws: ATTError.outOfRange) { try await central.write(fan, 11) }
            #expect(speeds.values == [10])
            #expect(try await central.read(fan) == 10)
        }
    }

    @Test func sendsChanges() async throws {
        let doors = AutomationDigital.input([.inactive, .inactive])
        let light = AutomationAnalog.input(7, isConfirmed: true)
        let lock = AutomationDigital.output([.active]) { _, _ in }
        let io = AutomationIOService(digitals: [doors, lock], analogs: [light])
        #expect(io.aggregate == nil)
        try await Peripheral("Automat") { io }.test { central, session in
            let declared = try await central.discover().declared
            #expect(declared.map(\.properties) == [[.read, .notify], [.read, .write], [.read, .indicate]])
            try await central.subscribe(to: doors.value)
            try await central.subscribe(to: light.value)
            try await io.update(doors, to: [.inactive, .inactive], in: session)
            try await io.update(doors, to: [.active], in: session)
            #expect(try await central.nextUpdate(of: doors.value).gattBytes == [0x0D])
            try await io.update(light, to: 7, in: session)
            try await io.update(light, to: 8, in: session)
            #expect(try await central.nextUpdate(of: light.value) == 8)
            await #expect(throws: PeripheralError.self) {
                try await io.update(lock, to: [.inactive], in: session)
            }
        }
    }

    /// The Value Trigger Setting's definition, condition 7: "It can be used for example when the value of one
    /// or more characteristic should not cause indication or notification of the Aggregate characteristic".
    @Test func theAggregateIsSentAsTheTriggersSay() async throws {
        let doors = AutomationDigital.input([.inactive, .inactive])
        let light = AutomationAnalog.input(7, hasTriggers: true)
        let fan = AutomationAnalog.output(1) { _, _ in }
        let io = AutomationIOService(digitals: [doors], analogs: [light, fan], hasAggregate: true)
        let aggregate = try #require(io.aggregate)
        let another = AutomationAnalog.input(0)
        try await Peripheral("Automat") { io }.test { central, session in
            let trigger = try await central.locate(light.value).handle(of: .valueTriggerSetting)
            try await central.subscribe(to: aggregate)
            try await central.write(trigger, AutomationValueTrigger.never.gattBytes)
            try await io.update(light, to: 8, in: session)
            #expect(try await central.read(aggregate) == [0x00, 8, 0])
            try await io.update(doors, to: [.active, .inactive], in: session)
            #expect(try await central.nextUpdate(of: aggregate) == [0x01, 8, 0])
            try await central.write(trigger, AutomationValueTrigger.crosses(10).gattBytes)
            for value: UInt16 in [9, 10, 11, 12] { try await io.update(light, to: value, in: session) }
            #expect(try await central.nextUpdate(of: aggregate) == [0x01, 11, 0])
            try await io.update(doors, to: [.active, .inactive], in: session)
            try await io.update(doors, to: [.active, .active], in: session)
            #expect(try await central.nextUpdate(of: aggregate) == [0x05, 12, 0])
            for input in [fan, another] {
                await #expect(throws: PeripheralError.self) { try await io.update(input, to: 1, in: session) }
            }
        }
    }

    /// The definition of the Value Trigger Setting descriptor specifies which changes meet each condition.
    @Test(
        arguments: [
            (.changed, .none, [(0, 100, false), (0, 101, true), (0, 101, false)]),
            // From less than to greater than the value and back, which the value itself is neither of.
            (.crosses(200), .none, [(0, 199, false), (0, 201, true), (0, 300, false), (0, 199, true)]),
            (.crosses(200), .none, [(0, 200, false), (0, 199, false), (0, 200, false), (0, 201, true)]),
            (.crosses(100), .none, [(0, 101, false), (0, 100, false), (0, 99, true)]),
            // From less or greater to equal, and from equal to less or greater.
            (
                .reachesOrLeaves(200), .none,
                [(0, 201, false), (0, 200, true), (0, 200, false), (0, 201, true)]
            ),
            (.reachesOrLeaves(200), .none, [(0, 200, true), (0, 199, true), (0, 201, false)]),
            (
                .changesByMoreThan(10), .none,
                [(0, 110, false), (0, 111, true), (0, 101, false), (0, 100, true)]
            ),
            (
                .changesByMoreThan(10), .everyChanges(2),
                [(0, 111, false), (0, 111, false), (0, 121, false), (0, 122, true)]
            ),
            // From between the bounds to greater or less, and on the bounds it is neither.
            (
                .leavesBounds(upper: 110, lower: 90), .none,
                [
                    (0, 110, false), (0, 111, true), (0, 109, false), (0, 90, false), (0, 89, true),
                    (0, 111, false),
                ]
            ),
            (.leavesBounds(upper: 90, lower: 110), .none, [(0, 90, false), (0, 89, true), (0, 100, false)]),
            // From equal to one of the two to any other value, the other one among them.
            (
                .leavesEither(110, or: 90), .none,
                [
                    (0, 109, false), (0, 110, false), (0, 110, false), (0, 90, true), (0, 89, true),
                    (0, 90, false),
                ]
            ),
            (.never, .none, [(0, 1, false), (0, 2, false)]),
            (
                .never, .every(seconds: 10),
                [(0, 1, true), (9, 2, false), (1, 2, true), (10, 2, true)]
            ),
            (
                .changed, .atMostEvery(seconds: 10),
                [(0, 1, true), (9, 2, false), (1, 2, true), (10, 2, false), (0, 3, true)]
            ),
            (
                .changed, .everyChanges(2),
                [(0, 1, false), (0, 1, false), (0, 2, true), (0, 3, false), (0, 4, true)]
            ),
        ] as [(AutomationValueTrigger, AutomationTimeTrigger, [(Int, UInt16, Bool)])]
    )
    func sendsWhatTheTriggersSay(
        value: AutomationValueTrigger,
        time: AutomationTimeTrigger,
        steps: [(Int, UInt16, Bool)]
    ) async throws {
        let clock = ManualClock()
        let light = AutomationAnalog.input(100, hasTriggers: true)
        let io = AutomationIOService(analogs: [light], clock: clock)
        try await Peripheral("Automat") { io }.test { central, session in
            let characteristic = try await central.locate(light.value)
            try await central.write(characteristic.handle(of: .valueTriggerSetting), value.gattBytes)
            try await central.write(characteristic.handle(of: .timeTriggerSetting), time.gattBytes)
            #expect(try await central.read(.valueTriggerSetting, of: light.value) == value.gattBytes)
            #expect(try await central.read(.timeTriggerSetting, of: light.value) == time.gattBytes)
            try await central.subscribe(to: light.value)
            for (seconds, number, _) in steps {
                clock.advance(by: .seconds(seconds))
                try await io.update(light, to: number, in: session)
            }
            // A last notification shows that no unexpected notification came before it.
            try await session.notify(light.value, .max)
            for number in steps.filter(\.2).map(\.1) + [.max] {
                #expect(try await central.nextUpdate(of: light.value) == number)
            }
        }
    }

    /// Automation IO Service 1.0, section 1.6: 0x80, Trigger Condition Value not supported.
    @Test(
        arguments: [
            (.valueTriggerSetting, [8], 0x80), (.valueTriggerSetting, [255, 1, 0], 0x80),
            (.valueTriggerSetting, [4, 1], 0x80), (.valueTriggerSetting, [1, 0], 0x0D),
            (.valueTriggerSetting, [], 0x0D), (.timeTriggerSetting, [4], 0x80),
            (.timeTriggerSetting, [1, 0], 0x0D),
        ] as [(BluetoothUUID, [UInt8], UInt8)]
    )
    func refusesTriggersThatItDoesNotHave(type: BluetoothUUID, bytes: [UInt8], error: UInt8) async throws {
        let light = AutomationAnalog.input(100, hasTriggers: true)
        let io = AutomationIOService(analogs: [light])
        try await Peripheral("Automat") { io }.test { central in
            let handle = try await central.locate(light.value).handle(of: type)
            await #expect(throws: ATTError(rawValue: error)) { try await central.write(handle, bytes) }
            #expect(try await central.read(handle, offset: 0) == [0])
        }
    }

    @Test func sendsTheDigitalsThatTheMaskNames() async throws {
        let doors = AutomationDigital.input([.inactive, .inactive], hasTriggers: true)
        let io = AutomationIOService(digitals: [doors])
        try await Peripheral("Automat") { io }.test { central, session in
            let handle = try await central.locate(doors.value).handle(of: .valueTriggerSetting)
            try await central.write(handle, [0x04, 0x0C])
            await #expect(throws: ATTError(rawValue: 0x80)) { try await central.write(handle, [0x01, 0, 0]) }
            try await central.subscribe(to: doors.value)
            try await io.update(doors, to: [.active, .inactive], in: session)
            try await io.update(doors, to: [.active, .active], in: session)
            #expect(try await central.nextUpdate(of: doors.value).gattBytes == [0x05])
        }
    }
}
