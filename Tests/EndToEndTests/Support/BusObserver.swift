import PeripheralDBus
import PeripheralEmulator

/// Another program on the bus, which sees what everybody sees.
struct BusObserver {
    let connection: BusConnection
    /// What bluetoothd announces, and who leaves the bus, in its order.
    let events = Signal<String>()

    static func run(on bluez: EmulatedBlueZ, _ body: (BusObserver) async throws -> Void) async throws {
        let loop = EventLoop()
        let connection = try await BusConnection.connect(to: .address(bluez.busAddress), on: loop)
        let result: Result<Void, any Error>
        do {
            let observer = BusObserver(connection: connection)
            try await observer.listen()
            result = .success(try await body(observer))
        } catch {
            result = .failure(error)
        }
        await connection.close()
        await loop.stop()
        try result.get()
    }

    private func listen() async throws {
        let changes = MatchRule(interface: .properties, member: "PropertiesChanged")
        _ = try await connection.subscribe(to: changes) { [events] signal in
            var arguments = signal.arguments
            guard let values = try? arguments.readValues(), let interface = values[0].string else { return }
            if interface == "org.bluez.LEAdvertisingManager1",
                let count = values[1]["ActiveInstances"]?.integer(Int.self)
            {
                events.send("advertisements: \(count)")
            } else if let uuids = values[1]["UUIDs"]?.elements?.compactMap(\.string) {
                events.send(uuids.contains { $0.hasPrefix("0000180f") } ? "services" : "no services")
            }
        }
        let owners = MatchRule(
            sender: .bus,
            interface: "org.freedesktop.DBus",
            member: "NameOwnerChanged"
        )
        _ = try await connection.subscribe(to: owners) { [events] signal in
            var arguments = signal.arguments
            guard let values = try? arguments.readValues(), values[2].string == "" else { return }
            events.send("somebody leaves")
        }
    }

    /// The next of what happens.
    func next(_ count: Int) async throws -> [String] {
        var texts: [String] = []
        while texts.count < count { texts.append(try await events.next()) }
        return texts
    }

    /// The numbers of advertisements that bluetoothd announces, up to this number.
    ///
    /// bluetoothd announces each registration and each withdrawal.
    func advertisementCounts(upTo last: Int) async throws -> [Int] {
        let start = "advertisements: "
        var counts: [Int] = []
        while counts.last != last {
            let event = try await events.next()
            if event.hasPrefix(start), let count = Int(event.dropFirst(start.count)) { counts.append(count) }
        }
        return counts
    }
}
