package import PeripheralDBus
package import PeripheralEmulator

/// Two connections to a bus of their own: one that serves, one that asks.
package struct TestBus {
    package let bus: PrivateBus
    package let loop: EventLoop
    package let server: BusConnection
    package let client: BusConnection
    package let serverName: BusName

    /// Runs `body` with a fresh bus and leaves nothing behind, whether it throws or not.
    package static func run(_ body: (TestBus) async throws -> Void) async throws {
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
}
