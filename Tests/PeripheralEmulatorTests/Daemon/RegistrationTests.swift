import PeripheralDBus
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

/// How applications are accepted and refused, as recorded of bluetoothd 5.66.
@Suite(.timeLimit(.minutes(1)))
struct RegistrationTests {
    private static let adapter = "/org/bluez/hci0"

    private func run(
        _ configuration: EmulatedBlueZ.Configuration = .init(),
        _ body: (EmulatedBlueZ, RawApplication) async throws -> Void
    ) async throws {
        try await withEmulatedBlueZ(configuration) { bluez in
            try await RawApplication.run(on: bluez) { try await body(bluez, $0) }
        }
    }

    @Test func asksForTheObjectsAndAnnouncesTheServices() async throws {
        try await run { _, application in
            try await application.export([.service()])
            _ = application.signals.take()
            #expect(await application.register() == "ok")
            #expect(application.calls.take() == ["GetManagedObjects /app()"])
            let signals = application.signals.take()
            let uuids = [0x1801, 0x1800, 0x180D, 0x1200, 0x110C, 0x110E, 0x180A] as [BluetoothUUID]
            let list = uuids.map { "s '\($0.fullDescription)'" }.joined(separator: ", ")
            let signal =
                "PropertiesChanged \(Self.adapter)(s 'org.bluez.Adapter1', {'UUIDs': [\(list)]}, [])"
            #expect(signals == [signal, signal])
            #expect(await application.register() == "org.bluez.Error.AlreadyExists: Already Exists")
            #expect(application.calls.take() == [])
        }
    }

    @Test func unregisteringCallsNothing() async throws {
        try await run { _, application in
            try await application.export([.service()])
            #expect(await application.register() == "ok")
            _ = application.calls.take()
            #expect(await application.unregister() == "ok")
            #expect(await application.unregister() == "org.bluez.Error.DoesNotExist: Does Not Exist")
            try await application.settle()
            #expect(application.calls.take() == [])
        }
    }

    struct Candidate: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var objects: [RawObject]
        var outcome: String
    }

    private static let noObject = "org.bluez.Error.Failed: No object received"
    private static let invalid = "org.bluez.Error.Failed: No valid service object found"
    private static let notCreated = "org.bluez.Error.Failed: Failed to create entry in database"

    private static func service(_ what: String, _ properties: [(String, BusValue)], _ outcome: String)
        -> Candidate
    {
        Candidate(testDescription: what, objects: [.service("/app/s", properties)], outcome: outcome)
    }

    private static func service(_ what: String, with property: String, _ value: BusValue, _ outcome: String)
        -> Candidate
    {
        var properties: [(String, BusValue)] = [("UUID", .string("180d")), ("Primary", .bool(true))]
        properties.removeAll { $0.0 == property }
        return service(what, properties + [(property, value)], outcome)
    }

    private static func characteristic(
        _ what: String,
        _ property: String,
        _ value: BusValue?,
        _ outcome: String
    )
        -> Candidate
    {
        var object = RawObject.characteristic("/app/s/c", ["read"])
        object.properties.removeAll { $0.0 == property }
        if let value { object.properties.append((property, value)) }
        return Candidate(testDescription: what, objects: [.service(), object], outcome: outcome)
    }

    private static func flag(_ flag: String, _ outcome: String = "ok") -> Candidate {
        characteristic("flag \(flag)", "Flags", .strings([flag]), outcome)
    }

    private static func descriptor(_ what: String, _ object: RawObject, _ outcome: String) -> Candidate {
        let objects = [.service(), .characteristic("/app/s/c", ["read"]), object]
        return Candidate(testDescription: what, objects: objects, outcome: outcome)
    }

    static let candidates: [Candidate] = [
        Candidate(testDescription: "no objects", objects: [], outcome: noObject),
        Candidate(
            testDescription: "an object of another kind",
            objects: [RawObject(path: "/app/x", interface: "test.Unknown", properties: [])],
            outcome: invalid
        ),
        service("good", [("UUID", .string("180d")), ("Primary", .bool(true))], "ok"),
        service("without UUID", [("Primary", .bool(true))], notCreated),
        service("without Primary", [("UUID", .string("180d"))], notCreated),
        service("bad UUID", with: "UUID", .string("xyz"), notCreated),
        service("Primary is a string", with: "Primary", .string("x"), notCreated),
        service("secondary", with: "Primary", .bool(false), "ok"),
        service("1800", with: "UUID", .string("1800"), notCreated),
        service("1801", with: "UUID", .string("1801"), notCreated),
        service("180a", with: "UUID", .string("180a"), "ok"),
        service("Includes of a wrong type", with: "Includes", .string("x"), notCreated),
        service("Includes an unknown path", with: "Includes", .objectPaths(["/x"]), "ok"),
        service("Handle 0", with: "Handle", .uint16(0), "ok"),
        service("Handle of a wrong type", with: "Handle", .string("x"), notCreated),
        characteristic("without UUID", "UUID", nil, notCreated),
        characteristic("bad UUID", "UUID", .string("xyz"), notCreated),
        characteristic("UUID 2800", "UUID", .string("2800"), "ok"),
        characteristic("without Service", "Service", nil, invalid),
        characteristic("Service is a string", "Service", .string("/app/s"), invalid),
        characteristic("Service of another path", "Service", .objectPath("/x"), invalid),
        characteristic("without Flags", "Flags", nil, invalid),
        characteristic("no Flags", "Flags", .strings([]), invalid),
        characteristic("Flags is a string", "Flags", .string("read"), invalid),
        flag("unknown", invalid), flag("broadcast"), flag("authenticated-signed-writes"),
        flag("reliable-write"), flag("writable-auxiliaries"), flag("encrypt-read"),
        flag("encrypt-authenticated-read"), flag("secure-read"), flag("secure-write"), flag("authorize"),
        flag("extended-properties"), flag("encrypt-notify"), flag("encrypt-authenticated-indicate"),
        flag("secure-notify"),
        descriptor("good", .descriptor("/app/s/c/d", ["read"], of: "/app/s/c"), "ok"),
        descriptor("2902", .descriptor("/app/s/c/d", uuid: "2902", ["read"], of: "/app/s/c"), "ok"),
        descriptor("notify", .descriptor("/app/s/c/d", ["notify"], of: "/app/s/c"), invalid),
        descriptor("no flags", .descriptor("/app/s/c/d", [], of: "/app/s/c"), invalid),
        descriptor("stray", .descriptor("/app/s/c/d", ["read"], of: "/app/s/x"), invalid),
        Candidate(
            testDescription: "two services of one UUID",
            objects: [.service(), .service("/app/t")],
            outcome: "ok"
        ),
    ]

    @Test(arguments: candidates) func acceptsOrRefuses(candidate: Candidate) async throws {
        try await run { _, application in
            try await application.export(candidate.objects)
            #expect(await application.register() == candidate.outcome)
        }
    }

    @Test(arguments: [
        RawApplication.BackendAnswer.values([.string("x")]), .values([]), .error("test.Error.No", "no"),
    ])
    func withoutObjectsThereIsNoApplication(answer: RawApplication.BackendAnswer) async throws {
        try await run { _, application in
            try await application.export([])
            application.answer("GetManagedObjects /app", answer)
            #expect(await application.register() == Self.noObject)
        }
    }

    @Test func objectsMustComeWithin25Seconds() async throws {
        let clock = ManualClock()
        try await run(.init(clock: clock)) { _, application in
            try await application.export([.service()])
            application.answer("GetManagedObjects /app", .never)
            async let outcome = application.register()
            _ = await application.calls.take(1)
            await clock.waitForSleeper()
            clock.advance(by: .seconds(25))
            #expect(await outcome == Self.noObject)
        }
    }

    @Test func pendingApplicationCanBeUnregistered() async throws {
        try await run { _, application in
            try await application.export([.service()])
            application.answer("GetManagedObjects /app", .never)
            async let pending = application.register()
            _ = await application.calls.take(1)
            #expect(await application.register() == "org.bluez.Error.AlreadyExists: Already Exists")
            #expect(await application.unregister() == "ok")
            application.answer("GetManagedObjects /app", .values([.managedObjects([.service()])]))
            // Another attempt has nothing to do with the first, which is never answered.
            #expect(await application.register() == "ok")
            application.answerLate([.managedObjects([.service()])])
            try await application.settle()
            #expect(await application.register() == "org.bluez.Error.AlreadyExists: Already Exists")
            await application.leave()
            #expect(await pending == "the bus connection is closed")
        }
    }

    @Test func handlesThatAreAskedForAreTold() async throws {
        try await run { _, application in
            try await application.export([
                .service(
                    "/app/s",
                    [("UUID", .string("180d")), ("Primary", .bool(true)), ("Handle", .uint16(0))]
                ),
                .characteristic("/app/s/c", ["read", "notify"], more: [("Handle", .uint16(0))]),
                .characteristic("/app/s/d", ["read"]),
            ])
            #expect(await application.register() == "ok")
            #expect(
                application.calls.take() == [
                    "GetManagedObjects /app()",
                    "Set /app/s(s 'org.bluez.GattService1', s 'Handle', q 21)",
                    "Set /app/s/c(s 'org.bluez.GattCharacteristic1', s 'Handle', q 23)",
                ]
            )
        }
    }

    @Test func handlesAreThoseOfBlueZAndNeverGivenTwice() async throws {
        try await Stage.run { stage, central in
            let services = try await central.discover().services
            #expect(
                services.map(\.handles) == [
                    0x0001...0x0007, 0x0008...0x0011, 0x0012...0x0014, 0x0015...0x0033,
                ]
            )
            let characteristics = services[3].characteristics
            #expect(
                characteristics.map(\.valueHandle) == [
                    0x0017, 0x0019, 0x001B, 0x001D, 0x001F, 0x0022, 0x0025, 0x0028, 0x002B, 0x002F, 0x0031,
                    0x0033,
                ]
            )
            #expect(await stage.application.unregister() == "ok")
            #expect(await outcome { try await central.read(Stage.Handle.ro, offset: 0) } == "0x01")
            #expect(await stage.application.register() == "ok")
            #expect(try await central.discover().services[3].handles == 0x0034...0x0052)
        }
    }

    @Test func programThatLeavesTheBusIsForgotten() async throws {
        try await withEmulatedBlueZ { bluez in
            let central = bluez.central(for: Peripheral("Leaves") {})
            try await RawApplication.run(on: bluez) { application in
                try await application.export([.service()])
                try await application.exportAdvertisement([("Type", .string("peripheral"))])
                #expect(await application.register() == "ok")
                #expect(await application.advertise() == "ok")
                #expect(central.scan().count == 1)
            }
            // The bus notices the end when no process has the connection open, not even one that is just
            // being started.
            try await until { central.scan().isEmpty }
        }
    }

    @Test func callsThatFitNothingAreRefusedAsLibdbusDoes() async throws {
        try await run { _, application in
            let manager = "org.bluez.GattManager1" as InterfaceName
            #expect(
                await application.call(manager, "RegisterApplication", [.objectPath("/app")])
                    == "org.freedesktop.DBus.Error.UnknownMethod: Method \"RegisterApplication\" with signature "
                    + "\"o\" on interface \"org.bluez.GattManager1\" doesn't exist\n"
            )
            #expect(
                await application.register(at: "/org/bluez/hci9")
                    == "org.freedesktop.DBus.Error.UnknownObject: Method \"RegisterApplication\" with signature "
                    + "\"oa{sv}\" on interface \"org.bluez.GattManager1\" doesn't exist\n"
            )
            #expect(
                await application.call("org.bluez.Adapter1", "Fly", [])
                    == "org.freedesktop.DBus.Error.UnknownMethod: Method \"Fly\" with signature \"\" on interface "
                    + "\"org.bluez.Adapter1\" doesn't exist\n"
            )
            let adapter = BusValue.string("org.bluez.Adapter1")
            #expect(
                await application.call(.properties, "Get", [adapter, .string("Wings")])
                    == "org.freedesktop.DBus.Error.InvalidArgs: No such property 'Wings'"
            )
            #expect(
                await application.call(.properties, "GetAll", [.string("org.bluez.Wings1")])
                    == "org.freedesktop.DBus.Error.InvalidArgs: No such interface 'org.bluez.Wings1'"
            )
            #expect(
                await application.call(
                    .properties,
                    "Set",
                    [adapter, .string("Address"), .variant(.string("x"))]
                ) == "org.freedesktop.DBus.Error.PropertyReadOnly: Property 'Address' is not writable"
            )
            #expect(
                await application.call(
                    .properties,
                    "Set",
                    [adapter, .string("Powered"), .variant(.string("x"))]
                ) == "org.freedesktop.DBus.Error.InvalidSignature: Invalid signature for 'Powered'"
            )
            #expect(
                await application.call(.properties, "Get", [adapter, .string("Powered")]) == "b true"
            )
        }
    }
}
