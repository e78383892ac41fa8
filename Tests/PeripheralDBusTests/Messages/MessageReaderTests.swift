import BusTestSupport
import PeripheralDBus
import Testing

@Suite(.timeLimit(.minutes(1)))
struct MessageReaderTests {
    /// Calls a method with `body` and returns what `read` makes of its arguments on the other side.
    private func reading<Value: Sendable>(
        _ body: [BusValue],
        _ read: @escaping @Sendable (inout MessageReader) throws(BusError) -> Value
    ) async throws -> Result<Value, BusError> {
        let result = Signal<Result<Value, BusError>>()
        try await TestBus.run { test in
            try await test.server.export(
                ExportedObject(
                    "/read",
                    [
                        ExportedInterface(
                            "test.Read",
                            methods: [
                                ExportedMethod("Read", body.signature, "") { call, reply in
                                    var arguments = call.arguments
                                    result.send(Result { () throws(BusError) in try read(&arguments) })
                                    reply.send()
                                }
                            ]
                        )
                    ]
                )
            )
            _ = try await test.call("/read", "test.Read", "Read", body)
        }
        return try #require(await result.next())
    }

    @Test func theOptionsOfBlueZAreReadInPlace() async throws {
        struct Options: Sendable, Equatable {
            var device = ""
            var mtu: UInt16 = 0
            var isLowEnergy = false
            var unknown = 0
        }
        let sent = BusValue.properties([
            "device": .objectPath("/org/bluez/hci0/dev_1"), "mtu": .uint16(517), "link": .string("LE"),
            "later": .array(of: "i", [.int32(1)]),
        ])
        let options = try await reading([sent]) { (reader) throws(BusError) in
            var options = Options()
            try reader.readProperties { (key, value) throws(BusError) in
                if key == "device" {
                    options.device = try value.readBorrowedObjectPath().string
                } else if key == "mtu" {
                    options.mtu = try value.readUInt16()
                } else if key == "link" {
                    options.isLowEnergy = try value.readBorrowedString() == "LE"
                } else {
                    options.unknown += 1
                }
            }
            return options
        }
        #expect(
            try options.get()
                == Options(device: "/org/bluez/hci0/dev_1", mtu: 517, isLowEnergy: true, unknown: 1)
        )
    }

    @Test func aWrongTypeNamesWhatWasExpectedAndFound() async throws {
        let found = try await reading([.structure([.int32(1)])]) { (reader) throws(BusError) in
            try reader.readUInt16()
        }
        #expect(found == .failure(.signatureMismatch(expected: "q", found: "(i)")))
    }

    @Test func theEndIsAMismatchToo() async throws {
        let found = try await reading([]) { (reader) throws(BusError) in try reader.readBytes() }
        #expect(found == .failure(.signatureMismatch(expected: "ay", found: "")))
    }

    @Test func aWrongOptionIsAMismatch() async throws {
        let found = try await reading([.properties(["mtu": .string("517")])]) { (reader) throws(BusError) in
            var mtu: UInt16 = 0
            try reader.readProperties { (_, value) throws(BusError) in mtu = try value.readUInt16() }
            return mtu
        }
        #expect(found == .failure(.signatureMismatch(expected: "q", found: "s")))
    }

    @Test(arguments: [[], [1], Array(repeating: 0xA5, count: 512)] as [[UInt8]])
    func bytesAreReadInOnePiece(bytes: [UInt8]) async throws {
        let read = try await reading([.bytes(bytes), .byte(7)]) { (reader) throws(BusError) in
            (bytes: try reader.readBytes(), next: try reader.readByte(), isAtEnd: reader.isAtEnd)
        }
        let values = try read.get()
        #expect(values.bytes == bytes)
        #expect(values.next == 7)
        #expect(values.isAtEnd)
    }

    @Test func arraysAreReadElementByElement() async throws {
        let read = try await reading([.strings(["a", "b"])]) { (reader) throws(BusError) in
            var texts: [String] = []
            try reader.readArray(of: "s") { (element) throws(BusError) in
                texts.append(try element.readString())
            }
            return texts
        }
        #expect(try read.get() == ["a", "b"])
    }
}
