import BusTestSupport
import Glibc
import PeripheralDBus
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct BusValueTests {
    static let values: [BusValue] = [
        .byte(0), .byte(255), .bool(true), .bool(false),
        .int16(.min), .uint16(.max), .int32(.min), .uint32(.max), .int64(.min), .uint64(.max),
        .double(-0.0), .double(.infinity), .double(1.5e-300),
        .string(""), .string("Straße 漢字 🙂"), .string(String(repeating: "x", count: 100_000)),
        .objectPath("/"), .objectPath("/org/bluez/hci0"), .signature(""), .signature("a{oa{sa{sv}}}"),
        .bytes([]), .bytes([0, 1, 255]), .bytes(Array(repeating: 7, count: 70_000)),
        .array(of: "i", []), .array(of: "q", [.uint16(1), .uint16(2)]), .strings(["a", ""]),
        .array(of: "ay", [.bytes([1]), .bytes([])]),
        .dictionary(BusDictionary(key: "q", value: "v")),
        .dictionary(
            BusDictionary(
                key: "q",
                value: "ay",
                [.init(key: .uint16(9), value: .bytes([1])), .init(key: .uint16(1), value: .bytes([]))]
            )
        ),
        .properties(["b": .bool(true), "a": .variant(.byte(1))]),
        .structure([.byte(1), .structure([.string("in")]), .variant(.structure([.int64(5)]))]),
        .variant(.variant(.bytes([9]))),
    ]

    @Test func everyTypeSurvivesTheBusBothWays() async throws {
        try await TestBus.run { test in
            for value in Self.values {
                try await test.server.export(.echo("/echo", value.signature))
                let answer = try await test.call("/echo", "test.Echo", "Echo", [value])
                #expect(answer == [value])
                await test.server.withdraw("/echo")
            }
        }
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func randomValuesSurviveTheBus(seed: UInt64) async throws {
        try await TestBus.run { test in
            var generator = SeededGenerator(seed: seed)
            for _ in 0..<200 {
                let values = (0..<Int.random(in: 0...4, using: &generator)).map { _ in
                    BusValue.random(using: &generator)
                }
                try await test.server.export(.echo("/echo", values.signature))
                let answer = try await test.call("/echo", "test.Echo", "Echo", values)
                #expect(answer == values, "seed \(seed)")
                await test.server.withdraw("/echo")
            }
        }
    }

    @Test func aFileDescriptorIsPassedOn() async throws {
        try await TestBus.run { test in
            try await test.server.export(.echo("/echo", "h"))
            var ends: [CInt] = [-1, -1]
            try #require(pipe(&ends) == 0)
            let (reader, writer) = (
                OwnedFileDescriptor(adopting: ends[0]), OwnedFileDescriptor(adopting: ends[1])
            )
            let answer = try await test.call("/echo", "test.Echo", "Echo", [.fileDescriptor(writer)])
            guard case .fileDescriptor(let passed)? = answer.first else {
                Issue.record("no file descriptor came back: \(answer)")
                return
            }
            #expect(passed.descriptor != writer.descriptor)
            #expect(write(passed.descriptor, [42] as [UInt8], 1) == 1)
            var byte: UInt8 = 0
            #expect(read(reader.descriptor, &byte, 1) == 1)
            #expect(byte == 42)
        }
    }

    @Test(arguments: [
        (BusValue.string("a\0b"), BusError.invalidValue("a D-Bus string cannot contain a zero byte")),
        (.array(of: "s", [.string("a"), .byte(1)]), .signatureMismatch(expected: "s", found: "y")),
        (.array(of: "ss", []), .signatureMismatch(expected: "the type of one element", found: "ss")),
        (.structure([]), .invalidValue("a D-Bus structure has at least one field")),
        (
            .dictionary(BusDictionary(key: "s", value: "q", [.init(key: .string("k"), value: .byte(1))])),
            .signatureMismatch(expected: "q", found: "y")
        ),
        (
            .dictionary(BusDictionary(key: "v", value: "q")),
            .signatureMismatch(expected: "the type of one element", found: "{vq}")
        ),
    ])
    func aValueThatCannotBeSentIsRefused(value: BusValue, expected: BusError) async throws {
        try await TestBus.run { test in
            await #expect(throws: expected) { try await test.call("/", "test.Echo", "Echo", [value]) }
        }
    }

    @Test func valuesNestedTooDeepAreRefused() async throws {
        let value = (0..<40).reduce(BusValue.byte(1)) { value, _ in .variant(value) }
        try await TestBus.run { test in
            await #expect(throws: BusError.self) { try await test.call("/", "test.Echo", "Echo", [value]) }
        }
    }

    /// libdbus appends them, but the bus disconnects a program that sends them.
    @Test(arguments: [true, false]) func typesNestedTooDeepAreRefused(isArray: Bool) async throws {
        func value(depth: Int) -> BusValue {
            (1..<depth).reduce(isArray ? .strings([]) : .structure([.byte(1)])) { value, _ in
                isArray ? .array(of: value.signature, [value]) : .structure([value])
            }
        }
        try await TestBus.run { test in
            try await test.server.export(.echo("/echo", value(depth: 32).signature))
            #expect(
                try await test.call("/echo", "test.Echo", "Echo", [value(depth: 32)]) == [value(depth: 32)]
            )
            await #expect(throws: BusError.self) {
                try await test.call("/echo", "test.Echo", "Echo", [value(depth: 33)])
            }
            // The connection still works.
            #expect(
                try await test.call("/echo", "test.Echo", "Echo", [value(depth: 32)]) == [value(depth: 32)]
            )
        }
    }

    @Test func accessorsReachThroughVariants() {
        let value = BusValue.properties(["a": .uint16(300), "b": .string("x")])
        #expect(value["a"]?.integer(UInt16.self) == 300)
        #expect(value["a"]?.integer(UInt8.self) == nil)
        #expect(value["b"]?.string == "x")
        #expect(value["c"] == nil)
        #expect(BusValue.variant(.variant(.bytes([1]))).bytes == [1])
        #expect(BusValue.byte(1).string == nil)
    }

    @Test(arguments: [
        ("/", true), ("/a/b_2", true), ("", false), ("a", false), ("/a/", false), ("//", false),
        ("/a-b", false),
        ("/a\0", false),
    ])
    func objectPathsFollowTheGrammar(text: String, isValid: Bool) {
        #expect(((try? ObjectPath(text)) != nil) == isValid)
    }

    @Test func aPathIsBelowItsAncestorsOnly() throws {
        let path: ObjectPath = "/a/b"
        #expect(path.isBelow("/"))
        #expect(path.isBelow("/a"))
        #expect(!path.isBelow("/a/b"))
        #expect(!path.isBelow("/a/bc"))
        #expect(!ObjectPath("/ab").isBelow("/a"))
        #expect(try ObjectPath("/").appending("x") == "/x")
        #expect(throws: BusError.invalidName(kind: "object path", value: "/a/b/c/d-e")) {
            try path.appending("c/d-e")
        }
    }

    /// A path that takes these is not the one below.
    @Test(arguments: ["", "b/c"]) func anElementOfAPathIsOneElement(text: String) {
        #expect(throws: BusError.self) { try ObjectPath("/").appending(text) }
        #expect(throws: BusError.self) { try ObjectPath("/a").appending(text) }
    }

    @Test(arguments: [
        ("", [], true), ("ay", ["ay"], true), ("a{sv}(ii)s", ["a{sv}", "(ii)", "s"], true), ("a", [], false),
    ])
    func signaturesAreTakenApart(text: String, elements: [String], isValid: Bool) {
        let signature = try? Signature(text)
        #expect((signature != nil) == isValid)
        #expect(signature.map { $0.elements.map(\.text) } ?? [] == elements)
    }
}

extension ExportedObject {
    /// An object with one method that answers what it is given.
    static func echo(_ path: ObjectPath, _ signature: Signature) -> ExportedObject {
        ExportedObject(
            path,
            [
                ExportedInterface(
                    "test.Echo",
                    methods: [
                        ExportedMethod("Echo", signature, signature) { call, reply in
                            var arguments = call.arguments
                            do throws(BusError) {
                                let values = try arguments.readValues()
                                reply.send { $0.append(values) }
                            } catch {
                                reply.fail(MethodError(.invalidArguments, error.description))
                            }
                        }
                    ]
                )
            ]
        )
    }
}
