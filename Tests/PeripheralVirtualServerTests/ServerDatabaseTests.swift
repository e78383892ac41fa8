import PeripheralCore
import PeripheralTesting
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ServerDatabaseTests {
    private static let battery = ServiceDescription(
        uuid: 0x180F,
        characteristics: [
            CharacteristicDescription(
                uuid: 0x2A19,
                properties: [.read, .notify],
                descriptors: [DescriptorDescription(uuid: 0x2904, permissions: .read)]
            ),
            CharacteristicDescription(
                uuid: "c0f00002-7e3c-4b6e-9d29-b3f1c0a1d001",
                properties: [.read, .write, .reliableWrite]
            ),
        ]
    )

    /// As recorded of bluetoothd 5.66.
    static let stackValues: [(AttributeHandle, [UInt8])] = [
        (0x0001, [0x00, 0x18]), (0x0002, [0x02, 0x03, 0x00, 0x00, 0x2A]), (0x0003, Array("Fixture".utf8)),
        (0x0005, [0, 0]), (0x0007, [1]), (0x0008, [0x01, 0x18]), (0x0009, [0x20, 0x0A, 0x00, 0x05, 0x2A]),
        (0x000A, []), (0x000B, [0, 0]), (0x000D, [0]), (0x0011, [1]), (0x0012, [0x0A, 0x18]),
        (0x0014, [0x02, 0x6B, 0x1D, 0x46, 0x02, 0x42, 0x05]),
    ]

    @Test(arguments: stackValues)
    func theStacksOwnAttributesAreServed(handle: AttributeHandle, value: [UInt8]) async throws {
        let fixture = try ServerFixture([Self.battery])
        let connection = try fixture.connect()
        #expect(try await fixture.server.read(handle, offset: 0, on: connection) == .success(value))
        #expect(fixture.provider.takeLog() == [])
    }

    static let declarations: [(AttributeHandle, [UInt8])] = [
        (0x0015, [0x0F, 0x18]),
        (0x0016, [0x12, 0x17, 0x00, 0x19, 0x2A]),
        (0x0018, [0, 0]),
        (
            0x001A,
            [0x8A, 0x1B, 0x00]
                + [
                    0x01, 0xD0, 0xA1, 0xC0, 0xF1, 0xB3, 0x29, 0x9D, 0x6E, 0x4B, 0x3C, 0x7E, 0x02, 0, 0xF0,
                    0xC0,
                ]
        ),
        (0x001C, [0x01, 0x00]),
    ]

    @Test(arguments: declarations)
    func declarationsAreServedWithoutTheApplication(handle: AttributeHandle, value: [UInt8]) async throws {
        let fixture = try ServerFixture([Self.battery])
        let connection = try fixture.connect()
        #expect(try await fixture.server.read(handle, offset: 0, on: connection) == .success(value))
        let written = try await fixture.server.write(handle, [1], on: connection)
        if handle != 0x0018 { #expect(throws: ATTError.writeNotPermitted) { try written.get() } }
        #expect(fixture.provider.takeLog() == (handle == 0x0018 ? ["configure 0x0003: 0 to 1"] : []))
    }

    @Test func handlesAreNeverGivenTwice() async throws {
        let fixture = try ServerFixture([Self.battery])
        let connection = try fixture.connect()
        let first = try fixture.server.discover(on: connection).applicationServices
        #expect(first.map(\.handles) == [0x0015...0x001C])
        fixture.server.removeAtOnce(fixture.application)
        #expect(try fixture.server.discover(on: connection).applicationServices == [])
        let gone = try await fixture.server.read(0x0017, offset: 0, on: connection)
        #expect(throws: ATTError.invalidHandle) { try gone.get() }

        let table = try AttributeTable(services: [Self.battery, Self.battery])
        _ = try fixture.server.add(table, servedBy: fixture.provider)
        let second = try fixture.server.discover(on: connection).applicationServices
        #expect(second.map(\.handles) == [0x001D...0x0024, 0x0025...0x002C])
    }

    @Test func anApplicationKnowsItsOwnHandles() async throws {
        let fixture = try ServerFixture([Self.battery])
        let other = RecordingProvider(value: [9])
        _ = try fixture.server.add(AttributeTable(services: [Self.battery]), servedBy: other)
        let connection = try fixture.connect()
        #expect(try await fixture.server.read(0x001F, offset: 0, on: connection) == .success([9]))
        #expect(other.takeLog() == ["read 0x0003 at 0"])
        #expect(fixture.provider.takeLog() == [])
    }

    @Test func handlesMayRunOut() throws {
        let fixture = try ServerFixture([Self.battery])
        let characteristic = CharacteristicDescription(uuid: 0x2A19, properties: .read)
        let characteristics = [CharacteristicDescription](repeating: characteristic, count: 16_000)
        let large = ServiceDescription(uuid: 0x180F, characteristics: characteristics)
        let provider = RecordingProvider()
        _ = try fixture.server.add(AttributeTable(services: [large, large]), servedBy: provider)
        let error = #expect(throws: AttributeTableError.self) {
            try fixture.server.add(AttributeTable(services: [large]), servedBy: provider)
        }
        #expect(error?.code == .handlesExhausted)
    }

    @Test func theHashChangesWithTheDatabase() async throws {
        let fixture = try ServerFixture([Self.battery])
        let connection = try fixture.connect()
        let before = try await fixture.server.read(0x000F, offset: 0, on: connection).get()
        #expect(before.count == 16)
        fixture.server.removeAtOnce(fixture.application)
        #expect(try await fixture.server.read(0x000F, offset: 0, on: connection).get() != before)
    }

    @Test func subscribersOfServiceChangedAreTold() async throws {
        let fixture = try ServerFixture([Self.battery])
        let link = RecordingLink()
        let connection = try fixture.connect(over: link)
        #expect(try await fixture.server.write(0x000B, [2, 0], on: connection) == .success)
        fixture.server.removeAtOnce(fixture.application)
        _ = try fixture.server.add(AttributeTable(services: [Self.battery]), servedBy: fixture.provider)
        #expect(
            link.lines == [
                "indication 0x000a: [21, 0, 28, 0]", "indication 0x000a: [29, 0, 36, 0]",
            ]
        )
    }

    @Test func clientFeaturesAreNeverCleared() async throws {
        let fixture = try ServerFixture([Self.battery])
        let connection = try fixture.connect()
        let steps: [([UInt8], ATTError?, UInt8)] = [
            ([1], nil, 1), ([0], .valueNotAllowed, 1), ([3], nil, 3), ([1], .valueNotAllowed, 3),
            ([], .invalidAttributeValueLength, 3), ([7, 0], .invalidAttributeValueLength, 3),
        ]
        for (value, refusal, stored) in steps {
            let written = try await fixture.server.write(0x000D, value, on: connection)
            #expect(written.refusal == refusal)
            #expect(try await fixture.server.read(0x000D, offset: 0, on: connection) == .success([stored]))
        }
    }
}

extension Result where Failure == ATTError {
    /// How the request was refused, if it was.
    var refusal: ATTError? {
        guard case .failure(let refusal) = self else { return nil }
        return refusal
    }
}

extension Result where Success == Void, Failure == ATTError {
    static var success: Self { .success(()) }

    static func == (lhs: Self, rhs: Self) -> Bool { lhs.refusal == rhs.refusal }
}
