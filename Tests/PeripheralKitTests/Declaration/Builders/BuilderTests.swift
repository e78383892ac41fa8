import PeripheralKit
import Testing

@Suite(.timeLimit(.minutes(1)))
struct BuilderTests {
    private static func declare(extended: Bool, channels: Int) -> Peripheral {
        Peripheral("Lamp") {
            GATTService(0x180F) { Characteristic<UInt8>(0x2A19, value: 99) }
            if extended {
                GATTService(0x180A) { Characteristic<String>(0x2A29, value: "Acme") }
            }
            for channel in 0..<channels {
                GATTService("5c3a0001-7e3c-4b6e-9d29-b3f1c0a1d001") {
                    if channel == 0 {
                        Characteristic<UInt8>(0x2A01, value: 0)
                    } else {
                        Characteristic<UInt8>(0x2A02, value: 1)
                    }
                    for number in 0..<channel {
                        Characteristic<UInt8>(0x2A03, .read) {
                            Read { UInt8(number) }
                            if extended { UserDescription("Channel") }
                        }
                    }
                }
            }
        }
    }

    private static func outline(_ peripheral: Peripheral) -> [String] {
        peripheral.services.map { service in
            "\(service.uuid): " + service.characteristics.map(\.uuid.description).joined(separator: " ")
        }
    }

    @Test func elementsKeepTheirOrder() {
        let lamp = "5c3a0001-7e3c-4b6e-9d29-b3f1c0a1d001"
        #expect(
            Self.outline(Self.declare(extended: true, channels: 3)) == [
                "180f: 2a19", "180a: 2a29", "\(lamp): 2a01", "\(lamp): 2a02 2a03", "\(lamp): 2a02 2a03 2a03",
            ]
        )
        #expect(Self.outline(Self.declare(extended: false, channels: 0)) == ["180f: 2a19"])
    }

    @Test(arguments: [true, false])
    func descriptorsMayBeConditional(extended: Bool) {
        let peripheral = Self.declare(extended: extended, channels: 2)
        let descriptors = peripheral.services.last?.characteristics.last?.descriptors.map(\.uuid)
        #expect(descriptors == (extended ? [.characteristicUserDescription] : []))
    }

    @Test func listsOfOneTypeAreTaken() {
        let values = (0..<3).map { Characteristic<UInt8>(0x2A19, value: $0) }
        let services = [
            GATTService(0x180F) { values[0..<2].map(\.self) },
            GATTService(0x180F) { values[2] },
        ]
        let peripheral = Peripheral("Lists") { services }
        #expect(Self.outline(peripheral) == ["180f: 2a19 2a19", "180f: 2a19"])
    }

    @Test func readyMadeServicesAreTaken() {
        struct Lamp: GATTServiceDeclaration {
            let power = Characteristic<Bool>(0x2A56, .notify)
            var service: GATTService { GATTService(0x1815) { power } }
        }
        let lamp = Lamp()
        let peripheral = Peripheral("Ready") { lamp }
        #expect(Self.outline(peripheral) == ["1815: 2a56"])
        #expect(peripheral.services[0].characteristics[0].identity == lamp.power.declaration.identity)
    }

    @Test func aStaticValueIsReadable() {
        let value = Characteristic<UInt16>(0x2A19, value: 0x0102)
        #expect(value.properties == .read)
        #expect(value.declaration.access.isStatic)
    }
}
