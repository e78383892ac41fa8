import PeripheralDBus
import PeripheralEmulator
import Testing

@Suite(.timeLimit(.minutes(1)))
struct BusConnectionTests {
    @Test func callReachesAnExportedMethod() async throws {
        let bus = try await PrivateBus()
        let loop = EventLoop()
        let server = try await BusConnection.connect(to: .address(bus.address), on: loop)
        let client = try await BusConnection.connect(to: .address(bus.address), on: loop)
        try await server.export(
            ExportedObject(
                "/a/b",
                [
                    ExportedInterface(
                        "a.B",
                        methods: [
                            ExportedMethod("Echo", "s", "s") { call, reply in
                                var arguments = call.arguments
                                let text = (try? arguments.readString()) ?? ""
                                reply.send { $0.append(text) }
                            }
                        ]
                    )
                ]
            )
        )
        let answer = try await client.call(server.uniqueName, "/a/b", "a.B", "Echo", [.string("hello")])
        #expect(answer == [.string("hello")])
        await server.close()
        await client.close()
        await loop.stop()
        bus.stop()
    }
}
