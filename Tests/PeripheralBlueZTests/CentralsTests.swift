import BusTestSupport
import Glibc
import Logging
import PeripheralCore
import PeripheralDBus
import PeripheralKit
import Synchronization
import TestSupport
import Testing

@testable import PeripheralBlueZ

@Suite(.timeLimit(.minutes(1)))
struct CentralsTests {
    private struct NoLinks: LinkSecurity {
        func links(of adapter: ObjectPath) -> [LinkState]? { nil }
    }

    private static let adapter: ObjectPath = "/org/bluez/hci0"
    private static let value: AttributeHandle = 3

    /// The path of a device whose address ends with a digit.
    private static func device(_ number: Int) throws -> ObjectPath {
        try adapter.appending("dev_C0_FF_EE_00_00_0\(number)")
    }

    /// When a subscriber leaves, bluetoothd closes the socket of another: a bus that is slow does not make that look as
    /// if the other had unsubscribed.
    @Test func theNewsOfALeavingMayComeLate() async throws {
        try await TestBus.run { bus in
            let leaving = try Self.device(2)
            let (asked, ask) = AsyncStream.makeStream(of: Void.self)
            // bluetoothd has told of the leaving before it answers, so that it comes before the answer.
            let ping = ExportedMethod("Ping", "", "") { [server = bus.server] _, reply in
                server.assumeIsolated { server in
                    try? server.emitPropertiesChanged(
                        leaving,
                        "org.bluez.Device1",
                        [("Connected", .bool(false))]
                    )
                }
                reply.send()
                ask.yield()
            }
            try await bus.server.exportObjectManager(at: "/")
            try await bus.server.export(
                ExportedObject("/", [ExportedInterface("org.freedesktop.DBus.Peer", methods: [ping])])
            )
            try await bus.server.requestName("org.bluez")

            let ended = Mutex<[BackendEvent]>([])
            let centrals = Centrals(
                on: bus.client,
                characteristics: [
                    Self.value: Centrals.Characteristic(path: "/v", isIndicated: false, security: .open)
                ],
                linkSecurity: NoLinks(),
                logger: .silent
            ) { event in
                if case .unsubscribed = event { ended.withLock { $0.append(event) } }
            }
            await centrals.setAbilities(Centrals.Abilities(of: .v5_82))
            try await DeviceWatcher(connection: bus.client, adapter: Self.adapter, centrals: centrals).watch()
            var sockets: [OwnedFileDescriptor] = []
            for number in 1...2 {
                let path = try Self.device(number)
                await centrals.deviceChanged(path, .properties(["Connected": .bool(true)]))
                let central = try #require(await centrals.central(at: path))
                sockets.append(try #require(await centrals.subscribed(central, to: Self.value)))
            }

            close(sockets[0].take())
            for await _ in asked { break }
            // What follows from the answer does so without waiting.
            _ = try await bus.server.call(await bus.client.uniqueName, "/", .peer, "Ping")
            await withCheckedContinuation { continuation in
                bus.loop.execute {
                    _ = bus.loop.schedule(after: .milliseconds(1)) { continuation.resume() }
                }
            }
            let subscribers = await centrals.subscriptions.subscribers(of: Self.value)
            #expect(subscribers.map(\.central.id) == [Central.ID(devicePath: try Self.device(1))])
            #expect(subscribers.map(\.route) == [.bus])
            #expect(ended.withLock(\.count) == 0)
            await centrals.close()
        }
    }
}
