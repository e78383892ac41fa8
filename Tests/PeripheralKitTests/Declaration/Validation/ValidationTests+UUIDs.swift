import PeripheralKit

extension ValidationTests {
    private static let formOfUUID =
        "write 4 or 8 hexadecimal digits, or 32 in groups of 8, 4, 4, 4 and 12 with hyphens"

    static let malformedUUIDs: [Case] = [
        Case(
            testDescription: "UUID of a service",
            peripheral: Peripheral("P") { GATTService("18OF") { Characteristic<UInt8>(0x2A19, value: 1) } },
            element: "service \"18OF\" (not a UUID)",
            reason: "\"18OF\" does not have the form of a UUID",
            remedy: formOfUUID
        ),
        about(
            "UUID of a characteristic",
            Characteristic<UInt8>("0x2A19", value: 1),
            "\"0x2A19\" does not have the form of a UUID",
            formOfUUID
        ),
        about(
            "UUID of a descriptor",
            Characteristic<UInt8>(0x2A19, value: 1) { Descriptor<UInt8>("5c3a0002-7e3c", value: 1) },
            descriptor: "\"5c3a0002-7e3c\" (not a UUID)",
            "\"5c3a0002-7e3c\" does not have the form of a UUID",
            formOfUUID
        ),
        Case(
            testDescription: "UUID of an advertised service",
            peripheral: Peripheral("P") {
                GATTService(0x180F) { Characteristic<UInt8>(0x2A19, value: 1) }
                Advertisement(services: ["18OF"])
            },
            element: "services of the advertisement",
            reason: "\"18OF\" does not have the form of a UUID",
            remedy: formOfUUID
        ),
        Case(
            testDescription: "UUID of service data",
            peripheral: Peripheral("P") {
                Advertisement(.broadcast, services: [], scanResponse: .init(serviceData: ["18OF": [1]]))
            },
            element: "service data of the advertisement",
            reason: "\"18OF\" does not have the form of a UUID",
            remedy: formOfUUID
        ),
    ]
}
