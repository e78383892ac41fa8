import BusTestSupport
import PeripheralDBus
import TestSupport
import Testing

/// Calls at random: known and unknown names, right and wrong arguments.
@Suite(.timeLimit(.minutes(1)))
struct ObjectTreeFuzzTests {
    private struct Call {
        var path: ObjectPath
        var interface: InterfaceName
        var member: MemberName
        var body: [BusValue]

        static func random(using generator: inout SeededGenerator) -> Call {
            let paths: [ObjectPath] = ["/", "/fuzz", "/fuzz/a", "/fuzz/a/b", "/fuzz/ab", "/manager"]
            let interfaces: [InterfaceName] = [
                "test.Fuzz", "test.Unknown", .properties, .objectManager, .introspectable, .peer,
            ]
            let members: [MemberName] = [
                "Take", "Get", "Set", "GetAll", "GetManagedObjects", "Introspect", "Ping", "Unknown",
            ]
            let count = Int.random(in: 0...3, using: &generator)
            var body = (0..<count).map { _ in BusValue.random(using: &generator) }
            // Arguments that come close: right in number and type, of any content.
            switch Int.random(in: 0..<5, using: &generator) {
            case 0: body = [.bytes([1, 2]), .properties(["offset": BusValue.random(using: &generator)])]
            case 1:
                body = [.string("test.Fuzz"), .string(Bool.random(using: &generator) ? "Value" : "Other")]
            case 2: body = [.string("test.Fuzz"), .string("Value"), .variant(.random(using: &generator))]
            default: break
            }
            return Call(
                path: paths.randomElement(using: &generator) ?? "/",
                interface: interfaces.randomElement(using: &generator) ?? "test.Fuzz",
                member: members.randomElement(using: &generator) ?? "Take",
                body: body
            )
        }

        /// What the tree must answer, judged without it; nil when the answer depends on more than the names.
        var expectation: Set<ErrorName?>? {
            let standard: [InterfaceName: [MemberName: String]] = [
                .properties: ["Get": "ss", "Set": "ssv", "GetAll": "s"],
                .objectManager: ["GetManagedObjects": ""], .introspectable: ["Introspect": ""],
                .peer: ["Ping": ""],
            ]
            let exported: Set<ObjectPath> = ["/fuzz/a", "/fuzz/a/b"]
            let offered: [InterfaceName: [MemberName: String]]
            switch path {
            case _ where exported.contains(path):
                offered = standard.merging(["test.Fuzz": ["Take": "aya{sv}"]]) { $1 }
                    .filter { $0.key != .objectManager }
            case "/manager": offered = standard
            case "/", "/fuzz": offered = standard.filter { $0.key == .peer || $0.key == .introspectable }
            default: offered = [:]
            }
            if interface == .peer, member == "Ping" { return body.isEmpty ? [nil] : [.invalidArguments] }
            guard !offered.isEmpty else { return [.unknownObject] }
            guard let methods = offered[interface] else { return [.unknownInterface] }
            guard let signature = methods[member] else { return [.unknownMethod] }
            guard body.signature.text == signature else { return [.invalidArguments] }
            guard interface == .properties else { return [nil] }
            return nil
        }
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func everyCallGetsTheRightAnswer(seed: UInt64) async throws {
        try await TestBus.run { test in
            for path in ["/fuzz/a", "/fuzz/a/b"] as [ObjectPath] {
                try await test.server.export(
                    ExportedObject(
                        path,
                        [
                            ExportedInterface(
                                "test.Fuzz",
                                methods: [ExportedMethod("Take", "aya{sv}", "") { $1.sendAfterReading($0) }],
                                properties: [
                                    ExportedProperty("Value", "ay", get: { .bytes([1]) }, set: { _ in })
                                ]
                            )
                        ]
                    )
                )
            }
            try await test.server.exportObjectManager(at: "/manager")
            var generator = SeededGenerator(seed: seed)
            for _ in 0..<300 {
                let call = Call.random(using: &generator)
                let found = await test.error(of: call.path, call.interface, call.member, call.body)?.name
                if let expected = call.expectation {
                    #expect(expected.contains(found), "seed \(seed): \(call)")
                } else {
                    let known: Set<ErrorName?> = [
                        nil, .unknownProperty, .unknownInterface, .invalidArguments,
                    ]
                    #expect(known.contains(found), "seed \(seed): \(call)")
                }
            }
        }
    }
}

extension Reply {
    /// Answers without arguments once all of the call has been read, lazily as a backend does.
    fileprivate consuming func sendAfterReading(_ call: borrowing IncomingMessage) {
        var arguments = call.arguments
        do throws(BusError) {
            _ = try arguments.readBytes()
            try arguments.readProperties { (key, value) throws(BusError) in
                _ = key.string
                if key == "offset" { _ = try? value.readUInt16() }
            }
            send()
        } catch {
            fail(MethodError("test.Error.Unreadable", error.description))
        }
    }
}
