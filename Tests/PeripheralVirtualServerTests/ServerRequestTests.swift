import PeripheralCore
import PeripheralTesting
import Testing

/// What the server decides by itself, as recorded of bluetoothd 5.66, and what it asks the application.
@Suite(.timeLimit(.minutes(1)))
struct ServerRequestTests {
    /// The value of the first characteristic of the first application; its own handle is 0x0003.
    private static let value: AttributeHandle = 0x0017

    struct Access: Sendable {
        var properties: CharacteristicProperties
        var read: ATTError?
        var write: ATTError?
        var asked: [String]
    }

    static let access: [Access] = [
        Access(properties: .read, write: .writeNotPermitted, asked: ["read 0x0003 at 0"]),
        Access(properties: .write, read: .readNotPermitted, asked: ["write 0x0003 at 0: [1]"]),
        Access(
            properties: .writeWithoutResponse,
            read: .readNotPermitted,
            asked: ["write 0x0003 at 0: [1] without response"]
        ),
        Access(
            properties: [.read, .write, .writeWithoutResponse],
            asked: ["read 0x0003 at 0", "write 0x0003 at 0: [1] without response"]
        ),
        // Where nothing is permitted, nothing is checked.
        Access(properties: .notify, asked: ["read 0x0003 at 0", "write 0x0003 at 0: [1]"]),
    ]

    @Test(arguments: access)
    func permissionsAreChecked(_ test: Access) async throws {
        let fixture = try ServerFixture(test.properties)
        let connection = try fixture.connect()
        let read = try await fixture.server.read(Self.value, offset: 0, on: connection)
        #expect(read.refusal == test.read)
        let written = try await fixture.server.write(Self.value, [1], on: connection)
        #expect(written.refusal == test.write)
        #expect(fixture.provider.takeLog() == test.asked)
    }

    @Test(arguments: [AttributeHandle](arrayLiteral: 0x0000, 0x0018, 0xFFFF))
    func unknownHandlesAreInvalid(handle: AttributeHandle) async throws {
        let fixture = try ServerFixture(.read)
        let connection = try fixture.connect()
        #expect(try await fixture.server.read(handle, offset: 0, on: connection).refusal == .invalidHandle)
        #expect(try await fixture.server.write(handle, [], on: connection).refusal == .invalidHandle)
        let prepared = try await fixture.server.prepareWrite(handle, [], offset: 0, on: connection)
        #expect(prepared.refusal == .invalidHandle)
    }

    static let levels: [(SecurityLevel, SecurityLevel, ATTError?)] = [
        (.open, .open, nil),
        (.encrypted, .open, .insufficientEncryption),
        (.encrypted, .encrypted, nil),
        (.authenticated, .encrypted, .insufficientAuthentication),
        (.authenticated, .authenticated, nil),
        (.secureConnections, .authenticated, .insufficientAuthentication),
        (.secureConnections, .secureConnections, nil),
    ]

    @Test(arguments: levels)
    func securityIsChecked(demanded: SecurityLevel, offered: SecurityLevel, refusal: ATTError?) async throws {
        let characteristic = CharacteristicDescription(
            uuid: 0x2A19,
            properties: [.read, .write, .notify],
            security: AttributeSecurity(read: demanded, write: demanded, notify: demanded)
        )
        let fixture = try ServerFixture([ServiceDescription(uuid: 0x180F, characteristics: [characteristic])])
        let connection = try fixture.connect(security: offered)
        #expect(try await fixture.server.read(Self.value, offset: 0, on: connection).refusal == refusal)
        #expect(try await fixture.server.write(Self.value, [1], on: connection).refusal == refusal)
        #expect(try await fixture.server.write(0x0018, [1, 0], on: connection).refusal == refusal)
        let prepared = try await fixture.server.prepareWrite(Self.value, [1], offset: 0, on: connection)
        #expect(prepared.refusal == refusal)
    }

    @Test(arguments: [(23, 22), (100, 99), (517, 512)])
    func readsAreCut(mtu: Int, length: Int) async throws {
        let fixture = try ServerFixture(
            .read,
            provider: RecordingProvider(value: [UInt8](repeating: 1, count: 600))
        )
        let connection = try fixture.connect(mtu: mtu)
        #expect(try await fixture.server.read(Self.value, offset: 0, on: connection).get().count == length)
    }

    @Test(arguments: [(510, nil), (511, .invalidAttributeValueLength)] as [(Int, ATTError?)])
    func longWritesAreRefused(length: Int, refusal: ATTError?) async throws {
        let fixture = try ServerFixture(.write)
        let connection = try fixture.connect(mtu: 517)
        let value = [UInt8](repeating: 1, count: length)
        #expect(try await fixture.server.write(Self.value, value, on: connection).refusal == refusal)
        #expect(fixture.provider.takeLog().isEmpty == (refusal != nil))
    }

    @Test func whatTheApplicationRefusesIsRefused() async throws {
        let fixture = try ServerFixture([.read, .write], provider: RecordingProvider(refusal: .outOfRange))
        let connection = try fixture.connect()
        #expect(try await fixture.server.read(Self.value, offset: 0, on: connection).refusal == .outOfRange)
        #expect(try await fixture.server.write(Self.value, [1], on: connection).refusal == .outOfRange)
    }

    // MARK: Prepared writes

    @Test func thirtyPartsAreKept() async throws {
        let fixture = try ServerFixture([.write, .reliableWrite], [.write, .reliableWrite])
        let connection = try fixture.connect()
        // 0x0018 holds the extended properties of the first.
        let handles: [AttributeHandle] = [0x0017, 0x001A]
        for number in 0..<30 {
            let prepared = try await fixture.server.prepareWrite(
                handles[number % 2],
                [UInt8(number)],
                offset: 0,
                on: connection
            )
            #expect(prepared.refusal == nil)
        }
        let refused = try await fixture.server.prepareWrite(0x0017, [30], offset: 0, on: connection)
        #expect(refused.refusal == .prepareQueueFull)
        #expect(try await fixture.server.executeWrites(commit: true, on: connection) == .success)
        let expected = (0..<30).map { "write \($0 % 2 == 0 ? "0x0003" : "0x0006") at 0: [\($0)]" }
        #expect(fixture.provider.takeLog() == expected)
    }

    @Test func severalPartsNeedReliableWrites() async throws {
        let fixture = try ServerFixture(.write, [.write, .reliableWrite])
        let connection = try fixture.connect()
        for handle: AttributeHandle in [0x0017, 0x0019] {
            #expect(try await fixture.server.prepareWrite(handle, [1], offset: 0, on: connection) == .success)
        }
        let executed = try await fixture.server.executeWrites(commit: true, on: connection)
        #expect(executed.refusal == .requestNotSupported)
        // The queue is empty.
        #expect(try await fixture.server.executeWrites(commit: true, on: connection) == .success)
        #expect(fixture.provider.takeLog() == [])
    }

    @Test func aRefusalEndsTheExecution() async throws {
        let fixture = try ServerFixture(
            [.write, .reliableWrite],
            [.write, .reliableWrite],
            provider: RecordingProvider(refusal: .outOfRange)
        )
        let connection = try fixture.connect()
        for handle: AttributeHandle in [0x0017, 0x001A] {
            #expect(try await fixture.server.prepareWrite(handle, [1], offset: 0, on: connection) == .success)
        }
        let executed = try await fixture.server.executeWrites(commit: true, on: connection)
        #expect(executed.refusal == .outOfRange)
        #expect(fixture.provider.takeLog() == ["write 0x0003 at 0: [1]"])
    }

    static let parts: [(offset: Int, length: Int, refusal: ATTError?)] = [
        (0, 508, nil), (0, 509, .invalidAttributeValueLength), (500, 8, nil),
        (500, 9, .invalidAttributeValueLength), (508, 0, nil), (512, 0, .invalidAttributeValueLength),
        (513, 0, .invalidOffset),
    ]

    @Test(arguments: parts)
    func partsEndWithTheAttribute(offset: Int, length: Int, refusal: ATTError?) async throws {
        let fixture = try ServerFixture(.write)
        let connection = try fixture.connect(mtu: 517)
        let value = [UInt8](repeating: 1, count: length)
        let prepared = try await fixture.server.prepareWrite(
            Self.value,
            value,
            offset: offset,
            on: connection
        )
        #expect(prepared.refusal == refusal)
    }

    // MARK: Subscriptions

    struct Configuration: Sendable {
        var properties: CharacteristicProperties
        var value: [UInt8]
        var refusal: ATTError?
        var stored: [UInt8] = [0, 0]
        var told: [String] = []
    }

    private static let improper = ATTError.clientCharacteristicConfigurationImproperlyConfigured

    static let configurations: [Configuration] = [
        Configuration(
            properties: .notify,
            value: [1, 0],
            stored: [1, 0],
            told: ["configure 0x0003: 0 to 1"]
        ),
        Configuration(properties: .notify, value: [1], stored: [1, 0], told: ["configure 0x0003: 0 to 1"]),
        Configuration(properties: .notify, value: [0, 0]),
        Configuration(properties: .notify, value: []),
        Configuration(properties: .notify, value: [1, 0, 0], refusal: .invalidAttributeValueLength),
        Configuration(properties: .notify, value: [2, 0], refusal: improper),
        Configuration(properties: .indicate, value: [1, 0], refusal: improper),
        Configuration(
            properties: .indicate,
            value: [2, 0],
            stored: [2, 0],
            told: ["configure 0x0003: 0 to 2"]
        ),
        Configuration(properties: [.notify, .indicate], value: [3, 0], refusal: improper),
        Configuration(properties: [.notify, .indicate], value: [0, 1], refusal: improper),
    ]

    @Test(arguments: configurations)
    func aConfigurationIsChecked(_ test: Configuration) async throws {
        let fixture = try ServerFixture(test.properties)
        let connection = try fixture.connect()
        for _ in 1...2 {
            let written = try await fixture.server.write(0x0018, test.value, on: connection)
            #expect(written.refusal == test.refusal)
        }
        // The offset is ignored, and the same value again is no news.
        #expect(try await fixture.server.read(0x0018, offset: 1, on: connection) == .success(test.stored))
        #expect(fixture.provider.takeLog() == test.told)
        let prepared = try await fixture.server.prepareWrite(0x0018, [1, 0], offset: 0, on: connection)
        #expect(prepared.refusal == .invalidAttributeValueLength)
    }

    @Test func eachCentralHasItsConfiguration() async throws {
        let fixture = try ServerFixture([.notify, .indicate])
        let links = [RecordingLink(), RecordingLink(), RecordingLink()]
        let connections = try links.map { try fixture.connect(mtu: 23, over: $0) }
        _ = try await fixture.server.write(0x0018, [1, 0], on: connections[0])
        _ = try await fixture.server.write(0x0018, [2, 0], on: connections[1])
        #expect(fixture.server.send([7], of: 0x0003, in: fixture.application))
        #expect(links.map(\.lines) == [["notification 0x0017: [7]"], ["indication 0x0017: [7]"], []])
        #expect(
            fixture.provider.takeLog() == [
                "configure 0x0003: 0 to 1", "configure 0x0003: 0 to 2", "confirm 0x0003",
            ]
        )
    }

    @Test func disconnectionEndsSubscriptionsInTheirOrder() async throws {
        let fixture = try ServerFixture(.notify, .indicate)
        let link = RecordingLink()
        let connection = try fixture.connect(over: link)
        _ = try await fixture.server.write(0x001B, [2, 0], on: connection)
        _ = try await fixture.server.write(0x0018, [1, 0], on: connection)
        _ = fixture.provider.takeLog()
        fixture.server.disconnectAll()
        fixture.server.disconnect(connection)
        #expect(
            fixture.provider.takeLog() == [
                "configure 0x0003: 1 to 0, ended", "configure 0x0006: 2 to 0, ended",
            ]
        )
        #expect(link.lines == ["disconnected"])
        #expect(fixture.server.centrals == [])
        await #expect(throws: TestCentralError.self) {
            try await fixture.server.read(0x0017, offset: 0, on: connection)
        }
    }

    @Test func aRemovedApplicationHasNoSubscribers() async throws {
        let fixture = try ServerFixture(.notify)
        let link = RecordingLink()
        let connection = try fixture.connect(over: link)
        _ = try await fixture.server.write(0x0018, [1, 0], on: connection)
        _ = fixture.provider.takeLog()
        fixture.server.removeAtOnce(fixture.application)
        #expect(fixture.server.send([7], of: 0x0003, in: fixture.application) == false)
        fixture.server.disconnect(connection)
        // Like bluetoothd, the server does not report this to the application.
        #expect(fixture.provider.takeLog() == [])
        #expect(link.lines == ["disconnected"])
    }
}
