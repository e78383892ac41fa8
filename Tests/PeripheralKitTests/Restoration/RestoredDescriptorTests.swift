import PeripheralCore
import PeripheralTesting
import Testing

@testable import PeripheralKit

/// The descriptors of a peripheral that is declared from what is preserved of it.
@Suite(.timeLimit(.minutes(1)))
struct RestoredDescriptorTests {
    private static let identifier = "com.example.scale"
    private static let service: BluetoothUUID = "5c3a0011-7e3c-4b6e-9d29-b3f1c0a1d001"
    private static let detail: BluetoothUUID = "5c3a0031-7e3c-4b6e-9d29-b3f1c0a1d001"

    private let store = InMemoryRestorationStore()
    private let backend = InMemoryBackend()

    private func peripheral(@ServiceBuilder _ content: () -> [ServiceElement]) -> Peripheral {
        Peripheral("Scale", restorationIdentifier: Self.identifier, pairing: .justWorks) {
            GATTService(Self.service, content)
        }
    }

    private let detailed = Characteristic<UInt8>(0x2A1A, [.read, .write]) {
        PersistentValue(initially: 1)
        Descriptor<UInt8>(detail, security: .encrypted) {
            Read { 3 }
            Write { _ in }
        }
    }

    @Test func oneWithoutAHandlerIsNamed() async throws {
        let preserved = try await store.preserved(of: peripheral { detailed }, on: backend)
        let element = "descriptor \(Self.detail) of characteristic 2a1a of service \(Self.service)"
        #expect(preserved.again().erroneousElements == [element])
        let bare = try preserved.characteristic(0x2A1A, as: UInt8.self) { PersistentValue(initially: 1) }
        #expect(preserved.again { bare }.erroneousElements == [element])
    }

    @Test func oneWithAHandlerIsAsItWas() async throws {
        let preserved = try await store.preserved(of: peripheral { detailed }, on: backend)
        let given = try preserved.characteristic(0x2A1A, as: UInt8.self) {
            PersistentValue(initially: 1)
            Descriptor<UInt8>(Self.detail) {
                Read { 4 }
                Write { _ in }
            }
        }
        let again = preserved.again { given }
        #expect(again.validate().isEmpty)
        #expect(again.services[0].characteristics[0].descriptors.map(\.security) == [.encrypted])
    }

    @Test func oneOfAnotherAccessOrTypeIsNamed() async throws {
        let preserved = try await store.preserved(of: peripheral { detailed }, on: backend)
        let given = try preserved.characteristic(0x2A1A, as: UInt8.self) {
            PersistentValue(initially: 1)
            Descriptor<UInt8>(Self.detail) { Read { 4 } }
            UserDescription("Weight")
        }
        let elements = [
            "descriptor \(Self.detail) of characteristic 2a1a of service \(Self.service)",
            "descriptor 2901 of characteristic 2a1a of service \(Self.service)",
        ]
        #expect(preserved.again { given }.erroneousElements == elements)
    }

    @Test func anAggregateFormatIsAsItWas() async throws {
        let weight = Characteristic<[UInt8]>(0x2A1A, .read) {
            Read { [1, 2] }
            PresentationFormat(.uint8, exponent: 1)
            PresentationFormat(.uint8, exponent: 2)
            AggregateFormat()
        }
        let preserved = try await store.preserved(of: peripheral { weight }, on: backend)
        let given = try preserved.characteristic(0x2A1A, as: [UInt8].self) { Read { [1, 2] } }
        let again = preserved.again { given }
        #expect(again.validate().isEmpty)
        #expect(try await formats(of: again) == [0, 1])
    }

    @Test func anAggregateFormatNamesTheFormatsThatItNamed() async throws {
        let first = PresentationFormat(.uint8, exponent: 1)
        let second = PresentationFormat(.uint8, exponent: 2)
        let weight = Characteristic<[UInt8]>(0x2A1A, .read) {
            Read { [1, 2] }
            first
            AggregateFormat(of: second, first)
        }
        let height = Characteristic<UInt8>(0x2A1B, .read) {
            Read { 1 }
            second
        }
        let preserved = try await store.preserved(
            of: peripheral {
                weight
                height
            },
            on: backend
        )
        let given = try preserved.characteristic(0x2A1A, as: [UInt8].self) { Read { [1, 2] } }
        let other = try preserved.characteristic(0x2A1B, as: UInt8.self) { Read { 1 } }
        let again = preserved.again {
            given
            other
        }
        #expect(again.validate().isEmpty)
        #expect(try await formats(of: again) == [1, 0])
    }

    /// The places of the presentation formats that the aggregate format of a peripheral on the air names.
    private func formats(of peripheral: Peripheral) async throws -> [Int?] {
        try await peripheral.run(on: backend, restoringFrom: store, logger: .silent) { [backend] _ in
            let central = backend.makeCentral(of: peripheral)
            try await central.connect()
            let descriptors = try await central.discover().services.flatMap(\.characteristics)
                .flatMap(\.descriptors)
            let formats = descriptors.filter { $0.uuid == .characteristicPresentationFormat }.map(\.handle)
            let aggregate = try #require(descriptors.first { $0.uuid == .characteristicAggregateFormat })
            let value = try await central.read(aggregate.handle, offset: 0)
            return stride(from: 0, to: value.count, by: 2).map { place in
                formats.firstIndex { $0.rawValue == UInt16(value[place]) | UInt16(value[place + 1]) << 8 }
            }
        }
    }
}
