import BusTestSupport
import PeripheralDBus
import TestSupport
import Testing

/// Methods that are meant for the owner of one name.
@Suite(.timeLimit(.minutes(1)))
struct CallersTests {
    private static let name: BusName = "test.Owner"
    private static let denied = MethodError(
        .accessDenied,
        "only the owner of test.Owner may call this method"
    )

    private static let object = ExportedObject(
        "/guarded",
        [
            ExportedInterface(
                "test.Guarded",
                callers: name,
                methods: [ExportedMethod("Call", "", "") { $1.send() }],
                properties: [
                    ExportedProperty("Value", .byte(7)),
                    ExportedProperty("Setting", "y") { () throws(MethodError) in
                        .byte(7)
                    } set: { _ in
                    },
                ]
            ),
            ExportedInterface("test.Open", methods: [ExportedMethod("Call", "", "") { $1.send() }]),
        ]
    )

    /// Whether the name is followed before or after the object is there.
    @Test(arguments: [true, false]) func onlyTheOwnerOfTheNameMayCall(followsFirst: Bool) async throws {
        try await TestBus.run { test in
            let changes = Signal<BusName?>()
            func follow() async throws {
                _ = try await test.server.watchName(Self.name) { changes.send($0) }
            }
            func error() async -> MethodError? { await test.error(of: "/guarded", "test.Guarded", "Call") }

            if followsFirst { try await follow() }
            try await test.server.export(Self.object)
            #expect(await error() == Self.denied)
            if !followsFirst { try await follow() }
            #expect(await changes.next() == .some(nil))
            #expect(await error() == Self.denied)

            try await test.client.requestName(Self.name)
            #expect(await changes.next() == .some(test.client.uniqueName))
            #expect(await error() == nil)

            try await test.client.releaseOwnName(Self.name)
            #expect(await changes.next() == .some(nil))
            #expect(await error() == Self.denied)

            // It changes hands.
            try await test.server.requestName(Self.name)
            #expect(await changes.next() == .some(test.serverName))
            #expect(await error() == Self.denied)
        }
    }

    @Test func nobodyMayCallWhenTheNameIsNoLongerFollowed() async throws {
        try await TestBus.run { test in
            try await test.server.export(Self.object)
            try await test.client.requestName(Self.name)
            let watch = try await test.server.watchName(Self.name) { _ in }
            #expect(await test.error(of: "/guarded", "test.Guarded", "Call") == nil)
            await test.server.unwatch(watch)
            #expect(await test.error(of: "/guarded", "test.Guarded", "Call") == Self.denied)
        }
    }

    @Test func onlyTheOwnerOfTheNameMaySetAProperty() async throws {
        func error(_ test: TestBus, _ property: String, _ value: BusValue) async -> MethodError? {
            await test.error(
                of: "/guarded",
                .properties,
                "Set",
                [.string("test.Guarded"), .string(property), .variant(value)]
            )
        }
        let denied = MethodError(.accessDenied, "only the owner of test.Owner may set this property")
        try await TestBus.run { test in
            try await test.server.export(Self.object)
            #expect(await error(test, "Setting", .byte(8)) == denied)
            _ = try await test.server.watchName(Self.name) { _ in }
            #expect(await error(test, "Setting", .byte(8)) == denied)
            // A program that does not own the name does not learn that the value has the wrong type.
            #expect(await error(test, "Setting", .string("")) == denied)
            try await test.client.requestName(Self.name)
            try await until { await test.server.hasOwner(Self.name) }
            #expect(await error(test, "Setting", .byte(8)) == nil)
            try await test.client.releaseOwnName(Self.name)
            try await until { await !test.server.hasOwner(Self.name) }
            #expect(await error(test, "Setting", .byte(8)) == denied)
        }
    }

    @Test func strangersAreDeniedWhateverTheySend() async throws {
        try await TestBus.run { test in
            try await test.server.export(Self.object)
            #expect(
                await test.error(of: "/guarded", "test.Guarded", "Call", [.string("too much")]) == Self.denied
            )
        }
    }

    @Test func theRestIsForEverybody() async throws {
        try await TestBus.run { test in
            try await test.server.exportObjectManager(at: "/")
            try await test.server.export(Self.object)
            #expect(await test.error(of: "/guarded", "test.Open", "Call") == nil)
            #expect(try await test.get("/guarded", "test.Guarded", "Value") == .variant(.byte(7)))
            #expect(await test.error(of: "/guarded", .introspectable, "Introspect") == nil)
            #expect(await test.error(of: "/guarded", .peer, "Ping") == nil)
            #expect(await test.error(of: "/", .objectManager, "GetManagedObjects") == nil)
        }
    }
}
