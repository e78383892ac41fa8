import PeripheralCore
import PeripheralTesting
import Testing

@testable import PeripheralKit

/// A peripheral that is declared from what is preserved of it is as it was, or does not run.
@Suite(.timeLimit(.minutes(1)))
struct PreservedPeripheralTests {
    private static let identifier = "com.example.safe"
    private static let service: BluetoothUUID = "5c3a0011-7e3c-4b6e-9d29-b3f1c0a1d001"
    private static let other: BluetoothUUID = "5c3a0021-7e3c-4b6e-9d29-b3f1c0a1d001"

    private let store = InMemoryRestorationStore()

    private func peripheral(@PeripheralBuilder _ content: () -> [PeripheralElement]) -> Peripheral {
        Peripheral("Safe", restorationIdentifier: Self.identifier, pairing: .justWorks, content)
    }

    // MARK: Authorization

    private let guarded = Characteristic<UInt8>(0x2A1A, [.read, .write]) {
        PersistentValue(initially: 1)
        Authorization { false }
    }

    @Test func whoWasAskedIsRefusedWhereNobodyIsToBeAsked() async throws {
        let preserved = try await store.preserved(of: peripheral { GATTService(Self.service) { guarded } })
        let again = preserved.again()
        #expect(again.erroneousElements == ["characteristic 2a1a of service \(Self.service)"])
        let ask = try #require(again.services[0].characteristics[0].access.authorizationHandlers.first)
        #expect(try await ask(Central(address: .numbered(1))) == false)
        await #expect(throws: DeclarationError.self) {
            try await again.run(on: InMemoryBackend(), restoringFrom: store, logger: .silent) { _ in }
        }
    }

    @Test func aHandlerAloneDoesNotAuthorize() async throws {
        let preserved = try await store.preserved(of: peripheral { GATTService(Self.service) { guarded } })
        let open = try preserved.characteristic(0x2A1A, as: UInt8.self) { PersistentValue(initially: 1) }
        let unasked = preserved.again { open }
        #expect(unasked.erroneousElements == ["characteristic 2a1a of service \(Self.service)"])
        #expect(unasked.services[0].characteristics[0].access.authorizationHandlers.count == 1)
        let closed = try preserved.characteristic(0x2A1A, as: UInt8.self) {
            PersistentValue(initially: 1)
            Authorization { false }
        }
        #expect(preserved.again { closed }.validate().isEmpty)
    }

    // MARK: Places

    /// Two characteristics of one type, of which the second demands more.
    private var two: Peripheral {
        let first = Characteristic<UInt8>(0x2A1A, [.read, .write]) { PersistentValue(initially: 1) }
        let second = Characteristic<UInt8>(0x2A1A, [.read, .write], security: .encrypted) {
            PersistentValue(initially: 2)
        }
        return peripheral {
            GATTService(Self.service) { first }
            GATTService(Self.other) { second }
        }
    }

    private func security(of peripheral: Peripheral) -> [AttributeSecurity] {
        peripheral.services.flatMap { $0.characteristics.map(\.security) }
    }

    @Test func eachOfOneTypeKeepsItsSecurity() async throws {
        let preserved = try await store.preserved(of: two)
        let first = try preserved.characteristic(0x2A1A, as: UInt8.self) { PersistentValue(initially: 1) }
        let same = try preserved.characteristic(0x2A1A, as: UInt8.self) { PersistentValue(initially: 2) }
        let again = preserved.again {
            first
            same
        }
        #expect(security(of: again) == [.open, .encrypted])
        // There is one place for the two of them.
        #expect(again.erroneousElements == ["characteristic 2a1a of service \(Self.service)"])
    }

    @Test func oneOfSeveralIsFoundByItsServiceAndPlace() async throws {
        let preserved = try await store.preserved(of: two)
        let first = try preserved.characteristic(0x2A1A, ofService: Self.service, as: UInt8.self) {
            PersistentValue<UInt8>(initially: 1)
        }
        let byService = try preserved.characteristic(0x2A1A, ofService: Self.other) {
            PersistentValue<UInt8>(initially: 2)
        }
        let byPlace = try preserved.characteristic(0x2A1A, occurrence: 1) {
            PersistentValue<UInt8>(initially: 2)
        }
        for second in [byService, byPlace] {
            #expect(second.security == .encrypted)
            // In whatever order they are given.
            let again = preserved.again {
                second
                first
            }
            #expect(security(of: again) == [.open, .encrypted])
            #expect(again.services[1].characteristics[0].identity == second.declaration.identity)
            #expect(again.erroneousElements.isEmpty)
        }
    }

    @Test(arguments: [-1, 2]) func aPlaceThatIsNotThereIsRefused(occurrence: Int) async throws {
        let preserved = try await store.preserved(of: two)
        let error = #expect(throws: PeripheralError.self) {
            try preserved.characteristic(0x2A1A, occurrence: occurrence, as: UInt8.self) {}
        }
        #expect(error?.code == .notDeclared)
        #expect(throws: PeripheralError.self) {
            try preserved.characteristic(0x2A1A, ofService: .battery, as: UInt8.self) {}
        }
    }

    @Test func oneThatIsNotOfWhatIsRestoredIsNamed() async throws {
        let preserved = try await store.preserved(of: two)
        let own = Characteristic<UInt8>(0x2A1A, [.read, .write]) { PersistentValue(initially: 1) }
        let again = preserved.again { own }
        #expect(again.erroneousElements == ["characteristic 2a1a"])
        #expect(security(of: again) == [.open, .encrypted])
    }

    /// What was preserved may be read, and then be preserved again, before a peripheral is declared.
    @Test func oneOfAnEarlierRunIsNamedWhereItDemandsLess() async throws {
        let earlier = try await store.preserved(
            of: peripheral {
                GATTService(Self.service) {
                    Characteristic<UInt8>(0x2A1A, [.read, .write]) { PersistentValue(initially: 1) }
                }
            }
        )
        let open = try earlier.characteristic(0x2A1A, as: UInt8.self) { PersistentValue(initially: 1) }
        let preserved = try await store.preserved(
            of: peripheral {
                GATTService(Self.service) {
                    Characteristic<UInt8>(0x2A1A, [.read, .write], security: .encrypted) {
                        PersistentValue(initially: 1)
                    }
                }
            }
        )
        let again = preserved.again { open }
        #expect(again.erroneousElements == ["characteristic 2a1a"])
        #expect(security(of: again) == [.encrypted])
    }
}
