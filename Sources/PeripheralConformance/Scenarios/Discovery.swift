internal import PeripheralCore
internal import PeripheralKit
internal import PeripheralTesting
internal import PeripheralVirtualServer

extension ConformanceSuite {
    static let discovery: [Scenario] = [
        databaseAsDeclared, handlesAscend, repeatedTypesKeepTheirPlaces, deviceName, deviceNameOfTheFirst,
    ]

    static let deviceName = Scenario("a central reads the name of the peripheral as the name of the device") {
        ScenarioRun(lamp("Lamp of the Scenario"), runs: 2) { central, _ in
            try expect("name", try await name(by: central), is: "Lamp of the Scenario")
        }
    }

    static let deviceNameOfTheFirst = Scenario("the device has the name of the first of two peripherals") {
        ScenarioRun(lamp("Second")) { central, _ in
            try expect("name", try await name(by: central), is: "First")
        }
        .beside(lamp("First", id: "first"))
    }

    private static func lamp(_ name: String, id: String? = nil) -> Peripheral {
        Peripheral(name, restorationIdentifier: id) {
            GATTService(.battery) { Characteristic<UInt8>(0x2A19, value: 99) }
        }
    }

    private static func name(by central: any TestCentral) async throws -> String {
        let characteristics = try await central.discover().services.flatMap(\.characteristics)
        guard let name = characteristics.first(where: { $0.uuid == .deviceName }) else {
            throw ConformanceFailure(description: "The device has no name.")
        }
        return String(decoding: try await central.read(name.valueHandle, offset: 0), as: UTF8.self)
    }

    static let databaseAsDeclared = Scenario("the central discovers exactly what is declared, in its order") {
        let peripheral = Peripheral("Database") {
            GATTService(0x180D) {
                Characteristic<[UInt8]>(0x2A37, .notify)
                Characteristic<UInt8>(0x2A38, value: 1)
                Characteristic<UInt8>(0x2A39, .write) { Write { _ in } }
            }
            GATTService(ScenarioUUID.service) {
                Characteristic<[UInt8]>(
                    ScenarioUUID.value,
                    [.read, .write, .writeWithoutResponse, .notify, .indicate]
                ) {
                    Read { [] }
                    Write { _ in }
                    UserDescription("Everything")
                    Descriptor<UInt8>(ScenarioUUID.descriptor, value: 1)
                }
                Characteristic<[UInt8]>(ScenarioUUID.otherValue, .indicate)
            }
        }
        return ScenarioRun(peripheral) { central, _ in
            let services = try await central.discover().applicationServices
            try expect("services", services.map(\.uuid), is: [0x180D, ScenarioUUID.service])
            for (service, declared) in zip(services, peripheral.services) {
                try expect(
                    "characteristics of \(service.uuid)",
                    service.characteristics.map(\.uuid),
                    is: declared.characteristics.map(\.uuid)
                )
                for (characteristic, declared) in zip(service.characteristics, declared.characteristics) {
                    try expect(
                        "properties of \(characteristic.uuid)",
                        characteristic.properties,
                        is: declared.properties
                    )
                }
            }
            let descriptors = services.flatMap(\.characteristics).map { $0.descriptors.map(\.uuid) }
            let configuration = BluetoothUUID.clientCharacteristicConfiguration
            try expect(
                "descriptors",
                descriptors,
                is: [
                    [configuration], [], [],
                    [configuration, .characteristicUserDescription, ScenarioUUID.descriptor],
                    [configuration],
                ]
            )
        }
    }

    static let handlesAscend = Scenario("handles ascend, within the range of their service") {
        let peripheral = Peripheral("Handles") {
            for uuid: BluetoothUUID in [0x180F, ScenarioUUID.service] {
                GATTService(uuid) {
                    Characteristic<UInt8>(ScenarioUUID.value, [.read, .notify]) {
                        Read { 1 }
                        UserDescription("One")
                    }
                    Characteristic<UInt8>(ScenarioUUID.otherValue, value: 2)
                }
            }
        }
        return ScenarioRun(peripheral) { central, _ in
            var previous = AttributeHandle(rawValue: 0)
            for service in try await central.discover().services {
                let handles =
                    [service.handles.lowerBound]
                    + service.characteristics.flatMap { characteristic in
                        [characteristic.declarationHandle, characteristic.valueHandle]
                            + characteristic.descriptors.map(\.handle)
                    }
                for handle in handles {
                    try expect("\(handle) is beyond \(previous)", handle > previous, is: true)
                    try expect("\(handle) is in its service", service.handles.contains(handle), is: true)
                    previous = handle
                }
                previous = service.handles.upperBound
            }
        }
    }

    static let repeatedTypesKeepTheirPlaces = Scenario(
        "characteristics of one type are distinguished by their position"
    ) {
        let values = (0..<4).map { number in
            Characteristic<UInt8>(ScenarioUUID.value, value: UInt8(number))
        }
        let peripheral = Peripheral("Twins") {
            GATTService(ScenarioUUID.service) { values[0...1].map(\.self) }
            GATTService(ScenarioUUID.service) { values[2...3].map(\.self) }
        }
        return ScenarioRun(peripheral) { central, _ in
            for (number, value) in values.enumerated() {
                try expect("value of the twin \(number)", try await central.read(value), is: UInt8(number))
            }
        }
    }
}
