import PeripheralDBus
import PeripheralEmulator

/// Two connections to a bus of their own: one that serves, one that asks.
struct BusPair {
    let server: BusConnection
    let serverName: BusName
    let client: BusConnection

    /// Runs `body` with a fresh bus and leaves nothing behind, whether it throws or not.
    static func run(_ body: (BusPair) async throws -> Void) async throws {
        let bus = try await PrivateBus()
        let loop = EventLoop()
        let server = try await BusConnection.connect(to: .address(bus.address), on: loop)
        let client = try await BusConnection.connect(to: .address(bus.address), on: loop)
        let pair = BusPair(server: server, serverName: await server.uniqueName, client: client)
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(pair))
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
