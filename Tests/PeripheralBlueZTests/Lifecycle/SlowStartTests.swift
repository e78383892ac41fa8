import BusTestSupport
import PeripheralDBus
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

@testable import PeripheralBlueZ

/// A bluetoothd whose name is on the bus long before it can be used.
@Suite(.timeLimit(.minutes(1)))
struct SlowStartTests {
    private static let adapter: ObjectPath = "/org/bluez/hci0"
    private static let peripheral = Peripheral("Patient") {
        GATTService(.battery) { Characteristic<UInt8>(0x2A19, value: 1) }
    }

    /// The calls that wait for their answers.
    private struct Calls {
        let stream: AsyncStream<(MemberName, DeferredReply)>
        let continuation: AsyncStream<(MemberName, DeferredReply)>.Continuation

        init() {
            (stream, continuation) = AsyncStream.makeStream()
        }

        func method(_ name: MemberName, _ input: Signature, _ output: Signature = "") -> ExportedMethod {
            ExportedMethod(name, input, output) { [continuation] _, reply in
                continuation.yield((name, reply.deferred()))
            }
        }

        func next(_ name: MemberName) async throws -> DeferredReply {
            for await (method, reply) in stream {
                try #require(method == name)
                return reply
            }
            throw CancellationError()
        }
    }

    /// Interfaces in the form in which bluetoothd reports them.
    private static func description(of interfaces: [String]) -> BusValue {
        let entries = interfaces.map { interface in
            BusDictionary.Entry(
                key: .string(interface),
                value: .properties(interface == "org.bluez.Adapter1" ? [("Powered", .bool(true))] : [])
            )
        }
        return .dictionary(BusDictionary(key: "s", value: "a{sv}", entries))
    }

    /// What bluetoothd has when its adapter has come so far.
    private static func objects(_ interfaces: [String]) -> [BusValue] {
        let object = BusDictionary.Entry(key: .objectPath(adapter), value: description(of: interfaces))
        let objects = BusDictionary(key: "o", value: "a{sa{sv}}", interfaces.isEmpty ? [] : [object])
        return [.dictionary(objects)]
    }

    private static func announce(_ interface: String, on connection: BusConnection) async throws {
        try await connection.emit("/", .objectManager, "InterfacesAdded") { writer in
            writer.append(adapter)
            writer.append(description(of: [interface]))
        }
    }

    @Test func whatComesLateAndPieceByPieceIsWaitedFor() async throws {
        try await TestBus.run { bus in
            let calls = Calls()
            try await bus.server.export(
                ExportedObject(
                    "/",
                    [
                        ExportedInterface(
                            .objectManager,
                            methods: [calls.method("GetManagedObjects", "", "a{oa{sa{sv}}}")]
                        )
                    ]
                )
            )
            try await bus.server.export(
                ExportedObject(
                    Self.adapter,
                    [
                        ExportedInterface(
                            "org.bluez.GattManager1",
                            methods: [
                                calls.method("RegisterApplication", "oa{sv}"),
                                calls.method("UnregisterApplication", "o"),
                            ]
                        ),
                        ExportedInterface(
                            "org.bluez.LEAdvertisingManager1",
                            methods: [
                                calls.method("RegisterAdvertisement", "oa{sv}"),
                                calls.method("UnregisterAdvertisement", "o"),
                            ]
                        ),
                    ]
                )
            )
            let backend = BlueZBackend(bus: .address(bus.bus.address), clock: ManualClock())
            let run = Task { try await Self.peripheral.run(on: backend, logger: .silent) { _ in } }

            try await bus.server.requestName("org.bluez")
            let first = try await calls.next("GetManagedObjects")
            // The answer is older than what is announced meanwhile.
            try await Self.announce("org.bluez.Adapter1", on: bus.server)
            first.send(Self.objects([]))
            var interfaces = ["org.bluez.Adapter1"]
            try await calls.next("GetManagedObjects").send(Self.objects(interfaces))
            for interface in ["org.bluez.GattManager1", "org.bluez.LEAdvertisingManager1"] {
                try await Self.announce(interface, on: bus.server)
                interfaces.append(interface)
                try await calls.next("GetManagedObjects").send(Self.objects(interfaces))
            }
            // Now the centrals are asked for.
            try await calls.next("GetManagedObjects").send(Self.objects(interfaces))
            for method in [
                "RegisterApplication", "RegisterAdvertisement", "UnregisterAdvertisement",
                "UnregisterApplication",
            ] as [MemberName] {
                try await calls.next(method).send()
            }
            try await run.value
        }
    }
}
