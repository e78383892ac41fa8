import PeripheralBlueZ
import PeripheralDBus
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

/// What tools such as busctl see of a running peripheral.
@Suite(.timeLimit(.minutes(1)))
struct BusTests {
    /// The paths below a path, by introspection as `busctl tree` does it.
    private func tree(_ owner: BusName, _ connection: BusConnection, _ path: ObjectPath = "/") async throws
        -> [String]
    {
        let answer = try await connection.call(owner, path, .introspectable, "Introspect")
        let description = try #require(answer.first?.string)
        var paths = [path.text]
        for line in description.split(separator: "\n") where line.hasPrefix("  <node name=\"") {
            let name = line.dropFirst("  <node name=\"".count).prefix { $0 != "\"" }
            paths += try await tree(owner, connection, path.appending(String(name)))
        }
        return paths
    }

    @Test func objectsStandInTheOrderOfTheDeclaration() async throws {
        try await withEmulatedBlueZ { bluez in
            try await BusObserver.run(on: bluez) { observer in
                let connection = observer.connection
                @Sendable func names() async throws -> Set<String> {
                    let answer = try await connection.call(
                        .bus,
                        "/org/freedesktop/DBus",
                        "org.freedesktop.DBus",
                        "ListNames"
                    )
                    return Set(answer.first?.elements?.compactMap(\.string) ?? [])
                }
                let before = try await names()
                try await Peripheral.battery.run(on: bluez.backend, logger: .silent) { _ in
                    let newcomers = try await names().subtracting(before)
                    let owner = try BusName(try #require(newcomers.count == 1 ? newcomers.first : nil))
                    let paths = try await tree(owner, connection)
                    let service = "/peripheral/service0000"
                    #expect(Set(paths).isSuperset(of: ["/", "/advertisement0", "/agent"]))
                    #expect(
                        paths.filter { $0.hasPrefix("/peripheral") }
                            == ["/peripheral", service, "\(service)/char0000"]
                    )
                    #expect(paths.count == 6)
                    let answer = try await connection.call(
                        owner,
                        try ObjectPath("\(service)/char0000"),
                        .introspectable,
                        "Introspect"
                    )
                    let description = try #require(answer.first?.string)
                    for part in [
                        "org.bluez.GattCharacteristic1", "ReadValue", "WriteValue", "StartNotify",
                        "StopNotify",
                        "Confirm", "Flags", "UUID", "Service",
                    ] {
                        #expect(description.utf8Contains("\"\(part)\""), "\(part)")
                    }
                }
            }
        }
    }

    @Test func bluetoothdCanBeWalkedThrough() async throws {
        try await withEmulatedBlueZ { bluez in
            try await BusObserver.run(on: bluez) { observer in
                let paths = try await tree("org.bluez", observer.connection)
                #expect(paths == ["/", "/org", "/org/bluez", "/org/bluez/hci0"])
            }
        }
    }
}

extension String {
    fileprivate func utf8Contains(_ part: String) -> Bool {
        let (text, part) = (Array(utf8), Array(part.utf8))
        return text.indices.contains { text[$0...].starts(with: part) }
    }
}
