import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

/// Elements with the same UUID, services without characteristics, and names that are too long.
///
/// All of them are legal, and each of them is probably a mistake.
extension ValidationTests {
    private static func level(_ parts: UserDescription? = nil) -> Characteristic<UInt8> {
        Characteristic<UInt8>(0x2A19, [.read, .notify]) {
            Read { 50 }
            if let parts { parts }
        }
    }

    private static func issues(@PeripheralBuilder _ content: () -> [PeripheralElement]) -> [String] {
        Peripheral("P", content).validate().map(\.description)
    }

    @Test func equalCharacteristicsOfAServiceAreReported() {
        let expected = [
            "warning: characteristic 2a19 of service 180f: characteristics 1 and 3 of the service have this UUID, and "
                + "nothing distinguishes them for a central; give each characteristic its own UUID, or a different "
                + "UserDescription"
        ]
        let issues = Self.issues {
            GATTService(0x180F) {
                Self.level()
                Characteristic<UInt8>(0x2A1A, value: 1)
                Self.level()
            }
        }
        #expect(issues == expected)
        let described = Self.issues {
            GATTService(0x180F) {
                Self.level(UserDescription("Left"))
                Self.level(UserDescription("Left"))
            }
        }
        #expect(described.count == 1)
        #expect(described.first?.hasPrefix("warning: characteristic 2a19 \"Left\" of service 180f: ") == true)
    }

    @Test func descriptorsDistinguishEqualCharacteristics() {
        let changing = Characteristic<UInt8>(0x2A19, .notify) {
            Descriptor<String>(.characteristicUserDescription) { Read { "Right" } }
        }
        let referenced = [1, 2].map { (number: UInt8) in
            Characteristic<UInt8>(0x2A19, .notify) {
                Descriptor<[UInt8]>(.reportReference, value: [number, 1])
            }
        }
        let issues = Self.issues {
            GATTService(0x180F) {
                Self.level()
                Self.level(UserDescription("Left"))
                Self.level(UserDescription("Right"))
                changing
                referenced[0]
                referenced[1]
            }
        }
        #expect(issues == [])
    }

    @Test func equalCharacteristicsOfTwoServicesAreNotReported() {
        let issues = Self.issues {
            GATTService(0x180F) { Self.level() }
            GATTService(0x181A) { Self.level() }
        }
        #expect(issues == [])
    }

    @Test func equalServicesAreReported() {
        let issues = Self.issues {
            GATTService(0x180F) { Self.level() }
            GATTService(0x180A) { Characteristic<UInt8>(0x2A50, value: 1) }
            GATTService(0x180F) { Characteristic<UInt8>(0x2A1A, .notify) }
        }
        #expect(
            issues == [
                "warning: service 180f: services 1 and 3 of the peripheral have this UUID, and nothing "
                    + "distinguishes them for a central; give each service its own UUID, or describe a characteristic of each with a "
                    + "UserDescription"
            ]
        )
    }

    @Test func constantsDistinguishEqualServices() {
        let described = Self.issues {
            GATTService(0x180F) { Self.level(UserDescription("Left")) }
            GATTService(0x180F) { Self.level(UserDescription("Right")) }
        }
        #expect(described == [])
        let constant = Self.issues {
            GATTService(0x180F) { Characteristic<UInt8>(0x2A38, value: 1) }
            GATTService(0x180F) { Characteristic<UInt8>(0x2A38, value: 2) }
        }
        #expect(constant == [])
    }

    @Test func anEmptyServiceIsReported() {
        let battery = GATTService(0x180F) { Self.level() }
        let issues = Self.issues {
            battery
            GATTService(0x181A) {}
            // A service can consist of included services.
            GATTService(0x180D, includes: [battery]) {}
        }
        #expect(
            issues == [
                "warning: service 181a: it has no characteristics, so centrals cannot do anything with it; "
                    + "add a Characteristic, or leave out the service"
            ]
        )
    }

    @Test func aCharacteristicHasItsUserDescriptionAsName() {
        let issues = Self.issues {
            GATTService(0x180F) { Characteristic<UInt8>(0x2A19, .write) { UserDescription("Moisture") } }
        }
        #expect(
            issues == [
                "error: characteristic 2a19 \"Moisture\" of service 180f: it is writable but nothing takes the value; "
                    + "add Write { … }, WriteStream() or ControlPoint { … }"
            ]
        )
    }

    /// The peripheral's own name, and the name of an advertisement.
    @Test(arguments: [29, 30, 248])
    func aNameThatIsCutIsReported(length: Int) {
        let name = String(repeating: "x", count: length)
        let warning =
            "warning: local name of the advertisement: only its first 29 bytes fit; choose a name of at most 29 "
            + "bytes"
        let expected = length > 29 ? [warning] : []
        let own = Peripheral(name) { GATTService(0x180F) { Self.level() } }
        #expect(own.validate().map(\.description) == expected)
        let issues = Self.issues {
            GATTService(0x180F) { Self.level() }
            Advertisement(localName: name)
        }
        #expect(issues == expected)
    }

    @Test func aServiceIsStillAdvertisedWithANameThatIsCut() async throws {
        let peripheral = Peripheral(String(repeating: "x", count: 40)) {
            GATTService(0x180F) { Self.level() }
        }
        try await peripheral.test(logger: .silent) { central in
            #expect(central.scan().map(\.payload.services) == [[0x180F]])
        }
    }
}
