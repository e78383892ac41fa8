import PeripheralDBus
import PeripheralEmulator
import Testing

/// Another program on the bus.
struct Stranger {
    let connection: BusConnection
    let names: Set<String>

    static func run(on bluez: EmulatedBlueZ, _ body: (Stranger) async throws -> Void) async throws {
        let loop = EventLoop()
        let connection = try await BusConnection.connect(to: .address(bluez.busAddress), on: loop)
        let result: Result<Void, any Error>
        do {
            let stranger = Stranger(connection: connection, names: try await Self.names(on: connection))
            result = .success(try await body(stranger))
        } catch {
            result = .failure(error)
        }
        await connection.close()
        await loop.stop()
        try result.get()
    }

    private static func names(on connection: BusConnection) async throws -> Set<String> {
        let bus: InterfaceName = "org.freedesktop.DBus"
        let answer = try await connection.call(.bus, "/org/freedesktop/DBus", bus, "ListNames")
        return Set(answer.first?.elements?.compactMap(\.string) ?? [])
    }

    /// The one program that has come since.
    func newcomer() async throws -> BusName {
        let newcomers = try await Self.names(on: connection).subtracting(names)
        return try BusName(try #require(newcomers.count == 1 ? newcomers.first : nil))
    }
}

extension BusConnection {
    /// The name of the error that a call is answered with, nil when it succeeds.
    func error(
        of call: MalformedTrafficTests.Call,
        to owner: BusName
    ) async throws -> String? {
        do throws(BusError) {
            _ = try await self.call(owner, call.path, call.interface, call.member, call.body)
            return nil
        } catch {
            guard case .remote(let name, _) = error else { throw error }
            return name
        }
    }
}
