import PeripheralCore
import PeripheralTesting
import Synchronization
import TestSupport
import Testing

@testable import PeripheralKit

/// Issues name a characteristic by its constant user description, wherever the issue comes from.
@Suite(.timeLimit(.minutes(1)))
struct ElementNameTests {
    /// A text of 40 bytes.
    private static let twenty = String(repeating: "é", count: 20)

    @Test(
        arguments: [
            (nil, "characteristic 2a19"),
            ("Moisture", "characteristic 2a19 \"Moisture\""),
            ("", "characteristic 2a19 \"\""),
            (twenty, "characteristic 2a19 \"\(twenty)\""),
            ("x\(twenty)", "characteristic 2a19 \"x\(twenty.dropLast())…\""),
        ] as [(String?, String)]
    )
    func theNameQuotesTheBeginningOfTheDescription(description: String?, name: String) {
        #expect(ElementName.characteristic(0x2A19, description) == name)
        #expect(ElementName.characteristic(0x2A19, description, of: 0x180F) == "\(name) of service 180f")
    }

    private static func peripheral(_ services: [GATTService]) -> Peripheral {
        Peripheral("Garden", restorationIdentifier: "com.example.garden") {
            for service in services { service }
        }
    }

    private static func service(_ uuid: BluetoothUUID, _ descriptions: String...) -> GATTService {
        GATTService(uuid) {
            for description in descriptions {
                Characteristic<UInt8>(0x2A19, value: 1) {
                    if !description.isEmpty { UserDescription(description) }
                }
            }
        }
    }

    /// The user descriptions of a publication, in the order of its table.
    private static func descriptions(of publication: BackendPublication) -> [[String?]] {
        publication.table.services.enumerated().map { index, service in
            service.characteristics.indices.map { position in
                let handle = publication.table.valueHandle(service: index, characteristic: position)
                return publication.userDescriptions[handle]
            }
        }
    }

    @Test func aBackendReceivesTheDescriptionsOfTheServicesInTheirOrder() async throws {
        let store = InMemoryRestorationStore()
        let (garden, house) = (Self.service(0x181A, "Soil", "", "Air"), Self.service(0x181B, "Cellar"))
        for services in [[garden, house], [house, garden]] {
            let received = Mutex<[[String?]]>([])
            let backend = ScriptedBackend { publication, host in
                let found = Self.descriptions(of: publication)
                #expect(found == Self.descriptions(of: publication.with(publication.services)))
                received.withLock { $0 = found }
                host.handle(.published(PublishedPeripheral(link: RecordingLink())))
            }
            try await Self.peripheral(services).run(on: backend, restoringFrom: store) { _ in }
            #expect(received.withLock { $0.contains(["Soil", nil, "Air"]) && $0.contains(["Cellar"]) })
        }
    }

    @Test func anIssueOfAPreservedPeripheralNamesTheDescription() async throws {
        let store = InMemoryRestorationStore()
        let value = Characteristic<UInt8>(0x2A19, [.read, .write]) {
            PersistentValue(initially: 1)
            Authorization { true }
            UserDescription("Moisture")
        }
        let peripheral = Self.peripheral([GATTService(0x181A) { value }])
        let preserved = try await store.preserved(of: peripheral, on: InMemoryBackend())
        let elements = preserved.again().validate().map(\.element)
        #expect(elements == ["characteristic 2a19 \"Moisture\" of service 181a"])
    }
}
