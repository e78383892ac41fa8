import BusTestSupport
import PeripheralDBus
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ObjectTreeTests {
    static let lamp = ExportedObject(
        "/home/lamp",
        [
            ExportedInterface(
                "test.Lamp",
                methods: [
                    ExportedMethod("Set", "bq", "") { _, reply in reply.send() },
                    ExportedMethod("Get", "", "b") { _, reply in reply.send { $0.append(true) } },
                ],
                properties: [
                    ExportedProperty("Name", .string("Lamp")),
                    ExportedProperty(
                        "Broken",
                        "s",
                        get: { () throws(MethodError) in throw MethodError(.failed, "no") }
                    ),
                    ExportedProperty("Wrong", "s", get: { .byte(1) }),
                ],
                signals: [ExportedSignal("Switched", "b")]
            ),
            ExportedInterface("test.Empty"),
        ]
    )

    @Test(
        arguments: [
            ("/nowhere", "test.Lamp", "Get", [], ErrorName.unknownObject),
            ("/home/lamp/x", "test.Lamp", "Get", [], .unknownObject),
            ("/home/lamp", "test.Other", "Get", [], .unknownInterface),
            ("/home/lamp", "test.Lamp", "Other", [], .unknownMethod),
            ("/home/lamp", "test.Empty", "Get", [], .unknownMethod),
            ("/home/lamp", "test.Lamp", "Set", [], .invalidArguments),
            ("/home/lamp", "test.Lamp", "Set", [.bool(true), .int16(1)], .invalidArguments),
            ("/home/lamp", "test.Lamp", "Get", [.byte(1)], .invalidArguments),
            // A way station has no more than introspection.
            ("/home", "test.Lamp", "Get", [], .unknownInterface),
            ("/home", "org.freedesktop.DBus.Properties", "GetAll", [.string("")], .unknownInterface),
            ("/home/lamp", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects", [], .unknownInterface),
            ("/home/lamp", "org.freedesktop.DBus.Properties", "Other", [], .unknownMethod),
            ("/home/lamp", "org.freedesktop.DBus.Properties", "Get", [.string("x")], .invalidArguments),
        ] as [(ObjectPath, InterfaceName, MemberName, [BusValue], ErrorName)]
    )
    func everyWrongCallHasItsError(
        path: ObjectPath,
        interface: InterfaceName,
        member: MemberName,
        body: [BusValue],
        expected: ErrorName
    ) async throws {
        try await TestBus.run { test in
            try await test.server.export(Self.lamp)
            #expect(await test.error(of: path, interface, member, body)?.name == expected)
        }
    }

    @Test func wrongArgumentsNameWhatWasExpected() async throws {
        try await TestBus.run { test in
            try await test.server.export(Self.lamp)
            let error = await test.error(of: "/home/lamp", "test.Lamp", "Set", [.string("on")])
            #expect(error?.message == "Set takes arguments of type \"bq\", not \"s\"")
        }
    }

    @Test func aCallerThatExpectsNoReplyGetsNone() async throws {
        try await TestBus.run { test in
            try await test.server.export(Self.lamp)
            try await test.server.export(.method("/late", "", "") { _, reply in reply.deferred().send() })
            let before = try #require(await test.server.nextSerial())
            let calls: [(ObjectPath, InterfaceName, MemberName, [BusValue])] = [
                ("/home/lamp", "test.Lamp", "Get", []), ("/home/lamp", "test.Lamp", "Set", []),
                ("/home/lamp", "test.Lamp", "Other", []), ("/nowhere", "test.Lamp", "Get", []),
                ("/home/lamp", .properties, "GetAll", [.string("")]), ("/home/lamp", .peer, "Ping", []),
                ("/home", .introspectable, "Introspect", []), ("/late", "test.M", "Call", []),
            ]
            for (path, interface, member, body) in calls {
                try await test.client.callWithoutReply(test.serverName, path, interface, member, body)
            }
            _ = try await test.call("/", .peer, "Ping")
            // Every message of the server takes a serial number: two for this and the barrier's reply.
            #expect(try await test.server.nextSerial() == before + 2)
        }
    }

    @Test func propertiesAreReadAndListed() async throws {
        try await TestBus.run { test in
            try await test.server.export(Self.lamp)
            let path: ObjectPath = "/home/lamp"
            #expect(try await test.get(path, "test.Lamp", "Name") == .variant(.string("Lamp")))
            #expect(try await test.get(path, "", "Name") == .variant(.string("Lamp")))
            let all = [BusValue.properties(["Name": .string("Lamp")])]
            #expect(try await test.call(path, .properties, "GetAll", [.string("test.Lamp")]) == all)
            #expect(try await test.call(path, .properties, "GetAll", [.string("")]) == all)
            for interface in ["test.Empty", "org.freedesktop.DBus.Peer"] {
                #expect(
                    try await test.call(path, .properties, "GetAll", [.string(interface)]) == [
                        .properties([:])
                    ]
                )
            }
        }
    }

    @Test(
        arguments: [
            ("Get", [.string("test.Lamp"), .string("Other")], ErrorName.unknownProperty),
            ("Get", [.string("test.Empty"), .string("Name")], .unknownProperty),
            ("Get", [.string("test.Other"), .string("Name")], .unknownInterface),
            ("Get", [.string("test.Lamp"), .string("Broken")], .failed),
            ("Get", [.string("test.Lamp"), .string("Wrong")], .failed),
            ("GetAll", [.string("test.Other")], .unknownInterface),
            ("Set", [.string("test.Lamp"), .string("Name"), .variant(.string("x"))], .propertyReadOnly),
            ("Set", [.string("test.Lamp"), .string("Other"), .variant(.string("x"))], .unknownProperty),
            ("Set", [.string("test.Lamp"), .string("Name"), .string("x")], .invalidArguments),
        ] as [(MemberName, [BusValue], ErrorName)]
    )
    func wrongUseOfPropertiesHasItsError(member: MemberName, body: [BusValue], expected: ErrorName)
        async throws
    {
        try await TestBus.run { test in
            try await test.server.export(Self.lamp)
            #expect(await test.error(of: "/home/lamp", .properties, member, body)?.name == expected)
        }
    }

    @Test func aPropertyIsSet() async throws {
        try await TestBus.run { test in
            let handle = Mutex<UInt16>(0)
            try await test.server.export(
                ExportedObject(
                    "/c",
                    [
                        ExportedInterface(
                            "test.C",
                            properties: [
                                ExportedProperty(
                                    "Handle",
                                    "q",
                                    get: { .uint16(handle.withLock { $0 }) },
                                    set: { (value) throws(MethodError) in
                                        guard let number: UInt16 = value.integer(), number != 0 else {
                                            throw MethodError(.invalidArguments, "0 is no handle")
                                        }
                                        handle.withLock { $0 = number }
                                    }
                                )
                            ]
                        )
                    ]
                )
            )
            func set(_ value: BusValue) async -> MethodError? {
                await test.error(
                    of: "/c",
                    .properties,
                    "Set",
                    [.string("test.C"), .string("Handle"), .variant(value)]
                )
            }
            #expect(await set(.uint16(42)) == nil)
            #expect(try await test.get("/c", "test.C", "Handle") == .variant(.uint16(42)))
            #expect(await set(.uint16(0)) == MethodError(.invalidArguments, "0 is no handle"))
            #expect(
                await set(.string("1"))
                    == MethodError(
                        .invalidArguments,
                        "the property Handle: expected type \"q\", found type \"s\""
                    )
            )
        }
    }

    @Test func managedObjectsComeInTheOrderOfTheirExport() async throws {
        try await TestBus.run { test in
            try await test.server.exportObjectManager(at: "/app")
            let paths: [ObjectPath] = ["/app/z", "/app/a", "/app/a/m", "/app/b", "/app/a/c", "/other"]
            for path in paths {
                try await test.server.export(
                    ExportedObject(
                        path,
                        [ExportedInterface("test.I", properties: [.init("Path", .string(path.text))])]
                    )
                )
            }
            await test.server.withdraw("/app/b")
            let managed = try await test.call("/app", .objectManager, "GetManagedObjects").first?.dictionary
            let expected = ["/app/z", "/app/a", "/app/a/m", "/app/a/c"]
            #expect(managed?.entries.map { $0.key.objectPath?.text } == expected)
            let interfaces = managed?.entries.first?.value
            #expect(interfaces?["test.I"]?["Path"]?.string == "/app/z")
        }
    }

    @Test func anObjectManagerTellsWhatComesAndGoes() async throws {
        try await TestBus.run { test in
            let signals = Signal<(String, String, [BusValue])>()
            _ = try await test.client.subscribe(to: MatchRule(interface: .objectManager)) { signal in
                var arguments = signal.arguments
                signals.send((signal.member.string, signal.path.string, (try? arguments.readValues()) ?? []))
            }
            try await test.server.exportObjectManager(at: "/")
            try await test.server.exportObjectManager(at: "/app")
            try await test.server.export(
                ExportedObject("/app/x", [ExportedInterface("test.I", properties: [.init("P", .byte(1))])])
            )
            await test.server.withdraw("/app/x")
            await test.server.withdrawObjectManager(at: "/app")
            try await test.server.export(ExportedObject("/app/y", []))

            let added = try #require(await signals.next())
            #expect(added.0 == "InterfacesAdded")
            #expect(added.1 == "/app", "the nearest manager tells")
            #expect(added.2.first == .objectPath("/app/x"))
            #expect(added.2.last?["test.I"]?["P"] == .byte(1))
            let removed = try #require(await signals.next())
            #expect(removed.0 == "InterfacesRemoved")
            #expect(removed.2 == [.objectPath("/app/x"), .strings(["test.I"])])
            let next = try #require(await signals.next())
            #expect(next.1 == "/")
        }
    }

    @Test func theTreeIntrospectsItself() async throws {
        try await TestBus.run { test in
            try await test.server.export(Self.lamp)
            try await test.server.exportObjectManager(at: "/home/rooms")
            func describe(_ path: ObjectPath) async throws -> String {
                try #require(try await test.call(path, .introspectable, "Introspect").first?.string)
            }
            #expect(try await describe("/").contains("<node name=\"home\"/>"))
            let home = try await describe("/home")
            #expect(home.contains("<node name=\"lamp\"/>\n  <node name=\"rooms\"/>"))
            #expect(!home.contains("org.freedesktop.DBus.Properties"))
            #expect(try await describe("/home/rooms").contains("GetManagedObjects"))
            let lamp = try await describe("/home/lamp")
            for part in [
                "<interface name=\"test.Lamp\">",
                "<method name=\"Set\">\n      <arg type=\"b\" direction=\"in\"/>",
                "<property name=\"Name\" type=\"s\" access=\"read\"/>",
                "<signal name=\"Switched\">\n      <arg type=\"b\"/>", "org.freedesktop.DBus.Properties",
            ] {
                #expect(lamp.contains(part))
            }
        }
    }

    @Test func peersArePingedAndIdentified() async throws {
        try await TestBus.run { test in
            let pong = try await test.call("/any", .peer, "Ping")
            #expect(pong.isEmpty)
            let error = await test.error(of: "/any", .peer, "GetMachineId")
            // Not every machine has an identifier; the answer is the method's own either way.
            #expect(error == nil || error?.name == .failed)
        }
    }

    @Test func aDeclarationThatCannotBeRightIsRefused() async throws {
        try await TestBus.run { test in
            try await test.server.export(Self.lamp)
            await #expect(throws: BusError.invalidValue("/home/lamp is already exported")) {
                try await test.server.export(Self.lamp)
            }
            await #expect(throws: BusError.invalidValue("/x declares the interface test.I twice")) {
                try await test.server.export(ExportedObject("/x", [.init("test.I"), .init("test.I")]))
            }
            await #expect(throws: BusError.signatureMismatch(expected: "the type of one value", found: "ss"))
            {
                try await test.server.export(
                    ExportedObject("/x", [.init("test.I", properties: [.init("P", "ss", get: { .byte(1) })])])
                )
            }
            #expect(await test.server.withdraw("/home/lamp"))
            #expect(await !test.server.withdraw("/home/lamp"))
            try await test.server.export(Self.lamp)
        }
    }
}
