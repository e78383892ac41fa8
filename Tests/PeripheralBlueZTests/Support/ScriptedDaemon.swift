import BusTestSupport
import Logging
import PeripheralBlueZ
import PeripheralDBus
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import Synchronization
import TestSupport
import Testing

/// A bluetoothd with one adapter that answers when the test says so, and does what the test wants.
final class ScriptedDaemon: Sendable {
    /// A call to register or withdraw something, which waits for its answer.
    struct Call: Sendable {
        let method: MemberName
        let program: BusName
        let arguments: [BusValue]
        let reply: DeferredReply
    }

    static let adapter: ObjectPath = "/org/bluez/hci0"
    static let refusal = MethodError("org.bluez.Error.Failed", "Failed to register advertisement")

    /// The property `Pairable` of an adapter, with every value that it has had.
    final class Pairable: Sendable {
        private let values: Mutex<[Bool]>
        /// The number of changes that the daemon refuses, because it is busy with another one.
        private let refusals = Atomic(0)
        private let connection: BusConnection

        init(_ value: Bool, on connection: BusConnection) {
            values = Mutex([value])
            self.connection = connection
        }

        /// All values that it has had.
        var history: [Bool] { values.withLock { $0 } }

        /// Refuses the next changes.
        func refuseChanges(_ count: Int) { refusals.store(count, ordering: .relaxed) }

        /// Changes the value, like another program or the daemon itself.
        func change(to value: Bool) async { await set(value, connection) }

        private func set(_ value: Bool, _ connection: isolated BusConnection) {
            let isNew = values.withLock { values in
                guard values.last != value else { return false }
                values.append(value)
                return true
            }
            guard isNew else { return }
            try? connection.emitPropertiesChanged(
                ScriptedDaemon.adapter,
                "org.bluez.Adapter1",
                [("Pairable", .bool(value))]
            )
        }

        fileprivate var property: ExportedProperty {
            ExportedProperty("Pairable", "b") { [self] () throws(MethodError) in
                .bool(history.last ?? false)
            } set: { [self] (value) throws(MethodError) in
                let left = refusals.load(ordering: .relaxed)
                if left > 0 {
                    refusals.store(left - 1, ordering: .relaxed)
                    throw MethodError("org.bluez.Error.Busy", "")
                }
                connection.assumeIsolated { set(value.bool ?? false, $0) }
            }
        }
    }

    let bus: TestBus
    let pairable: Pairable
    private let calls: AsyncStream<Call>
    /// How many centrals have come.
    private let centrals = Atomic(0)

    private init(bus: TestBus, pairable: Pairable, calls: AsyncStream<Call>) {
        self.bus = bus
        self.pairable = pairable
        self.calls = calls
    }

    var connection: BusConnection { bus.server }

    /// Runs a daemon whose adapter is pairable at first or not.
    ///
    /// The test answers the calls to the agent manager as well when it scripts agents; they are accepted
    /// otherwise. An experimental daemon before 5.77 applies the intervals of advertisements.
    static func run(
        isPairable: Bool = true,
        isExperimental: Bool = false,
        scriptsAgents: Bool = false,
        _ body: (ScriptedDaemon) async throws -> Void
    ) async throws {
        try await TestBus.run { bus in
            let (calls, continuation) = AsyncStream<Call>.makeStream()
            let pairable = Pairable(isPairable, on: bus.server)
            try await appear(on: bus.server, pairable, isExperimental, scriptsAgents) {
                continuation.yield($0)
            }
            try await body(ScriptedDaemon(bus: bus, pairable: pairable, calls: calls))
        }
    }

    private static func appear(
        on connection: BusConnection,
        _ pairable: Pairable,
        _ isExperimental: Bool,
        _ scriptsAgents: Bool,
        _ take: @escaping @Sendable (Call) -> Void
    ) async throws {
        func method(_ name: MemberName, _ input: Signature) -> ExportedMethod {
            ExportedMethod(name, input, "") { call, reply in
                guard let program = try? BusName(call.sender.string) else { return }
                // With these calls, the program checks that no other program has its handles.
                var arguments = call.arguments
                let values = (try? arguments.readValues()) ?? []
                let path = values.first?.objectPath
                if path == "/probe", name == "RegisterApplication" {
                    let reply = reply.deferred()
                    return _ = Task { await place(reply, of: program, on: connection) }
                }
                if let path, path == "/probe" || path.isBelow("/claims") { return reply.send() }
                take(Call(method: name, program: program, arguments: values, reply: reply.deferred()))
            }
        }
        func agentMethod(_ name: MemberName, _ input: Signature) -> ExportedMethod {
            scriptsAgents ? method(name, input) : ExportedMethod(name, input, "") { $1.send() }
        }
        // As an adapter of Bluetooth 5 has it, whose advertising a connection interrupts.
        let channels = ExportedProperty("SupportedSecondaryChannels", .strings(["1M"]))
        let capabilities = ExportedProperty("SupportedCapabilities", .properties([]))
        try await connection.exportObjectManager(at: "/")
        try await connection.export(
            ExportedObject(
                "/org/bluez",
                [
                    ExportedInterface(
                        "org.bluez.AgentManager1",
                        methods: [
                            agentMethod("RegisterAgent", "os"), agentMethod("RequestDefaultAgent", "o"),
                            agentMethod("UnregisterAgent", "o"),
                        ]
                    )
                ]
            )
        )
        try await connection.export(
            ExportedObject(
                adapter,
                [
                    ExportedInterface(
                        "org.bluez.Adapter1",
                        properties: [ExportedProperty("Powered", .bool(true)), pairable.property]
                    ),
                    ExportedInterface(
                        "org.bluez.GattManager1",
                        methods: [
                            method("RegisterApplication", "oa{sv}"), method("UnregisterApplication", "o"),
                        ]
                    ),
                    ExportedInterface(
                        "org.bluez.LEAdvertisingManager1",
                        methods: [
                            method("RegisterAdvertisement", "oa{sv}"), method("UnregisterAdvertisement", "o"),
                        ],
                        properties: isExperimental ? [channels, capabilities] : [channels]
                    ),
                ]
            )
        )
        try await connection.requestName("org.bluez")
    }

    /// Accepts services, and reports a handle for each service that demands none.
    private static func place(_ reply: DeferredReply, of program: BusName, on connection: BusConnection)
        async
    {
        let answer = try? await connection.call(program, "/probe", .objectManager, "GetManagedObjects")
        for entry in answer?.first?.dictionary?.entries ?? [] {
            let service = entry.value["org.bluez.GattService1"]
            guard let path = entry.key.objectPath, service?["Handle"]?.integer(UInt16.self) == 0 else {
                continue
            }
            let arguments: [BusValue] = [
                .string("org.bluez.GattService1"), .string("Handle"), .variant(.uint16(0x0100)),
            ]
            _ = try? await connection.call(program, path, .properties, "Set", arguments)
        }
        reply.send()
    }

    /// The next call, which has to be one of `method`.
    func next(_ method: MemberName) async throws -> Call {
        for await call in calls {
            try #require(call.method == method)
            return call
        }
        throw CancellationError()
    }

    /// Answers the next calls, which have to be these, without more ado.
    func accept(_ methods: MemberName...) async throws {
        for method in methods { try await next(method).reply.send() }
    }

    /// Runs a peripheral on this daemon until it ends, its body does, or it is cancelled.
    func start(
        _ peripheral: Peripheral,
        recovery: Recovery = .never,
        restoringFrom store: (any RestorationStore)? = nil,
        logger: Logger = .silent,
        clock: any Clock<Duration> = ManualClock(),
        settings: AdapterSettings = AdapterSettings(),
        _ body: @escaping @Sendable (PeripheralSession) async throws -> Void = { _ in
            let (never, continuation) = AsyncStream<Never>.makeStream()
            for await _ in never {}
            continuation.finish()
            try Task.checkCancellation()
        }
    ) -> Task<Void, any Error> {
        let backend = BlueZBackend(
            settings: settings,
            recovery: recovery,
            bus: .address(bus.bus.address),
            clock: clock
        )
        return Task {
            guard let store else { return try await peripheral.run(on: backend, logger: logger, body) }
            try await peripheral.run(on: backend, restoringFrom: store, logger: logger, body)
        }
    }

    /// Cancels a peripheral that is published.
    func stop(_ run: Task<Void, any Error>) async throws {
        run.cancel()
        // A central may just have interrupted the advertising, which is then being renewed.
        for await call in calls {
            call.reply.send()
            if call.method == "UnregisterApplication" { break }
        }
        await #expect(throws: CancellationError.self) { try await run.value }
    }

    /// Reports that one or several centrals have connected.
    func changeConnection(times: Int = 1) async throws {
        for _ in 0..<times {
            let number = centrals.add(1, ordering: .relaxed).newValue
            let name = "dev_C0_FF_EE_00_00_" + (number < 10 ? "0" : "") + String(number)
            try await connection.emitPropertiesChanged(
                Self.adapter.appending(name),
                "org.bluez.Device1",
                [("Connected", .bool(true))]
            )
        }
    }

    /// Reports that the adapter is gone.
    func loseAdapter() async throws {
        try await connection.emit("/", .objectManager, "InterfacesRemoved") { writer in
            writer.append(Self.adapter)
            writer.append(.strings(["org.bluez.Adapter1", "org.bluez.GattManager1"]))
        }
    }
}
