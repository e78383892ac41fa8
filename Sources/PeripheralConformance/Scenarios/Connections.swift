internal import PeripheralCore
internal import PeripheralKit
internal import PeripheralTesting
internal import PeripheralVirtualServer

extension ConformanceSuite {
    static let connections: [Scenario] = [
        centralsAreKnown, centralIsDisconnected, centralIsLost, centralGivesReason, otherCentralStays,
        bothProgramsKnowCentral, timingIsPreferred, signalIsMeasured,
    ]

    private static func scenarioRun(
        mtus: [Int],
        _ body:
            @escaping @Sendable (
                [any TestCentral], PeripheralSession, Characteristic<[UInt8]>
            ) async throws -> Void
    ) -> ScenarioRun {
        let value = Characteristic<[UInt8]>(ScenarioUUID.value, [.read, .notify]) { Read { [1] } }
        let peripheral = Peripheral("Centrals") { GATTService(ScenarioUUID.service) { value } }
        return ScenarioRun(peripheral, mtu: nil) { central, session in
            try expect("centrals before", session.centrals, is: [])
            try await withCentrals(central, mtus: mtus) { centrals in
                // When this read is answered, the program knows the MTU.
                for central in centrals { _ = try await central.read(value) }
                try await body(centrals, session, value)
            }
        }
    }

    static let centralsAreKnown = Scenario(
        "the program knows the connected centrals, their addresses and their MTUs"
    ) {
        scenarioRun(mtus: [517, 23, 65]) { centrals, session, value in
            let known = session.centrals
            try expect("MTUs", known.map(\.mtu), is: [517, 23, 65])
            try expect("lengths of updates", known.map(\.maximumUpdateValueLength), is: [514, 20, 62])
            try expect("kinds of addresses", known.map(\.addressKind), is: [.random, .random, .random])
            try expect("bonded", known.map(\.isBonded), is: [false, false, false])
            try expect("different addresses", Set(known.map(\.address)).count, is: 3)
            let events = session.events
            try await centrals[1].disconnect()
            let event = try await next(of: events, "leaving") { $0.kind == "disconnected" }
            try expectEnd(event, of: known[1], because: .central)
            try expect("which centrals stay", session.centrals, is: [known[0], known[2]])
            try await centrals[1].connect(mtu: 23)
            try await next(of: events, "return") { $0.kind == "connected" }
            try expect("number of centrals", session.centrals.count, is: 3)
        }
    }

    static let centralIsDisconnected = Scenario("the program disconnects a central, which may come back") {
        scenarioRun(mtus: [517]) { centrals, session, value in
            let events = session.events
            try await centrals[0].subscribe(to: value)
            _ = try await centrals[0].read(value)
            try expect("centrals", session.centrals.count, is: 1)
            let known = session.centrals[0]
            try await session.disconnect(known)
            try await expectDisconnection(of: centrals[0], value)
            let event = try await next(of: events, "disconnection") { $0.kind == "disconnected" }
            try expectEnd(event, of: known, because: .device)
            try expect("centrals", session.centrals, is: [])
            try expect("subscriptions", session.subscriptions, is: [])
            try await expectError(of: "disconnection of no central", .disconnected) {
                try await session.disconnect(known)
            }
            try await centrals[0].disconnect()
            try await centrals[0].connect()
            try expect("value", try await centrals[0].read(value), is: [1])
        }
    }

    static let centralIsLost = Scenario("the program knows that the link to a central was lost") {
        scenarioRun(mtus: [517, 23]) { centrals, session, value in
            let known = session.centrals
            let events = session.events
            try await centrals[0].subscribe(to: value)
            try await centrals[0].loseConnection()
            let event = try await next(of: events, "loss") { $0.kind == "disconnected" }
            try expectEnd(event, of: known[0], because: .timeout)
            try expect("centrals", session.centrals, is: [known[1]])
            try expect("subscriptions", session.subscriptions, is: [])
            // The reason of one connection is not that of the next.
            let returnings = session.events
            try await centrals[0].connect()
            let returned = try await next(of: returnings, "return") { $0.kind == "connected" }
            _ = try await centrals[0].read(value)
            try await centrals[0].disconnect()
            let leaving = try await next(of: returnings, "leaving") { $0.kind == "disconnected" }
            guard case .connected(let central) = returned else { return }
            try expectEnd(leaving, of: central, because: .central)
        }
    }

    static let centralGivesReason = Scenario("the program knows the reason that a central gives for leaving")
    {
        let causes: [(UInt8, DisconnectionReason.Cause)] = [
            (0x05, .security), (0x14, .central), (0x15, .central), (0x3B, .central),
        ]
        return scenarioRun(mtus: [517]) { centrals, session, value in
            let events = session.events
            for (code, cause) in causes {
                let known = session.centrals[0]
                try await centrals[0].disconnect(because: code)
                let event = try await next(of: events, "leaving") { $0.kind == "disconnected" }
                try expectEnd(event, of: known, because: cause)
                if case .disconnected(_, let reason) = event {
                    try expect("code", reason.code, is: code)
                }
                try await centrals[0].connect()
                _ = try await centrals[0].read(value)
            }
        }
    }

    /// Compares which central has disconnected, and why.
    private static func expectEnd(
        _ event: SessionEvent,
        of central: Central,
        because cause: DisconnectionReason.Cause
    ) throws {
        guard case .disconnected(let leaving, let reason) = event else { return }
        try expect("which central has disconnected", leaving, is: central)
        try expect("why the central has disconnected", reason.cause, is: cause)
    }

    static let otherCentralStays = Scenario("the program disconnects one central and no other") {
        scenarioRun(mtus: [517, 23]) { centrals, session, value in
            for central in centrals {
                try await central.subscribe(to: value)
                _ = try await central.read(value)
            }
            let known = session.centrals
            try expect("MTUs", known.map(\.mtu), is: [517, 23])
            let events = session.events
            try await session.disconnect(known[0])
            try await expectDisconnection(of: centrals[0], value)
            let event = try await next(of: events, "disconnection") { $0.kind == "disconnected" }
            try expectEnd(event, of: known[0], because: .device)
            try expect("centrals", session.centrals, is: [known[1]])
            try await session.notify(value, [2])
            try expect("update", try await centrals[1].nextUpdate(of: value), is: [2])
            try expect("value", try await centrals[1].read(value), is: [1])
        }
    }

    static let bothProgramsKnowCentral = Scenario(
        "two programs know a connected central, and the end of its connection"
    ) {
        let value = Characteristic<UInt8>(ScenarioUUID.value, .read) { Read { 1 } }
        let neighbor = Peripheral("Neighbor", restorationIdentifier: "a program that knows a central") {
            GATTService(ScenarioUUID.otherValue) { Characteristic<UInt8>(ScenarioUUID.thirdValue, value: 2) }
        }
        let neighbors = Recorder<PeripheralSession>()
        return ScenarioRun(Peripheral("Centrals") { GATTService(ScenarioUUID.service) { value } }) {
            central,
            session in
            let other = try await neighbors.next()
            try await untilConnected(other)
            try expect("value", try await central.read(value), is: 1)
            try expect("number of centrals", session.centrals.count, is: 1)
            let centrals = session.centrals.map(\.id)
            try expect("centrals of the other program", other.centrals.map(\.id), is: centrals)
            let (events, otherEvents) = (session.events, other.events)
            try await central.disconnect()
            for events in [events, otherEvents] {
                try await next(of: events, "end of the connection") { $0.kind == "disconnected" }
            }
            try expect("centrals", session.centrals, is: [])
            try expect("centrals of the other program", other.centrals, is: [])
        }.beside(neighbor) { neighbors.record($0) }
    }

    static let timingIsPreferred = Scenario("the program knows the timing of a link, and asks for another") {
        scenarioRun(mtus: [517, 23]) { centrals, session, value in
            let known = session.centrals
            let events = session.events
            let preference = ConnectionPreference(
                interval: .milliseconds(100) ... .milliseconds(125),
                latency: 1,
                supervisionTimeout: .seconds(4)
            )
            var invalid = preference
            invalid.latency = 500
            try await expectError(of: "an invalid preference", .invalidValue) {
                try await session.prefer(invalid, for: known[0])
            }
            guard known[0].connectionParameters != nil else {
                // Without a privilege, the program neither knows the timing nor changes it.
                return try await expectError(of: "a preference", .permissionDenied) {
                    try await session.prefer(preference, for: known[0])
                }
            }
            let agreed = try await session.prefer(preference, for: known[0])
            try expect("interval", preference.interval.contains(agreed.interval), is: true)
            try expect("latency", agreed.latency, is: 1)
            try expect("timeout", agreed.supervisionTimeout, is: .seconds(4))
            try await next(of: events, "change of the timing") { event in
                guard case .changed(let central) = event else { return false }
                return central == known[0] && central.connectionParameters == agreed
            }
            try expect(
                "timing of the other link",
                session.centrals[1].connectionParameters?.latency,
                is: known[1].connectionParameters?.latency
            )
            // The preference ends with the connection.
            try await centrals[0].disconnect()
            try await next(of: events, "disconnection") { $0.kind == "disconnected" }
            try await expectError(of: "a preference for no central", .disconnected) {
                try await session.prefer(preference, for: known[0])
            }
            try await centrals[0].connect()
            _ = try await centrals[0].read(value)
            try expect("latency afterwards", session.centrals.last?.connectionParameters?.latency, is: 0)
        }
    }

    static let signalIsMeasured = Scenario("the program measures the strength of a central's signal") {
        scenarioRun(mtus: [517, 23]) { centrals, session, value in
            let known = session.centrals
            for central in known {
                let strength = try await session.signalStrength(of: central)
                try expect("strength of \(strength) dBm", (-127...20).contains(strength), is: true)
            }
            let events = session.events
            try await centrals[0].disconnect()
            try await next(of: events, "disconnection") { $0.kind == "disconnected" }
            try await expectError(of: "strength of no signal", .disconnected) {
                _ = try await session.signalStrength(of: known[0])
            }
        }
    }

    /// Waits for the end of a central's connection.
    private static func expectDisconnection(
        of central: any TestCentral,
        _ value: Characteristic<[UInt8]>
    ) async throws {
        do {
            let update = try await central.nextUpdate(of: value)
            throw ConformanceFailure(description: "disconnection: the central received \(update) instead.")
        } catch let error as TestCentralError {
            guard error.code == .disconnected || error.code == .notConnected else { throw error }
        }
    }
}
