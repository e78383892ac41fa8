internal import PeripheralCore
internal import PeripheralKit
internal import PeripheralTesting
internal import PeripheralVirtualServer

/// Services that come and go during a run.
extension ConformanceSuite {
    static let changingServices: [Scenario] = [
        servicesComeAndGo, changesAreIndicated, removedServiceReturns, addedServiceIsRestored,
        replacedService,
        randomChanges(seed: 1), randomChangesOfTwoPrograms,
    ]

    static let servicesComeAndGo = Scenario("a service is added and removed while others serve on") {
        let gateway = Gateway()
        let base = gateway.base
        return ScenarioRun(gateway.peripheral) { central, session in
            try await central.subscribe(to: base)
            let sensor = GatewaySensor()
            try await session.add { sensor }
            try expect("services", try await central.serviceTypes(), is: [ScenarioUUID.service, sensor.uuid])
            try expect("value", try await central.read(sensor.value), is: [7])
            try await central.subscribe(to: sensor.value)
            _ = try await central.read(sensor.value)
            try await session.notify(sensor.value, [8])
            try expect("update", try await central.nextUpdate(of: sensor.value), is: [8])
            let handle = try await central.locate(sensor.value).valueHandle
            try await session.remove(sensor)
            try expect("services", try await central.serviceTypes(), is: [ScenarioUUID.service])
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
        let gateway = Gateway(reservedHandles: 64)
        return ScenarioRun(gateway.peripheral) { central, session in
            let changed = try await central.subscribeToServiceChanged()
            try await central.subscribe(to: gateway.base)
            _ = try await central.read(gateway.base)
            let sensors = [GatewaySensor(0), GatewaySensor(1, extraCharacteristics: 2)]
            for sensor in sensors { try await session.add { sensor } }
            var ranges: [ClosedRange<AttributeHandle>] = []
            for sensor in sensors { ranges.append(try await central.handles(of: sensor.uuid)) }
            try await session.remove(sensors[0])
            try await session.replace(sensors[1]) { sensors[0] }
            let changes = [ranges[0], ranges[1], ranges[0], ranges[0], ranges[1]]
            try await central.expectChanges(changes, gateway, changed, session)
        }
    }

    static let removedServiceReturns = Scenario("a removed service returns to its handles") {
        ScenarioRun(Gateway().peripheral) { central, session in
            let sensors = (0..<3).map { _ in GatewaySensor() }
            for sensor in sensors { try await session.add { sensor } }
            _ = try await central.discover()
            var places: [AttributeHandle] = []
            for sensor in sensors { places.append(try await central.locate(sensor.value).valueHandle) }
            try expect("places", Set(places).count, is: 3)
            try await session.remove(sensors[0], sensors[1])
            try await session.add { sensors[1] }
            _ = try await central.discover()
            try expect("place", try await central.locate(sensors[1].value).valueHandle, is: places[1])
            try await session.add { GatewaySensor(1, extraCharacteristics: 1) }
            try await session.add { sensors[0] }
            _ = try await central.discover()
            try expect("place", try await central.locate(sensors[0].value).valueHandle, is: places[0])
        }
    }

    static let addedServiceIsRestored = Scenario(
        "an added service that the next run adds again has its handles and its value"
    ) {
        let gateway = Gateway(restorationIdentifier: "gateway scenario")
        // Each run creates its services again.
        @Sendable func sensor(_ room: String) -> GatewaySensor {
            let value = Characteristic<[UInt8]>(ScenarioUUID.otherValue, [.read, .write]) {
                PersistentValue(initially: [1], writes: .durable)
                UserDescription(room)
            }
            return GatewaySensor(0, value)
        }
        let rooms = ["Kitchen", "Cellar"]
        let found = Recorder<AttributeHandle>()
        return ScenarioRun(gateway.peripheral) { central, session in
            for (number, room) in rooms.enumerated() {
                let sensor = sensor(room)
                try await session.add { sensor }
                _ = try await central.discover()
                try await central.write(sensor.value, [5, UInt8(number)])
                found.record(try await central.locate(sensor.value).valueHandle)
            }
            try await session.preserve()
        }.restarted(as: gateway.peripheral, afterKill: true) { central, session in
            // This run does not add the services.
            try await reconnect(central)
            try expect("services", try await central.serviceTypes(), is: [ScenarioUUID.service])
        }.restarted(as: gateway.peripheral) { central, session in
            try await reconnect(central)
            let places = [try await found.next(), try await found.next()]
            for number in [1, 0] {
                let sensor = sensor(rooms[number])
                try await session.add { sensor }
                _ = try await central.discover()
                try expect("handle", try await central.locate(sensor.value).valueHandle, is: places[number])
                try expect("value", try await central.read(sensor.value), is: [5, UInt8(number)])
                try await session.remove(sensor)
                try await session.add { sensor }
                try expect("value after a removal", try await central.readLong(places[number]), is: [1])
            }
        }
    }

    static let replacedService = Scenario("a service is replaced, also by one with the same characteristics")
    {
        ScenarioRun(Gateway().peripheral) { central, session in
            let sensor = GatewaySensor()
            try await session.add { sensor }
            let other = GatewaySensor(1) { [11] }
            try await session.replace(sensor) { other }
            try expect("services", try await central.serviceTypes(), is: [ScenarioUUID.service, other.uuid])
            try expect("value", try await central.read(other.value), is: [11])
            let third = GATTService(0xC103) { other.value }
            try await session.replace(other) { third }
            try expect("services", try await central.serviceTypes(), is: [ScenarioUUID.service, 0xC103])
            try expect("value", try await central.read(other.value), is: [11])
        }
    }

    static func randomChanges(seed: UInt64, count: Int = 50) -> Scenario {
        Scenario("\(count) random changes leave exactly the declared services") {
            let gateway = Gateway()
            return ScenarioRun(gateway.peripheral) { central, session in
                try await changeRandomly(gateway, session, central, seed: seed, count: count)
            }
        }
    }

    /// Two connections to the bus are two programs for bluetoothd.
    static let randomChangesOfTwoPrograms = Scenario(
        "two programs make random changes, and each has exactly its services"
    ) {
        let gateway = Gateway()
        let neighbor = Peripheral("Neighbor", restorationIdentifier: "neighbor of a gateway") {
            GATTService(0xC1F0) { Characteristic<[UInt8]>(0xC1F1, value: [1]) }
        }
        return ScenarioRun(gateway.peripheral) { central, session in
            try await changeRandomly(gateway, session, central, seed: 2, count: 20)
        }.beside(neighbor) { session in
            let sensors = (0..<8).map { GatewaySensor(UInt8(0x80 + $0), extraCharacteristics: $0) }
            var random = SeededNumbers(seed: 3)
            var present: Set<Int> = []
            while !Task.isCancelled {
                let number = random.next(below: sensors.count)
                if present.remove(number) != nil {
                    try await session.remove(sensors[number])
                } else {
                    present.insert(number)
                    try await session.add { sensors[number] }
                }
            }
        }
    }

    private static func changeRandomly(
        _ gateway: Gateway,
        _ session: PeripheralSession,
        _ central: any TestCentral,
        seed: UInt64,
        count: Int
    ) async throws {
        let sensors = (0..<12).map { GatewaySensor(UInt8($0), extraCharacteristics: $0) }
        let own = Set(sensors.map(\.uuid) + [ScenarioUUID.service])
        var random = SeededNumbers(seed: seed)
        var present: Set<Int> = []
        try await central.subscribe(to: gateway.base)
        _ = try await central.read(gateway.base)
        for step in 0..<count {
            let number = random.next(below: sensors.count)
            if present.remove(number) != nil {
                try await session.remove(sensors[number])
            } else if !present.isEmpty, step % 5 == 0 {
                let other = present.sorted()[random.next(below: present.count)]
                present.remove(other)
                present.insert(number)
                try await session.replace(sensors[other]) { sensors[number] }
            } else {
                present.insert(number)
                try await session.add { sensors[number] }
            }
            try await session.notify(gateway.base, [UInt8(step)])
            try expect("update", try await central.nextUpdate(of: gateway.base), is: [UInt8(step)])
            guard step % 10 == 9 else { continue }
            let found = try await central.discover().applicationServices.filter { own.contains($0.uuid) }
            let expected = Set(present.map { sensors[$0].uuid }).union([ScenarioUUID.service])
            try expect("services after \(step)", Set(found.map(\.uuid)), is: expected)
            // A second program can serve the same declaration.
            let added = found.filter { $0.uuid != ScenarioUUID.service }
            try expect("number of added services", added.count, is: present.count)
            // If another program uses high handles, bluetoothd may place the declared service above them.
            let ends = added.map(\.handles.upperBound.rawValue)
            try expect("handles below 0x0400", ends.allSatisfy { $0 < 0x0400 }, is: true)
            for number in present {
                try expect("value", try await central.read(sensors[number].value), is: [7])
            }
        }
    }
}

/// The numbers of a linear congruential generator, which are the same in each run.
private struct SeededNumbers {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next(below count: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(count))
    }
}
