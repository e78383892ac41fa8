import BusTestSupport
import Glibc
import PeripheralDBus
import PeripheralEmulator
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1)))
struct BusConnectionTests {
    /// A connection ignores a reply from a sender that it has not called.
    ///
    /// Only a faulty bus delivers such a reply.
    @Test(arguments: ["the unique name", "a name that is followed"])
    func anAnswerByAnotherThanWhoWasCalledIsNone(destination: String) async throws {
        try await TestBus.run { test in
            let name: BusName = "test.Owner"
            try await test.server.requestName(name)
            try await test.server.export(.echo("/echo", "ay"))
            try await BusProxy.run(to: test.bus.address) { proxy, loop in
                let client = try await BusConnection.connect(to: .address(proxy.address), on: loop)
                _ = try await client.watchName(name) { _ in }
                let called = destination == "the unique name" ? test.serverName : name
                func call(timeout: Duration) async throws(BusError) {
                    _ = try await client.call(
                        called,
                        "/echo",
                        "test.Echo",
                        "Echo",
                        [.bytes([1])],
                        timeout: timeout
                    )
                }
                try await call(timeout: .seconds(25))
                let own = test.serverName.text
                let other = try BusName(own.dropLast() + (own.hasSuffix("9") ? "8" : "9"))
                await proxy.disguise(test.serverName, as: other)
                await #expect(throws: BusError.timedOut) { try await call(timeout: .milliseconds(200)) }
                // The bus itself answers for everybody.
                await #expect(throws: BusError.self) {
                    _ = try await client.call("test.Nobody", "/echo", "test.Echo", "Echo")
                }
                await client.close()
            }
        }
    }

    @Test func anErrorKeepsItsNameAndMessage() async throws {
        try await TestBus.run { test in
            let refusal = MethodError("org.bluez.Error.Failed", "0x80")
            try await test.server.export(
                .method("/m", "", "") { _, reply in reply.fail(refusal) }
            )
            #expect(await test.error(of: "/m", "test.M", "Call") == refusal)
        }
    }

    @Test func anAnswerMayComeLaterAndFromAnotherThread() async throws {
        try await TestBus.run { test in
            let tasks = LoopTasks(on: test.loop)
            async let scope: Void = tasks.run()
            try await test.server.export(
                .method("/m", "y", "ay") { call, reply in
                    var arguments = call.arguments
                    let count = (try? arguments.readByte()) ?? 0
                    let reply = reply.deferred()
                    tasks.start {
                        #expect(reply.send(bytes: Array(repeating: 1, count: Int(count))))
                        #expect(!reply.send(bytes: []), "the first answer counts")
                    }
                }
            )
            for count in [0, 3, 200] as [UInt8] {
                #expect(
                    try await test.call("/m", "test.M", "Call", [.byte(count)])
                        == [.bytes(Array(repeating: 1, count: Int(count)))]
                )
            }
            tasks.finish()
            await scope
        }
    }

    @Test func aDroppedReplyIsAnError() async throws {
        try await TestBus.run { test in
            try await test.server.export(.method("/now", "", "") { _, _ in })
            try await test.server.export(.method("/later", "", "") { _, reply in _ = reply.deferred() })
            for path in ["/now", "/later"] as [ObjectPath] {
                let error = await test.error(of: path, "test.M", "Call")
                #expect(error == MethodError(.failed, "the method ended without a reply"))
            }
        }
    }

    @Test func anAnswerThatCannotBeSentIsAnError() async throws {
        try await TestBus.run { test in
            try await test.server.export(
                .method("/m", "", "s") { _, reply in reply.send { $0.append("a\0") } }
            )
            #expect(await test.error(of: "/m", "test.M", "Call")?.name == .failed)
        }
    }

    @Test func aCallTimesOut() async throws {
        try await TestBus.run { test in
            let kept = Kept()
            try await test.server.export(.method("/m", "", "") { _, reply in kept.keep(reply.deferred()) })
            await #expect(throws: BusError.timedOut) {
                try await test.client.call(test.serverName, "/m", "test.M", "Call", timeout: .milliseconds(1))
            }
        }
    }

    @Test func cancellationEndsTheWait() async throws {
        try await TestBus.run { test in
            let kept = Kept()
            let called = Signal<Void>()
            try await test.server.export(
                .method("/m", "", "") { _, reply in
                    kept.keep(reply.deferred())
                    called.send()
                }
            )
            let call = Task {
                _ = await #expect(throws: BusError.cancelled) { try await test.call("/m", "test.M", "Call") }
            }
            await called.next()
            call.cancel()
            await call.value
            // The answer that comes too late is dropped and disturbs nothing.
            kept.answerAll()
            #expect(await test.error(of: "/m", "test.M", "Other")?.name == .unknownMethod)
        }
    }

    @Test func theLossOfTheBusIsToldOnceAndEndsWhatWaits() async throws {
        let bus = try await PrivateBus()
        let loop = EventLoop()
        let connection = try await BusConnection.connect(to: .address(bus.address), on: loop)
        let name = await connection.uniqueName
        let called = Signal<Void>()
        let lost = Signal<Int>()
        let count = Mutex(0)
        let kept = Kept()
        try await connection.export(
            .method("/m", "", "") { _, reply in
                kept.keep(reply.deferred())
                called.send()
            }
        )
        await connection.onLoss {
            lost.send(
                count.withLock {
                    $0 += 1; return $0
                }
            )
        }
        let call = Task {
            _ = await #expect(throws: BusError.disconnected) {
                try await connection.call(name, "/m", "test.M", "Call")
            }
        }
        await called.next()
        bus.kill()
        #expect(await lost.next() == 1)
        await call.value
        #expect(await !connection.isOpen)
        await #expect(throws: BusError.disconnected) {
            try await connection.call(name, "/m", "test.M", "Call")
        }
        await #expect(throws: BusError.disconnected) { try await connection.emit("/m", "test.M", "Signal") }
        await #expect(throws: BusError.disconnected) {
            try await connection.subscribe(to: MatchRule()) { _ in }
        }
        // A handler that is added late is called at once. Closing a lost connection does nothing.
        await connection.onLoss { lost.send(-1) }
        #expect(await lost.next() == -1)
        kept.answerAll()
        await connection.close()
        #expect(count.withLock { $0 } == 1)
        await loop.stop()
        bus.stop()
    }

    @Test func closingIsNoLoss() async throws {
        try await TestBus.run { test in
            let wasTold = Mutex(false)
            await test.client.onLoss { wasTold.withLock { $0 = true } }
            await test.client.close()
            await test.client.close()
            await test.client.onLoss { wasTold.withLock { $0 = true } }
            await #expect(throws: BusError.disconnected) { try await test.call("/", .peer, "Ping") }
            #expect(!wasTold.withLock { $0 })
        }
    }

    @Test(arguments: ["unix:path=/nonexistent/socket", "no address at all", ""])
    func aBusThatIsNotThereIsAnError(address: String) async throws {
        let loop = EventLoop()
        let error = await #expect(throws: BusError.self) {
            try await BusConnection.connect(to: .address(address), on: loop)
        }
        if case .connectionFailed(let named, _) = error {
            #expect(named == address)
        } else {
            Issue.record("wrong error: \(String(describing: error))")
        }
        await loop.stop()
    }

    @Test func anAddressComesFromTheEnvironment() async throws {
        await #expect(processExitsWith: .success) {
            let bus = try await PrivateBus()
            setenv("DBUS_SYSTEM_BUS_ADDRESS", bus.address, 1)
            let loop = EventLoop()
            let connection = try await BusConnection.connect(to: .system, on: loop)
            try #require(await connection.uniqueName.isUnique)
            await connection.close()
            await loop.stop()
        }
    }
}

/// Replies that wait until the test sends them.
final class Kept: Sendable {
    private let replies = Mutex<[DeferredReply]>([])

    func keep(_ reply: DeferredReply) {
        replies.withLock { $0.append(reply) }
    }

    func answerAll() {
        let kept = replies.withLock { replies in
            defer { replies = [] }
            return replies
        }
        for reply in kept { reply.send() }
    }
}

extension ExportedObject {
    /// An object with one method, `test.M.Call`.
    static func method(
        _ path: ObjectPath,
        _ input: Signature,
        _ output: Signature,
        _ handler: @escaping ExportedMethod.Handler
    ) -> ExportedObject {
        ExportedObject(
            path,
            [ExportedInterface("test.M", methods: [ExportedMethod("Call", input, output, handler: handler)])]
        )
    }
}

extension BusConnection {
    /// Runs several steps on the loop with nothing in between.
    func run<Result: Sendable>(_ body: @Sendable (isolated BusConnection) throws -> Result) rethrows -> Result
    {
        try body(self)
    }
}
