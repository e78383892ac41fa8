internal import PeripheralCore
internal import PeripheralKit
internal import PeripheralTesting

/// Changes of services under the eyes of centrals that keep what they have discovered.
extension ConformanceSuite {
    static let serviceCaching: [Scenario] = [
        changesUnderTraffic, changesAreMerged(isPrivate: false), changesAreMerged(isPrivate: true),
    ]

    static let changesUnderTraffic = Scenario(
        "two centrals, one bonded, learn of each change of the services and miss no value meanwhile"
    ) {
        let gateway = Gateway(reservedHandles: 64, pairing: .justWorks)
        let base = gateway.base
        return ScenarioRun(gateway.peripheral, mtu: nil) { first, session in
            try await withCentrals(first, mtus: [517, 247]) { centrals in
                try await pair(centrals[0], session)
                let sensors = [GatewaySensor(0), GatewaySensor(1, extraCharacteristics: 3)]
                var places: [ClosedRange<AttributeHandle>] = []
                for sensor in sensors {
                    try await session.add { sensor }
                    places.append(try await centrals[0].handles(of: sensor.uuid))
                }
                for sensor in sensors { try await session.remove(sensor) }
                var changed: [AttributeHandle] = []
                for central in centrals {
                    changed.append(try await central.subscribeToServiceChanged())
                    try await central.subscribe(to: base)
                    _ = try await central.read(base)
                }
                async let traffic: Void = {
                    for number in 0..<100 as Range<UInt8> { try await session.notify(base, [number]) }
                }()
                for _ in 0..<3 {
                    try await session.add { sensors[0] }
                    try await session.replace(sensors[0]) { sensors[1] }
                    try await session.remove(sensors[1])
                }
                try await traffic
                try await session.notify(base, [255])
                let round = [places[0], places[1], places[0], places[1]]
                let handles = changed
                try await all(centrals) { number, central in
                    let (changes, values) = try await central.changes(12, andValuesOf: base, handles[number])
                    try expect("changes for \(number)", changes, is: round + round + round)
                    try expect("values for \(number)", values, is: Array(0..<100))
                }
                try expect("services", try await centrals[0].serviceTypes(), is: [ScenarioUUID.service])
            }
        }
    }

    /// A bonded central that was away receives one indication with the range of all changes.
    static func changesAreMerged(isPrivate: Bool) -> Scenario {
        let address = isPrivate ? " and changes its address" : ""
        return Scenario("a bonded central that is away\(address) learns of all changes by one range") {
            let gateway = Gateway(reservedHandles: 64, pairing: .justWorks)
            let base = gateway.base
            return ScenarioRun(gateway.peripheral, mtu: nil) { central, session in
                let events = session.events
                if isPrivate { try await central.changeAddress() }
                try await central.connect()
                try await pair(central, session)
                let sensors = (0..<3).map { GatewaySensor(UInt8($0), extraCharacteristics: $0) }
                let initialHash = try await central.databaseHash()
                try await session.add { sensors[0] }
                let first = try await central.handles(of: sensors[0].uuid)
                let hash = try await central.databaseHash()
                try expect("whether the Database Hash has changed", hash != initialHash, is: true)
                let changed = try await central.subscribeToServiceChanged()
                try await central.subscribe(to: base)
                _ = try await central.read(base)
                try await central.disconnect()
                try await next(of: events, "leaving") { $0.kind == "disconnected" }
                try await session.remove(sensors[0])
                try await session.add { sensors[1] }
                try await session.replace(sensors[1]) { sensors[2] }
                if isPrivate { try await central.changeAddress() }
                try await central.connect()
                try await next(of: events, "resumption") { $0.kind == "subscribed" }
                let last = try await central.handles(of: sensors[2].uuid)
                let all = first.lowerBound...last.upperBound
                try await central.expectChanges([all], gateway, changed, session)
                let services: Set = [ScenarioUUID.service, sensors[2].uuid]
                try expect("services", try await central.serviceTypes(), is: services)
                let newHash = try await central.databaseHash()
                try expect(
                    "whether the Database Hash is new",
                    ![hash, initialHash].contains(newHash),
                    is: true
                )
                try await session.remove(sensors[2])
                try expect("Database Hash", try await central.databaseHash(), is: initialHash)
            }
        }
    }

    /// Pairs, and waits until the program knows the bond.
    private static func pair(_ central: any TestCentral, _ session: PeripheralSession) async throws {
        let events = session.events
        try await central.pair(.justWorks)
        try await untilBonded(events)
    }
}
