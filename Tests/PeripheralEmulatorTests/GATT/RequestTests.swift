import PeripheralDBus
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import Testing

/// The calls by which requests of a central reach the application, as they were recorded of bluetoothd 5.66.
@Suite(.timeLimit(.minutes(1)))
struct RequestTests {
    private static func device(_ central: VirtualCentral) -> String {
        "/org/bluez/hci0/dev_" + central.address.description.split(separator: ":").joined(separator: "_")
    }

    @Test func readTellsDeviceOffsetLinkAndMTU() async throws {
        try await Stage.run { stage, central in
            let device = Self.device(central)
            #expect(try await central.read(Stage.Handle.rw, offset: 0) == [1])
            #expect(
                stage.application.calls.take() == [
                    "ReadValue /app/s/rw({'device': o \(device), 'link': s 'LE', 'mtu': q 517})"
                ]
            )
            _ = try await central.read(Stage.Handle.d1, offset: 2)
            #expect(
                stage.application.calls.take() == [
                    "ReadValue /app/s/described/d1"
                        + "({'device': o \(device), 'offset': q 2, 'link': s 'LE', 'mtu': q 517})"
                ]
            )
        }
    }

    @Test func writeExpectsNoReplyWhereCommandsAreAllowed() async throws {
        try await Stage.run { stage, central in
            let options = "{'device': o \(Self.device(central)), 'link': s 'LE', 'mtu': q 517}"
            try await central.write(Stage.Handle.rw, [0x68])
            try await central.write(Stage.Handle.long, [0x69])
            try await central.writeWithoutResponse(Stage.Handle.rw, [0x6A])
            try await central.writeWithoutResponse(Stage.Handle.wo, [0x6B])
            try await central.write(Stage.Handle.command, [0x6C])
            try await central.write(Stage.Handle.d2, [])
            _ = try await central.read(Stage.Handle.ro, offset: 0)
            #expect(
                stage.application.calls.take() == [
                    "WriteValue /app/s/rw(ay 68, \(options)) NO_REPLY_EXPECTED",
                    "WriteValue /app/s/long(ay 69, \(options))",
                    "WriteValue /app/s/rw(ay 6a, \(options)) NO_REPLY_EXPECTED",
                    "WriteValue /app/s/wo(ay 6b, \(options))",
                    "WriteValue /app/s/command(ay 6c, \(options)) NO_REPLY_EXPECTED",
                    "WriteValue /app/s/described/d2(ay , \(options))",
                    "ReadValue /app/s/ro(\(options))",
                ]
            )
        }
    }

    @Test func longWriteArrivesAtExecute() async throws {
        try await Stage.run { stage, central in
            let options = "{'device': o \(Self.device(central)), 'link': s 'LE', 'mtu': q 517}"
            try await central.prepareWrite(Stage.Handle.reliable, [1, 2], offset: 0)
            try await central.prepareWrite(Stage.Handle.reliable, [3], offset: 2)
            #expect(stage.application.calls.take() == [])
            try await central.executePreparedWrites(commit: true)
            #expect(
                stage.application.calls.take() == ["WriteValue /app/s/reliable(ay 010203, \(options))"]
            )
        }
    }

    struct Refusal: Sendable, CustomTestStringConvertible {
        var what: String
        var outcome: String
        var calls = 0
        var request: @Sendable (VirtualCentral) async throws -> [UInt8]
        var testDescription: String { what }
    }

    @Test(arguments: [
        Refusal(what: "read on write-only", outcome: "0x02") {
            try await $0.read(Stage.Handle.wo, offset: 0)
        },
        Refusal(what: "write on read-only", outcome: "0x03") {
            try await $0.write(Stage.Handle.ro, [1])
            return []
        },
        Refusal(what: "read on notify-only", outcome: "01", calls: 1) {
            try await $0.read(Stage.Handle.notify, offset: 0)
        },
        Refusal(what: "unknown handle", outcome: "0x01") { try await $0.read(0x7000, offset: 0) },
        Refusal(what: "handle 0", outcome: "0x01") { try await $0.read(0, offset: 0) },
        Refusal(what: "write to the declaration", outcome: "0x03") {
            try await $0.write(0x0016, [1])
            return []
        },
        Refusal(what: "encrypted", outcome: "0x0f") { try await $0.read(Stage.Handle.encrypted, offset: 0) },
        Refusal(what: "write of 511", outcome: "0x0d") {
            try await $0.write(Stage.Handle.long, [UInt8](repeating: 0, count: 511))
            return []
        },
    ])
    func refusedWithoutACall(refusal: Refusal) async throws {
        try await Stage.run { stage, central in
            #expect(await outcome { () -> [UInt8] in try await refusal.request(central) } == refusal.outcome)
            #expect(stage.application.calls.take().count == refusal.calls)
        }
    }
}

/// How the application's answers become the central's, as recorded of bluetoothd 5.66.
@Suite(.timeLimit(.minutes(1)))
struct AnswerTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var error: String
        var message: String
        var read: String
        var write: String

        init(_ error: String, _ message: String, _ read: String, _ write: String? = nil) {
            self.error = error
            self.message = message
            self.read = read
            self.write = write ?? read
        }

        var testDescription: String { "\(error) '\(message)'" }
    }

    private static let failures = [
        ("", "0x0e"), ("no number", "0x80"), ("0x80", "0x80"), ("0x81", "0x81"), ("0x9f", "0x9f"),
        ("0x9F", "0x9f"), ("0X85", "0x85"), ("128", "0x80"), ("129", "0x81"), ("159", "0x9f"),
        ("160", "0x0e"), ("127", "0x0e"), ("0x7f", "0x0e"), ("0xa0", "0x0e"), ("0x03", "0x0e"),
        ("0", "0x0e"), ("1", "0x0e"), ("0x80 text", "0x80"), (" 0x80", "0x80"), ("80", "0x0e"),
        ("0200", "0x80"), ("-128", "0x0e"), ("256", "0x0e"), ("0x180", "0x0e"), ("4294967424", "0x80"),
        ("0xff", "0x0e"),
    ]

    static let rows: [Row] =
        failures.map { Row("org.bluez.Error.Failed", $0.0, $0.1) } + [
            Row("org.bluez.Error.NotPermitted", "x", "0x02", "0x03"),
            Row("org.bluez.Error.NotAuthorized", "x", "0x08"),
            Row("org.bluez.Error.InvalidValueLength", "x", "0x0d"),
            Row("org.bluez.Error.InvalidOffset", "x", "0x07"),
            Row("org.bluez.Error.NotSupported", "x", "0x06"),
            Row("org.bluez.Error.InProgress", "x", "0xfe"),
            Row("org.bluez.Error.ImproperlyConfigured", "x", "0x0e"),
            Row("org.bluez.Error.InvalidArguments", "x", "0x0e"),
            Row("org.bluez.Error.Rejected", "x", "0x0e"),
            Row("org.bluez.Error.NotPermitted", "0x85", "0x02", "0x03"),
            Row("org.freedesktop.DBus.Error.Failed", "0x85", "0x0e"),
            Row("com.example.Error", "x", "0x0e"),
        ]

    @Test func errorsBecomeATTErrors() async throws {
        try await Stage.run { stage, central in
            for row in Self.rows {
                let name = try ErrorName(row.error)
                stage.application.answer("ReadValue", .error(name, row.message))
                stage.application.answer("WriteValue", .error(name, row.message))
                for handle in [Stage.Handle.long, Stage.Handle.d2] {
                    #expect(
                        await outcome { () -> [UInt8] in try await central.read(handle, offset: 0) }
                            == row.read,
                        "\(row.testDescription)"
                    )
                    #expect(
                        await outcome { try await central.write(handle, [1]) } == row.write,
                        "\(row.testDescription)"
                    )
                }
                // The central has its response at once, whatever the application says.
                #expect(await outcome { try await central.write(Stage.Handle.rw, [1]) } == "ok")
            }
        }
    }

    struct Reply: Sendable, CustomTestStringConvertible {
        var values: [BusValue]
        var read: String
        var write: String
        var testDescription: String { "reply of \(values.signature)" }
    }

    @Test(arguments: [
        Reply(values: [], read: "0x06", write: "ok"),
        Reply(values: [.string("x")], read: "0x06", write: "ok"),
        Reply(values: [.byte(1)], read: "0x06", write: "ok"),
        Reply(values: [.array(of: "u", [.uint32(1)])], read: "01", write: "ok"),
        Reply(values: [.bytes([0x61]), .string("x")], read: "61", write: "0x06"),
        Reply(values: [.bytes([])], read: "", write: "ok"),
        Reply(values: [.variant(.bytes([0x61]))], read: "0x06", write: "ok"),
    ])
    func repliesOfOtherTypes(reply: Reply) async throws {
        try await Stage.run { stage, central in
            stage.application.answer("ReadValue", .values(reply.values))
            stage.application.answer("WriteValue", .values(reply.values))
            let read = await outcome { () -> [UInt8] in try await central.read(Stage.Handle.long, offset: 0) }
            #expect(read == reply.read)
            #expect(await outcome { try await central.write(Stage.Handle.long, [1]) } == reply.write)
        }
    }

    @Test func fiveSecondsWithoutAnAnswerAreTooLong() async throws {
        let clock = ManualClock()
        try await Stage.run(.init(clock: clock)) { stage, central in
            stage.application.answer("ReadValue", .never)
            async let read = outcome { () -> [UInt8] in try await central.read(Stage.Handle.ro, offset: 0) }
            _ = await stage.application.calls.take(1)
            await clock.waitForSleeper()
            clock.advance(by: .seconds(5))
            #expect(await read == "0x0e")
            // The late answer is not taken for that of the next request.
            stage.application.answer("ReadValue", .values([.bytes([7])]))
            stage.application.answerLate([.bytes([6])])
            let value = try await central.read(Stage.Handle.ro, offset: 0)
            #expect(value == [7])
        }
    }
}
