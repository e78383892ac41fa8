internal import PeripheralCore
internal import PeripheralKit
internal import PeripheralTesting

extension ConformanceSuite {
    static let advertising: [Scenario] =
        [
            derivedAdvertisement, declaredAdvertisement, hiddenAdvertisement,
            longName("A peripheral with a name of too many bytes", cutTo: "A peripheral with a name of t"),
            longName("ééééééééééééééé", cutTo: "éééééééééééééé"),
            changedAdvertisement, stoppedAdvertising, addedAdvertisement, advertisedServicesFollow,
        ] + advertisingIntervals + broadcasting

    /// Creates a run that checks the scan result of a peripheral.
    private static func scenarioRun(
        _ name: String,
        of peripheral: Peripheral,
        _ check: @escaping @Sendable (AdvertisementPayload) throws -> Void
    ) -> ScenarioRun {
        ScenarioRun(peripheral, mtu: nil) { central, _ in
            let results = try await central.scan()
            guard let result = results.first(where: { $0.payload.localName == name }) else {
                throw ConformanceFailure(
                    description:
                        "No advertisement has the name \(name). Found: \(results.map(\.payload.localName))."
                )
            }
            try expect("connectable", result.isConnectable, is: true)
            try check(result.payload)
        }
    }

    static let derivedAdvertisement = Scenario("name and services are advertised without being asked for") {
        let peripheral = Peripheral("Derived") {
            GATTService(.heartRate) { Characteristic<UInt8>(0x2A38, value: 1) }
            GATTService(.battery) { Characteristic<UInt8>(0x2A19, value: 99) }
        }
        return scenarioRun("Derived", of: peripheral) { payload in
            try expect("services", payload.services, is: [.heartRate, .battery])
            try expect("discoverable", payload.flags?.contains(.generalDiscoverable), is: true)
        }
    }

    static let declaredAdvertisement = Scenario("the declared advertisement is on the air") {
        let peripheral = Peripheral("Name") {
            GATTService(ScenarioUUID.service) { Characteristic<UInt8>(ScenarioUUID.value, value: 1) }
            Advertisement(
                localName: "Declared",
                services: [.battery],
                manufacturerData: [0xFFFF: [1, 2, 3]],
                serviceData: [.battery: [98]],
                appearance: 0x0340
            )
        }
        return scenarioRun("Declared", of: peripheral) { payload in
            try expect("services", payload.services, is: [.battery])
            try expect("manufacturer data", payload.manufacturerData, is: [0xFFFF: [1, 2, 3]])
            try expect("service data", payload.serviceData, is: [.battery: [98]])
            try expect("appearance", payload.appearance, is: 0x0340)
        }
    }

    static let hiddenAdvertisement = Scenario(
        "what is not discoverable says only that it is Low Energy alone"
    ) {
        let peripheral = Peripheral("Hidden") {
            GATTService(.battery) { Characteristic<UInt8>(0x2A19, value: 99) }
            Advertisement(discoverability: .never)
        }
        return scenarioRun("Hidden", of: peripheral) { payload in
            try expect(
                "flags",
                payload.flags?.rawValue ?? 0,
                is: AdvertisingFlags.classicNotSupported.rawValue
            )
        }
    }

    private static func longName(_ name: String, cutTo expected: String) -> Scenario {
        Scenario("a name of \(name.utf8.count) bytes is cut to \(expected.utf8.count)") {
            let peripheral = Peripheral(name) {
                GATTService(.battery) { Characteristic<UInt8>(0x2A19, value: 99) }
            }
            return scenarioRun(expected, of: peripheral) { payload in
                try expect("services", payload.services, is: [.battery])
            }
        }
    }

    // MARK: Changes

    /// Scans for up to 10 seconds until the result meets the condition.
    ///
    /// A stack may apply a change later than it accepts this change.
    static func scan(
        by central: any TestCentral,
        until name: String,
        _ isMeant: ([AdvertisementPayload]) -> Bool
    ) async throws {
        var heard: [AdvertisementPayload] = []
        let end = ContinuousClock.now + .seconds(10)
        repeat {
            heard = try await central.scan().map(\.payload)
            if isMeant(heard) { return }
            try await Task.sleep(for: .milliseconds(5))
        } while ContinuousClock.now < end
        throw ConformanceFailure(description: "\(name): received \(heard).")
    }

    static let changedAdvertisement = Scenario("what is advertised changes while it is on the air") {
        let peripheral = Peripheral("Before") {
            GATTService(.battery) { Characteristic<UInt8>(0x2A19, value: 99) }
            Advertisement(manufacturerData: [0xFFFF: [1]])
        }
        return ScenarioRun(peripheral, mtu: nil) { central, session in
            for number in 2...5 as ClosedRange<UInt8> {
                try await session.changeAdvertisement { $0.manufacturerData[0xFFFF] = [number, number] }
                try await scan(by: central, until: "manufacturer data \(number)") {
                    $0.map(\.manufacturerData) == [[0xFFFF: [number, number]]]
                }
            }
            // Several fields change at once: some are removed, and some require a new registration.
            let new = Advertisement(
                localName: "After",
                services: [],
                serviceData: [.battery: [7]],
                appearance: 0x0340
            )
            try await session.advertise(new)
            try await scan(by: central, until: "all at once") { heard in
                heard.map(\.localName) == ["After"] && heard.map(\.services) == [[]]
                    && heard.map(\.manufacturerData) == [[:]] && heard.map(\.serviceData) == [[.battery: [7]]]
                    && heard.map(\.appearance) == [0x0340]
            }
            try await session.changeAdvertisement { ($0.appearance, $0.discoverability) = (nil, .never) }
            try await scan(by: central, until: "less") { heard in
                heard.map(\.appearance) == [nil]
                    && heard.first?.flags?.contains(.generalDiscoverable) == false
            }
            // A central can connect as before.
            try await central.connect(mtu: 517)
            try expect(
                "services",
                try await central.discover().applicationServices.map(\.uuid),
                is: [.battery]
            )
        }
    }

    static let stoppedAdvertising = Scenario(
        "what is no longer advertised is served and can be advertised again"
    ) {
        let value = Characteristic<UInt8>(0x2A19, value: 99)
        let peripheral = Peripheral("Lamp") { GATTService(.battery) { value } }
        return ScenarioRun(peripheral) { central, session in
            try await session.stopAdvertising()
            try expect("state", session.state.isRegistered, is: true)
            try expect("advertising", session.state.isAdvertising, is: false)
            try expect("value", try await central.read(value), is: 99)
            try await central.disconnect()
            try await scan(by: central, until: "nothing") { $0.isEmpty }
            try await session.advertise()
            try await scan(by: central, until: "the name") { $0.map(\.localName) == ["Lamp"] }
            try await central.connect(mtu: 517)
            try expect("value", try await central.read(value), is: 99)
        }
    }

    static let addedAdvertisement = Scenario("a second advertisement comes and goes beside the first") {
        let peripheral = Peripheral("Lamp") {
            GATTService(.battery) { Characteristic<UInt8>(0x2A19, value: 99) }
        }
        return ScenarioRun(peripheral, mtu: nil) { central, session in
            let beacon = Advertisement(
                .broadcast,
                localName: "",
                services: [],
                manufacturerData: [0x004C: [2, 21]]
            )
            try await session.advertise(Advertisement(), beacon)
            try await scan(by: central, until: "both") { heard in
                Set(heard.map(\.localName)) == ["Lamp", nil]
                    && heard.contains { $0.manufacturerData == [0x004C: [2, 21]] }
            }
            try await session.advertise()
            try await scan(by: central, until: "the first") { $0.map(\.localName) == ["Lamp"] }
        }
    }

    static let advertisedServicesFollow = Scenario(
        "the advertised services are those that the peripheral has after each change"
    ) {
        let gateway = Gateway()
        return ScenarioRun(gateway.peripheral, mtu: nil) { central, session in
            func expectAdvertised(_ sensors: GatewaySensor...) async throws {
                let services = Set(sensors.map(\.uuid) + [ScenarioUUID.service])
                try await scan(by: central, until: "services \(services)") { heard in
                    heard.map(\.localName) == ["Gateway"] && heard.map { Set($0.services) } == [services]
                }
            }
            let sensors = (0..<3).map { GatewaySensor(UInt8($0)) }
            try await expectAdvertised()
            try await session.add { sensors[0] }
            try await expectAdvertised(sensors[0])
            try await session.add { sensors[1] }
            try await expectAdvertised(sensors[0], sensors[1])
            try await session.replace(sensors[0]) { sensors[2] }
            try await expectAdvertised(sensors[1], sensors[2])
            try await session.remove(sensors[1])
            try await expectAdvertised(sensors[2])
            try await session.remove(sensors[2])
            try await expectAdvertised()
            // A central can connect as before.
            try await central.connect(mtu: 517)
            try expect("services", try await central.serviceTypes(), is: [ScenarioUUID.service])
        }
    }
}
