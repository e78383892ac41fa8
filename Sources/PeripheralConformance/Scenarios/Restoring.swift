internal import PeripheralCore
internal import PeripheralKit
internal import PeripheralTesting
internal import PeripheralVirtualServer

extension ConformanceSuite {
    static let restoring: [Scenario] = [
        handlesStay, valueSurvives, durableValueSurvivesKill, subscriberReturns, lateBondReturns,
        newServiceIsReported, grownServiceIsReported,
        serviceChangedComes(isAway: false), serviceChangedComes(isAway: true), programsKeepApart,
    ]

    private static let identifier = "restoration scenario"

    /// A peripheral with one persistent value, followed by another service.
    private struct Keeper {
        let kept = Characteristic<UInt8>(
            ScenarioUUID.value,
            [.read, .write, .notify],
            security: AttributeSecurity(.encrypted)
        ) {
            PersistentValue(initially: 1, writes: .durable)
        }
        let other = Characteristic<[UInt8]>(ScenarioUUID.otherValue, .read) { Read { [9] } }
        let added = Characteristic<[UInt8]>(ScenarioUUID.thirdValue, [.read, .notify]) { Read { [3] } }
        let last = Characteristic<[UInt8]>(ScenarioUUID.otherValue, .read) { Read { [8] } }

        func peripheral(
            withNewService: Bool = false,
            withNewCharacteristic: Bool = false,
            onRestore: @escaping @Sendable (RestoredState) -> Void = { _ in }
        ) -> Peripheral {
            Peripheral("Keeper", restorationIdentifier: identifier, pairing: .justWorks) {
                // The service is declared first, so a stack would assign it the first handles.
                if withNewService { GATTService(0x1815) { added } }
                GATTService(ScenarioUUID.service) { kept }
                GATTService(.battery) {
                    if withNewCharacteristic { added }
                    other
                }
                GATTService(0x181A) { last }
            } onRestore: { restored in
                onRestore(restored)
            }
        }
    }

    /// Returns the handles of the values that the central discovers.
    private static func handles(_ keeper: Keeper, _ central: any TestCentral) async throws
        -> [AttributeHandle]
    {
        [
            try await central.locate(keeper.kept).valueHandle,
            try await central.locate(keeper.other).valueHandle,
            try await central.locate(keeper.last).valueHandle,
        ]
    }

    /// A bonded central caches the discovered attributes.
    static let handlesStay = Scenario(
        "the attributes stand at the same handles after a restart of the program"
    ) {
        let keeper = Keeper()
        let found = Recorder<[AttributeHandle]>()
        return ScenarioRun(keeper.peripheral()) { central, _ in
            try await central.pair(.justWorks)
            found.record(try await handles(keeper, central))
        }.restarted(as: keeper.peripheral()) { central, session in
            let before = try await found.next()
            let changes = session.restored?.changes
            try expect("whether nothing has changed", changes?.isEmpty, is: true)
            try expect("whether caches are wrong", changes?.invalidatesCaches, is: false)
            try await reconnect(central)
            try expect("value at its handle", try await central.read(before[0], offset: 0), is: [1])
            try expect("other value at its handle", try await central.read(before[1], offset: 0), is: [9])
            try expect("handles", try await handles(keeper, central), is: before)
        }
    }

    /// Returns the handles that the central discovers for the values of two programs.
    private static func places(_ central: any TestCentral) async throws -> [UInt8: AttributeHandle] {
        var places: [UInt8: AttributeHandle] = [:]
        for service in try await central.discover().applicationServices
        where service.uuid == ScenarioUUID.service {
            for characteristic in service.characteristics {
                let value = try await central.read(characteristic.valueHandle, offset: 0)
                places[value.first ?? 0] = characteristic.valueHandle
            }
        }
        try expect("values", places.keys.sorted(), is: [1, 2])
        return places
    }

    /// If each program ran alone, the services of both would have the same handle, type and size.
    static let programsKeepApart = Scenario(
        "two programs with the same services serve side by side, also after a restart of one"
    ) {
        let values = (1...2 as ClosedRange<UInt8>).map { number in
            Characteristic<UInt8>(ScenarioUUID.value, .read) { Read { number } }
        }
        let peripherals = values.enumerated().map { number, value in
            Peripheral("Program \(number)", restorationIdentifier: "program \(number) of two") {
                GATTService(ScenarioUUID.service) { value }
            }
        }
        let found = Recorder<[UInt8: AttributeHandle]>()
        return ScenarioRun(peripherals[1]) { central, _ in
            found.record(try await places(central))
        }.restarted(as: peripherals[1]) { central, _ in
            try await reconnect(central)
            try expect("handles", try await places(central), is: try await found.next())
        }.beside(peripherals[0])
    }

    static let newServiceIsReported = Scenario(
        "after a restart a new service moves nothing, and is reported first"
    ) {
        let keeper = Keeper()
        let found = Recorder<[AttributeHandle]>()
        return ScenarioRun(keeper.peripheral()) { central, _ in
            try await central.pair(.justWorks)
            found.record(try await handles(keeper, central))
        }.restarted(as: keeper.peripheral(withNewService: true)) { central, session in
            let before = try await found.next()
            let changes = session.restored?.changes
            try expect("added", changes?.added.map(\.service), is: [0x1815])
            try expect("moved", changes?.moved, is: [])
            try expect("whether caches are wrong", changes?.invalidatesCaches, is: true)
            try await reconnect(central)
            try expect("handles", try await handles(keeper, central), is: before)
            let added = try await central.discover().services.filter { $0.uuid == 0x1815 }
            let values = added.flatMap(\.characteristics).map(\.valueHandle)
            try expect("new values", values.count, is: 1)
            try expect("new value", try await central.read(values[0], offset: 0), is: [3])
        }
    }

    /// A service in the middle receives another characteristic, declared before the existing one.
    static let grownServiceIsReported = Scenario(
        "after a kill a service that has grown moves nothing, and a bonded central that returns finds what is new"
    ) {
        let keeper = Keeper()
        let found = Recorder<[AttributeHandle]>()
        return ScenarioRun(keeper.peripheral()) { central, session in
            found.record(try await listen(central, keeper))
            try await session.preserve()
            try await central.disconnect()
        }.restarted(as: keeper.peripheral(withNewCharacteristic: true), afterKill: true) { central, session in
            let changes = session.restored?.changes
            try expect("added", changes?.added.map(\.characteristic), is: [ScenarioUUID.thirdValue])
            try expect("moved", changes?.moved, is: [])
            try expect("whether caches are wrong", changes?.invalidatesCaches, is: true)
            let before = try await found.next()
            try await central.connect()
            // The central uses its cached handles before it discovers again.
            try await central.write(before[0], [5])
            try expect("value at its handle", try await central.read(before[0], offset: 0), is: [5])
            try expect("value in the service", try await central.read(before[1], offset: 0), is: [9])
            try expect("value behind it", try await central.read(before[2], offset: 0), is: [8])
            let grown = try await central.discover().services.first { $0.uuid == .battery }
            guard let grown else { throw ConformanceFailure(description: "The service was not found.") }
            try await untilTold(of: grown.handles, by: before[3], central)
            try expect("handles", try await handles(keeper, central), is: Array(before.prefix(3)))
            let values = grown.characteristics.map(\.valueHandle)
            try expect("values", values.count, is: 2)
            try expect("first value", values[0], is: before[1])
            try expect("new value", try await central.read(values[1], offset: 0), is: [3])
            try await central.subscribe(values[1], to: .notification)
            // The subscription is reported before the read.
            _ = try await central.read(values[1], offset: 0)
            try await session.notify(keeper.added, [4])
            try expect("update", try await central.nextUpdate(of: values[1]).value, is: [4])
        }
    }

    /// Pairs and subscribes to Service Changed.
    ///
    /// - Returns: The handles of the values, followed by the handle of Service Changed.
    private static func listen(_ central: any TestCentral, _ keeper: Keeper) async throws -> [AttributeHandle]
    {
        try await central.pair(.justWorks)
        let handles = try await handles(keeper, central)
        return handles + [try await central.subscribeToServiceChanged()]
    }

    /// The central has subscribed to Service Changed.
    ///
    /// The program knows the change before it is registered.
    static func serviceChangedComes(isAway: Bool) -> Scenario {
        let whereabouts = isAway ? "that returns" : "that stays"
        return Scenario(
            "after a kill a bonded central \(whereabouts) and the program learn what has changed"
        ) {
            let keeper = Keeper()
            let found = Recorder<[AttributeHandle]>()
            let restored = Recorder<Bool>()
            return ScenarioRun(keeper.peripheral()) { central, session in
                found.record(try await listen(central, keeper))
                try await session.preserve()
                if isAway { try await central.disconnect() }
            }.restarted(
                as: keeper.peripheral(withNewService: true) { restored.record($0.changes.invalidatesCaches) },
                afterKill: true
            ) { central, _ in
                try expect("whether caches are wrong", try await restored.next(), is: true)
                let before = try await found.next()
                if isAway { try await central.connect() }
                let added = try await central.discover().services.first { $0.uuid == 0x1815 }
                guard let added else { throw ConformanceFailure(description: "Nothing is added.") }
                try await untilTold(of: added.handles, by: before[3], central)
                try await central.write(before[0], [5])
                try expect("value at its handle", try await central.read(before[0], offset: 0), is: [5])
                try expect("other value at its handle", try await central.read(before[1], offset: 0), is: [9])
            }
        }
    }

    /// Waits until Service Changed indicates these handles.
    private static func untilTold(
        of handles: ClosedRange<AttributeHandle>,
        by serviceChanged: AttributeHandle,
        _ central: any TestCentral
    ) async throws {
        while true {
            let changed = try await central.nextUpdate(of: serviceChanged).changedHandles()
            if changed.contains(handles.lowerBound), changed.contains(handles.upperBound) { return }
        }
    }

    static let valueSurvives = Scenario("a persistent value survives a restart of the program") {
        let keeper = Keeper()
        return ScenarioRun(keeper.peripheral()) { central, session in
            try await central.pair(.justWorks)
            try await central.write(keeper.kept, 2)
            try await session.set(keeper.kept, to: 3)
        }.restarted(as: keeper.peripheral()) { central, session in
            try await reconnect(central)
            try expect("value", try await central.read(keeper.kept), is: 3)
            try expect("value in the program", try session.value(of: keeper.kept), is: 3)
        }
    }

    static let durableValueSurvivesKill = Scenario("what is written durably survives a kill and a restart") {
        let keeper = Keeper()
        return ScenarioRun(keeper.peripheral()) { central, _ in
            try await central.pair(.justWorks)
            try await central.write(keeper.kept, 2)
        }.restarted(as: keeper.peripheral(), afterKill: true) { central, session in
            try await reconnect(central)
            try expect("value", try await central.read(keeper.kept), is: 2)
            try expect("name", session.restored?.name, is: "Keeper")
        }
    }

    static let subscriberReturns = Scenario("after a restart a bonded subscriber is expected, and returns") {
        let keeper = Keeper()
        return ScenarioRun(keeper.peripheral()) { central, session in
            try await central.pair(.justWorks)
            try await central.subscribe(to: keeper.kept)
            _ = try await central.read(keeper.kept)
            try await session.preserve()
            try await central.disconnect()
        }.restarted(as: keeper.peripheral(), afterKill: true) { central, session in
            try expect("subscribers", session.restored?.subscribers.map(\.status), is: [.expected])
            let events = session.events
            try await central.connect()
            try await central.unsubscribe(from: keeper.kept)
            try await central.subscribe(to: keeper.kept)
            try await next(of: events, "return") {
                if case .restoredSubscriberChanged(let known) = $0 {
                    known.status == .subscribed
                } else {
                    false
                }
            }
            try expect("subscribers then", session.restored?.subscribers.map(\.status), is: [.subscribed])
            try await session.set(keeper.kept, to: 7)
            try expect("update", try await central.nextUpdate(of: keeper.kept), is: 7)
        }
    }

    /// A phone subscribes with a changing address, and reveals its identity address when it bonds.
    static let lateBondReturns = Scenario(
        "after a kill a subscriber that bonded later is expected by its lasting address, and gets what it has missed"
    ) {
        let audit = Characteristic<UInt8>(ScenarioUUID.thirdValue, .notify, updates: .durable)
        let peripheral = Peripheral("Late", restorationIdentifier: identifier, pairing: .justWorks) {
            GATTService(ScenarioUUID.service) { audit }
        }
        return ScenarioRun(peripheral) { central, session in
            var user = PairingUser.justWorks
            user.identityAddress = DeviceAddress("00:1B:DC:00:00:07")
            try await central.subscribe(to: audit)
            try await central.pair(user)
            try await session.notify(audit, 1)
            try expect("update", try await central.nextUpdate(of: audit), is: 1)
            let events = session.events
            try await central.disconnect()
            try await next(of: events, "end") { if case .disconnected = $0 { true } else { false } }
            try await session.notify(audit, 2)
        }.restarted(as: peripheral, afterKill: true) { central, session in
            let restored = session.restored?.subscribers ?? []
            try expect("subscribers", restored.map(\.status), is: [.expected])
            let bonded = try await session.bondedCentrals()
            try expect("address", restored.map(\.central.address), is: bonded.map(\.address))
            try await central.connect()
            try await central.subscribe(to: audit)
            var missed = try await central.nextUpdate(of: audit)
            // An update that was in flight when the central disconnected may arrive again.
            if missed == 1 { missed = try await central.nextUpdate(of: audit) }
            try expect("update that was missed", missed, is: 2)
        }
    }

    /// Reconnects a central, because the end of a program does not end its connection.
    static func reconnect(_ central: any TestCentral) async throws {
        try await central.disconnect()
        try await central.connect()
    }
}
