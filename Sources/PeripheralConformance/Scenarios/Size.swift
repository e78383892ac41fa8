internal import PeripheralCore
internal import PeripheralKit
internal import PeripheralTesting
internal import PeripheralVirtualServer

extension ConformanceSuite {
    static let size: [Scenario] = [manyServices]

    static let manyServices = Scenario("200 services with 2000 characteristics are discovered and read") {
        let services = (0..<200 as Range<UInt16>).map { BluetoothUUID(0xA000 + $0) }
        let values = services.indices.map { service in
            (0..<10).map { number in
                let place = UInt16(10 * service + number)
                return Characteristic<UInt16>(BluetoothUUID(0xB000 + place), .read) { Read { place } }
            }
        }
        let peripheral = Peripheral("Many") {
            for (service, values) in zip(services, values) {
                GATTService(service) { values }
            }
            // The UUIDs of so many services do not fit into the advertisement.
            Advertisement(services: [])
        }
        return ScenarioRun(peripheral) { central, _ in
            let found = try await central.knownDatabase().applicationServices
            try expect("services", found.map(\.uuid), is: services)
            try expect(
                "characteristics",
                found.map { $0.characteristics.map(\.uuid) },
                is: values.map { $0.map(\.uuid) }
            )
            for place: UInt16 in [0, 9, 10, 999, 1000, 1990, 1999] {
                let value = values[Int(place / 10)][Int(place % 10)]
                try expect("value \(place)", try await central.read(value), is: place)
            }
        }
    }
}
