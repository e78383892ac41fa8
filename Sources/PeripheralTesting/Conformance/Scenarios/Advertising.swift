internal import PeripheralCore
internal import PeripheralKit

extension ConformanceSuite {
    static let advertising: [Scenario] = [
        derivedAdvertisement, declaredAdvertisement, hiddenAdvertisement,
        longName("A peripheral with a name of too many bytes", cutTo: "A peripheral with a name of t"),
        longName("ééééééééééééééé", cutTo: "éééééééééééééé"),
    ]

    /// A trial of what a scan finds of a peripheral.
    private static func trial(
        _ name: String,
        of peripheral: Peripheral,
        _ check: @escaping @Sendable (AdvertisementPayload) throws -> Void
    ) -> Trial {
        Trial(peripheral, mtu: nil) { central, _ in
            let results = try await central.scan()
            guard let result = results.first(where: { $0.payload.localName == name }) else {
                throw ConformanceFailure(
                    description:
                        "Nothing on the air is named \(name), but only \(results.map(\.payload.localName))."
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
        return trial("Derived", of: peripheral) { payload in
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
        return trial("Declared", of: peripheral) { payload in
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
        return trial("Hidden", of: peripheral) { payload in
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
            return trial(expected, of: peripheral) { payload in
                try expect("services", payload.services, is: [.battery])
            }
        }
    }
}
