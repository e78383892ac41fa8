import PeripheralDBus
import PeripheralEmulator
import Testing

/// Two connections to a bus of their own: one that serves, one that asks.
struct TestBus {
    let bus: PrivateBus
    let loop: EventLoop
    let server: BusConnection
    let client: BusConnection
    let serverName: BusName

    /// Runs `body` with a fresh bus and leaves nothing behind, whether it throws or not.
    static func run(_ body: (TestBus) async throws -> Void) async throws {
        let bus = try await PrivateBus()
        let loop = EventLoop()
        let server = try await BusConnection.connect(to: .address(bus.address), on: loop)
        let client = try await BusConnection.connect(to: .address(bus.address), on: loop)
        let test = TestBus(
            bus: bus,
            loop: loop,
            server: server,
            client: client,
            serverName: await server.uniqueName
        )
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(test))
        } catch {
            result = .failure(error)
        }
        await client.close()
        await server.close()
        await loop.stop()
        bus.stop()
        try result.get()
    }

    func call(
        _ path: ObjectPath,
        _ interface: InterfaceName,
        _ member: MemberName,
        _ body: [BusValue] = []
    ) async throws(BusError) -> [BusValue] {
        try await client.call(serverName, path, interface, member, body)
    }

    func get(_ path: ObjectPath, _ interface: String, _ property: String) async throws(BusError) -> BusValue?
    {
        try await call(path, .properties, "Get", [.string(interface), .string(property)]).first
    }

    /// The error that a call is answered with, nil when it succeeds.
    func error(
        of path: ObjectPath,
        _ interface: InterfaceName,
        _ member: MemberName,
        _ body: [BusValue] = []
    ) async -> MethodError? {
        do throws(BusError) {
            _ = try await call(path, interface, member, body)
            return nil
        } catch {
            guard case .remote(let name, let message) = error, let name = try? ErrorName(name) else {
                Issue.record("expected an answer, got \(error)")
                return nil
            }
            return MethodError(name, message)
        }
    }
}

/// Lets a test wait for something that happens elsewhere, however the two meet in time.
final class Signal<Value: Sendable>: Sendable {
    private let stream: AsyncStream<Value>
    private let continuation: AsyncStream<Value>.Continuation

    init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    func send(_ value: Value) {
        continuation.yield(value)
    }

    /// The next value that was or will be sent; nil when the test is cancelled.
    func next() async -> Value? {
        var iterator = stream.makeAsyncIterator()
        return await iterator.next()
    }
}

extension Signal<Void> {
    func send() {
        send(())
    }
}
