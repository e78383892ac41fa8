import PeripheralKit
import Testing

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
            "UUID of five digits",
            Characteristic<UInt8>(0x12A19, value: 1),
            "the number 0x12A19 has 5 hexadecimal digits, so it is neither a UUID of 16 bits nor one of 32 bits",
            "write at most 4 hexadecimal digits for a UUID of 16 bits, or 8 in quotes for one of 32 bits"
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

    static let exchangedUUIDs: [Case] = [
        Case(
            testDescription: "a service with the UUID of a characteristic",
            peripheral: Peripheral("P") {
                GATTService(0x2A19) {
                    Characteristic<UInt8>("5c3a0002-7e3c-4b6e-9d29-b3f1c0a1d001", value: 1)
                }
            },
            severity: .warning,
            element: "service 2a19",
            reason: "2a19 is the UUID of a characteristic, not of a service",
            remedy: "use a UUID of a service: the Bluetooth SIG assigns 0x1800 to 0x18ff"
        ),
        about(
            "a characteristic with the UUID of a service",
            Characteristic<UInt8>(0x180F, value: 1),
            severity: .warning,
            "180f is the UUID of a service, not of a characteristic",
            "use a UUID of a characteristic: the Bluetooth SIG assigns 0x2a00 to 0x2cff"
        ),
        about(
            "a characteristic with the UUID of a descriptor",
            Characteristic<UInt8>(0x2901, value: 1),
            severity: .warning,
            "2901 is the UUID of a descriptor, not of a characteristic",
            "use a UUID of a characteristic: the Bluetooth SIG assigns 0x2a00 to 0x2cff"
        ),
        about(
            "a descriptor with the UUID of a characteristic",
            Characteristic<UInt8>(0x2A19, value: 1) { Descriptor<UInt8>(0x2A1A, value: 1) },
            severity: .warning,
            descriptor: "2a1a",
            "2a1a is the UUID of a characteristic, not of a descriptor",
            "use a UUID of a descriptor: the Bluetooth SIG assigns 0x2900 to 0x29ff"
        ),
    ]

    @Test func exchangedUUIDsAreNamed() {
        let peripheral = Peripheral("P") { GATTService(0x2A19) { Characteristic<UInt8>(0x180F, value: 1) } }
        let issues = peripheral.validate()
        #expect(issues.map(\.severity) == [.warning, .warning])
        #expect(
            issues.map(\.remedy) == [
                "exchange the UUID with that of characteristic 180f",
                "exchange the UUID with that of service 2a19",
            ]
        )
    }

    /// Members of the Bluetooth SIG, other organizations and programs have UUIDs for any element.
    @Test func otherUUIDsAreForAnyElement() {
        let peripheral = Peripheral("P") {
            GATTService(0xFE59) {
                Characteristic<UInt8>(0xFD44, value: 1)
                Characteristic<UInt8>(0x1816_0000, value: 1)
                Characteristic<UInt8>("5c3a0002-7e3c-4b6e-9d29-b3f1c0a1d001", value: 1)
            }
        }
        #expect(peripheral.validate() == [])
    }
}
