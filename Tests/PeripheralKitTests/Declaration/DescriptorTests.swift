import PeripheralCore
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct DescriptorTests {
    /// The bytes of the first descriptor of a characteristic.
    private static func bytes<Value>(_ characteristic: Characteristic<Value>) throws -> [UInt8] {
        let source = try #require(characteristic.declaration.descriptors.first?.access.readSources.first)
        guard case .value(let bytes) = source else {
            Issue.record("The descriptor has no value.")
            return []
        }
        return bytes
    }

    /// Core Specification, Vol 3, Part G, 3.3.3.5: format, exponent, unit, name space, description.
    @Test(
        arguments: [
            (PresentationFormat(.uint8), [0x04, 0x00, 0x00, 0x27, 0x01, 0x00, 0x00]),
            (
                PresentationFormat(.sint16, exponent: -2, unit: .degreeCelsius, description: .outside),
                [0x0E, 0xFE, 0x2F, 0x27, 0x01, 0x0C, 0x01]
            ),
            (PresentationFormat(.uint16, unit: 0x27C8), [0x06, 0x00, 0xC8, 0x27, 0x01, 0x00, 0x00]),
        ] as [(PresentationFormat, [UInt8])]
    )
    func aPresentationFormatHasSevenBytes(format: PresentationFormat, expected: [UInt8]) throws {
        let value = Characteristic<UInt8>(0x2A19, value: 1) { format }
        #expect(value.declaration.descriptors.map(\.uuid) == [0x2904])
        #expect(try Self.bytes(value) == expected)
    }

    @Test func aRangeHasTheTypeOfTheValue() throws {
        let byte = Characteristic<UInt8>(0x2A19, value: 1) { ValidRange(0...100) }
        #expect(byte.declaration.descriptors.map(\.uuid) == [0x2906])
        #expect(try Self.bytes(byte) == [0, 100])
        let number = Characteristic<Int16>(0x2A19, value: 1) { ValidRange(-2...0x1234) }
        #expect(try Self.bytes(number) == [0xFE, 0xFF, 0x34, 0x12])
        let fraction = Characteristic<Float>(0x2A19, value: 0.5) { ValidRange(0.0...1.0) }
        #expect(try Self.bytes(fraction) == [0, 0, 0, 0, 0, 0, 0x80, 0x3F])
    }

    /// The value of an aggregate format is the handles on the air, which are not those of the declaration.
    @Test func anAggregateFormatTellsTheHandlesOnTheAir() async throws {
        let shared = PresentationFormat(.uint8)
        let other = Characteristic<UInt8>(0x2A1A, value: 1) { shared }
        let own = Characteristic<[UInt8]>(0x2A19, [.read, .notify]) {
            Read { [1, 2] }
            PresentationFormat(.uint8)
            PresentationFormat(.uint8)
            AggregateFormat()
        }
        let first = PresentationFormat(.uint8)
        let named = Characteristic<[UInt8]>(0x2A1B, value: [1, 2]) {
            AggregateFormat(of: shared, first)
            first
        }
        let peripheral = Peripheral("Aggregate") {
            GATTService(0x180F) {
                other
                own
                named
            }
        }
        #expect(peripheral.validate() == [])
        try await peripheral.test { central async throws in
            let found = try await central.locate(own)
            let formats = found.descriptors.filter { $0.uuid == 0x2904 }.map(\.handle)
            let value = try await central.read(found.handle(of: 0x2905), offset: 0)
            #expect(value == formats.flatMap(\.rawValue.gattBytes))
            #expect(value.count == 4)
            #expect(try await central.read(found.handle(of: 0x2905), offset: 2) == Array(value[2...]))

            let second = try await central.locate(named)
            let expected = [
                try await central.locate(other).handle(of: 0x2904), try second.handle(of: 0x2904),
            ]
            #expect(
                try await central.read(second.handle(of: 0x2905), offset: 0)
                    == expected.flatMap(\.rawValue.gattBytes)
            )
        }
    }

    @Test func anAggregateFormatNeedsTheHandles() async throws {
        let value = Characteristic<UInt8>(0x2A19, value: 1) {
            PresentationFormat(.uint4)
            PresentationFormat(.uint4)
            AggregateFormat()
        }
        let central = Central(address: .virtualHost)
        let backend = ScriptedBackend { publication, host async throws in
            let table = publication.table
            func read() throws -> Result<[UInt8], ATTError> {
                let handle = table.descriptorHandle(service: 0, characteristic: 0, descriptor: 2)
                guard
                    case .immediate(let result) = host.read(
                        BackendReadRequest(attribute: handle, central: central)
                    )
                else { throw CancellationError() }
                return result
            }
            #expect(try read() == .failure(.unlikelyError))
            let formats = (0..<2).map {
                table.descriptorHandle(service: 0, characteristic: 0, descriptor: $0)
            }
            host.handle(.handleAssigned(formats[0], onAir: 0x0102))
            #expect(try read() == .failure(.unlikelyError))
            host.handle(.handleAssigned(formats[1], onAir: 0x0304))
            #expect(try read() == .success([0x02, 0x01, 0x04, 0x03]))
        }
        let peripheral = Peripheral("P") { GATTService(0x180F) { value } }
        await #expect(throws: CancellationError.self) {
            try await peripheral.run(on: backend, logger: .silent)
        }
    }
}
