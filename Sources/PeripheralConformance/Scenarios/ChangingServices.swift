internal import PeripheralCore
internal import PeripheralKit
internal import PeripheralTesting
internal import PeripheralVirtualServer

/// Services that come and go during a run.
extension ConformanceSuite {
    static let changingServices: [Scenario] = [
        servicesComeAndGo, changesAreIndicated, removedServiceReturns, replacedService,
        removedUnderPendingRead,
        removedUnderUnconfirmedIndication, removedWithQueuedValues, randomChanges(seed: 1),
    ]

    /// The service of a sensor that a gateway publishes.
    private struct Sensor: GATTServiceDeclaration {
        let uuid: BluetoothUUID
        let value: Characteristic<[UInt8]>

        init(
            _ number: UInt8 = 0,
            _ properties: CharacteristicProperties = [.read, .notify],
            extraCharacteristics: Int = 0,
            read: @escaping @Sendable () async throws -> [UInt8] = { [7] }
        ) {
            uuid = BluetoothUUID(0xC100 + UInt16(number))
            value = Characteristic<[UInt8]>(ScenarioUUID.otherValue, properties) {
                Read { try await read() }
            }
            others = (0..<extraCharacteristics).map { _ in
                Characteristic<[UInt8]>(ScenarioUUID.thirdValue, .read) { Read { [number] } }
            }
        }

        private let others: [Characteristic<[UInt8]>]

        var service: GATTService {
            GATTService(uuid) {
                value
                others
            }
        }
    }

    private static func gateway(
        _ base: Characteristic<[UInt8]>,
        reservedHandles: Int = 0
    ) -> Peripheral {
        Peripheral("Gateway", reservedHandles: reservedHandles) {
            GATTService(ScenarioUUID.service) { base }
        }
    }

    private static func baseValue() -> Characteristic<[UInt8]> {
        Characteristic<[UInt8]>(ScenarioUUID.value, [.read, .notify]) { Read { [1] } }
    }

    /// The types of the services that a central finds, without the stack's own.
    ///
    /// The handles of the added services can precede those of the declared services.
    private static func types(found central: any TestCentral) async throws -> Set<BluetoothUUID> {
        Set(try await central.discover().applicationServices.map(\.uuid))
    }

    static let servicesComeAndGo = Scenario("a service is added and removed while others serve on") {
        let base = baseValue()
        return ScenarioRun(gateway(base)) { central, session in
            try await central.subscribe(to: base)
            let sensor = Sensor()
            try await session.add { sensor }
            try expect("services", try await types(found: central), is: [ScenarioUUID.service, sensor.uuid])
            try expect("value", try await central.read(sensor.value), is: [7])
            try await central.subscribe(to: sensor.value)
            _ = try await central.read(sensor.value)
            try await session.notify(sensor.value, [8])
            try expect("update", try await central.nextUpdate(of: sensor.value), is: [8])
            let handle = try await central.locate(sensor.value).valueHandle
            try await session.remove(sensor)
            try expect("services", try await types(found: central), is: [ScenarioUUID.service])
            try await expectRefusal(of: "read of a removed value", by: .invalidHandle) {
                try await central.read(handle, offset: 0)
            }
            try await expectError(of: "update of a removed value", .notDeclared) {
                _ = try session.update(sensor.value, [9])
            }
            try await session.notify(base, [2])
            try expect("update of the rest", try await central.nextUpdate(of: base), is: [2])
            try expect("subscriptions", session.subscriptions.map(\.characteristic), is: [ScenarioUUID.value])
        }
    }

    static let changesAreIndicated = Scenario("each change of the services is indicated with its handles") {
        let base = baseValue()
        return ScenarioRun(gateway(base, reservedHandles: 64)) { central, session in
            let services = try await central.discover().services
            let changed = services.flatMap(\.characteristics).first { $0.uuid == .serviceChanged }?
                .valueHandle
            guard let changed else { throw ConformanceFailure(description: "Service Changed is missing.") }
            try await central.subscribe(changed, to: .indication)
            try await central.subscribe(to: base)
            _ = try await central.read(base)
            let sensors = [Sensor(0), Sensor(1, extraCharacteristics: 2)]
            for sensor in sensors { try await session.add { sensor } }
            var ranges: [[UInt8]] = []
            for sensor in sensors { ranges.append(try await handles(of: sensor.uuid, found: central)) }
            try await session.remove(sensors[0])
            try await session.replace(sensors[1]) { sensors[0] }
            try await session.notify(base, [9])
            var indicated: [[UInt8]] = []
            while true {
                let (characteristic, update) = try await central.nextUpdate()
                guard characteristic == changed else { break }
                indicated.append(update.value)
            }
            try expect(
                "indications of Service Changed",
                indicated,
                is: [ranges[0], ranges[1], ranges[0], ranges[0], ranges[1]]
            )
        }
    }

    /// The value of Service Changed for a service.
    private static func handles(
        of service: BluetoothUUID,
        found central: any TestCentral
    ) async throws -> [UInt8] {
        let found = try await central.discover().services.first { $0.uuid == service }
        guard let found else { throw ConformanceFailure(description: "Service \(service) is missing.") }
        return [found.handles.lowerBound, found.handles.upperBound].flatMap {
            [UInt8(truncatingIfNeeded: $0.rawValue), UInt8($0.rawValue >> 8)]
        }
    }

    static let removedServiceReturns = Scenario("a removed service returns to its handles") {
        ScenarioRun(gateway(baseValue())) { central, session in
            let sensors = (0..<3).map { _ in Sensor() }
            for sensor in sensors { try await session.add { sensor } }
            _ = try await central.discover()
            var places: [AttributeHandle] = []
            for sensor in sensors { places.append(try await central.locate(sensor.value).valueHandle) }
            try expect("places", Set(places).count, is: 3)
            try await session.remove(sensors[0], sensors[1])
            try await session.add { sensors[1] }
            _ = try await central.discover()
            try expect("place", try await central.locate(sensors[1].value).valueHandle, is: places[1])
            try await session.add { Sensor(1, extraCharacteristics: 1) }
            try await session.add { sensors[0] }
            _ = try await central.discover()
            try expect("place", try await central.locate(sensors[0].value).valueHandle, is: places[0])
        }
    }

    static let replacedService = Scenario("a service is replaced, also by one with the same characteristics")
    {
        ScenarioRun(gateway(baseValue())) { central, session in
            let sensor = Sensor()
            try await session.add { sensor }
            let other = Sensor(1) { [11] }
            try await session.replace(sensor) { other }
            try expect("services", try await types(found: central), is: [ScenarioUUID.service, other.uuid])
            try expect("value", try await central.read(other.value), is: [11])
            let third = GATTService(0xC103) { other.value }
            try await session.replace(other) { third }
            try expect("services", try await types(found: central), is: [ScenarioUUID.service, 0xC103])
            try expect("value", try await central.read(other.value), is: [11])
        }
    }

    static let removedUnderPendingRead = Scenario("a pending read is answered before its service goes") {
        let begun = Recorder<Void>()
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        return ScenarioRun(gateway(baseValue())) { central, session in
            let sensor = Sensor {
                begun.record(())
                for await _ in gate { break }
                return [4]
            }
            try await session.add { sensor }
            _ = try await central.discover()
            let handle = try await central.locate(sensor.value).valueHandle
            async let value = central.read(handle, offset: 0)
            _ = try await begun.next()
            async let removal: Void = session.remove(sensor)
            open.finish()
            try expect("value", try await value, is: [4])
            try await removal
            try await expectRefusal(of: "read of a removed value", by: .invalidHandle) {
                try await central.read(handle, offset: 0)
            }
        }
    }

    static let removedUnderUnconfirmedIndication = Scenario(
        "a service goes when its indication is confirmed, and not before"
    ) {
        let base = baseValue()
        return ScenarioRun(gateway(base)) { central, session in
            let sensor = Sensor(0, [.read, .indicate])
            try await session.add { sensor }
            _ = try await central.discover()
            try await central.subscribe(to: sensor.value, for: .indication)
            try await central.subscribe(to: base)
            _ = try await central.read(base)
            try await central.setConfirmsIndications(false)
            async let indication: Void = session.indicate(sensor.value, [5])
            try expect(
                "indication",
                try await central.nextUpdate(of: central.locate(sensor.value).valueHandle).value,
                is: [5]
            )
            async let removal: Void = session.remove(sensor)
            try await session.notify(base, [6])
            try expect("update of the rest", try await central.nextUpdate(of: base), is: [6])
            try await central.setConfirmsIndications(true)
            try await indication
            try await removal
            try expect("services", try await types(found: central), is: [ScenarioUUID.service])
        }
    }

    static let removedWithQueuedValues = Scenario("values that wait for a removed service fail and count") {
        ScenarioRun(gateway(baseValue())) { central, session in
            let sensor = Sensor(0, [.read, .indicate])
            try await session.add { sensor }
            _ = try await central.discover()
            try await central.subscribe(to: sensor.value, for: .indication)
            _ = try await central.read(sensor.value)
            try await central.setConfirmsIndications(false)
            async let first: Void = session.indicate(sensor.value, [1])
            _ = try await central.nextUpdate(of: central.locate(sensor.value).valueHandle)
            async let second: Void = expectError(of: "waiting indication", .serviceRemoved) {
                try await session.indicate(sensor.value, [2])
            }
            while !session.updateStatistics.contains(where: { $0.counters.queued == 1 }) {
                try await Task.sleep(for: .milliseconds(1))
            }
            async let removal: Void = session.remove(sensor)
            try await second
            try await central.setConfirmsIndications(true)
            try await first
            try await removal
            let total = session.updateTotals.first { $0.characteristic == ScenarioUUID.otherValue }
            try expect("dropped values", total?.counters.dropped, is: 1)
            try expect("sent values", total?.counters.sent, is: 1)
        }
    }

    static func randomChanges(seed: UInt64, count: Int = 50) -> Scenario {
        Scenario("\(count) random changes leave exactly the declared services") {
            let base = baseValue()
            return ScenarioRun(gateway(base)) { central, session in
                // A linear congruential generator, so that each run makes the same changes.
                var state = seed
                func random(_ count: Int) -> Int {
                    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                    return Int((state >> 33) % UInt64(count))
                }
                let sensors = (0..<12).map { Sensor(UInt8($0), extraCharacteristics: $0) }
                var present: Set<Int> = []
                try await central.subscribe(to: base)
                _ = try await central.read(base)
                for step in 0..<count {
                    let number = random(sensors.count)
                    if present.remove(number) != nil {
                        try await session.remove(sensors[number])
                    } else if !present.isEmpty, step % 5 == 0 {
                        let other = present.sorted()[random(present.count)]
                        present.remove(other)
                        present.insert(number)
                        try await session.replace(sensors[other]) { sensors[number] }
                    } else {
                        present.insert(number)
                        try await session.add { sensors[number] }
                    }
                    try await session.notify(base, [UInt8(step)])
                    try expect("update", try await central.nextUpdate(of: base), is: [UInt8(step)])
                    guard step % 10 == 9 else { continue }
                    let found = try await central.discover().applicationServices
                    let expected = Set(present.map { sensors[$0].uuid }).union([ScenarioUUID.service])
                    try expect("services after \(step)", Set(found.map(\.uuid)), is: expected)
                    try expect("number of services", found.count, is: present.count + 1)
                    let ends = found.map(\.handles.upperBound.rawValue)
                    try expect("handles below 0x0400", ends.allSatisfy { $0 < 0x0400 }, is: true)
                    for number in present {
                        try expect("value", try await central.read(sensors[number].value), is: [7])
                    }
                }
            }
        }
    }
}
