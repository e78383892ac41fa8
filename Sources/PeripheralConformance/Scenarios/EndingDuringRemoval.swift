internal import PeripheralCore
internal import PeripheralKit
internal import PeripheralTesting

/// Runs that end while the removal of a service waits.
extension ConformanceSuite {
    static let endingDuringRemoval: [Scenario] = [endWithUnconfirmedIndication, endWithPendingRead]

    static let endWithUnconfirmedIndication = Scenario(
        "a run ends while a removal waits for a confirmation, and the next run serves as before"
    ) {
        let sensor = GatewaySensor(0, [.read, .indicate])
        return endingRun(sensor) { central, session in
            try await central.subscribe(to: sensor.value, knownTo: session)
            try await central.setConfirmsIndications(false)
            Task { try await session.indicate(sensor.value, [5]) }
            let handle = try await central.locate(sensor.value).valueHandle
            try expect("indication", try await central.nextUpdate(of: handle).value, is: [5])
            return { try await central.setConfirmsIndications(true) }
        }
    }

    static let endWithPendingRead = Scenario(
        "a run ends while a removal waits for an answer, which arrives, and the next run serves as before"
    ) {
        let begun = Recorder<Void>()
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let sensor = GatewaySensor {
            begun.record(())
            for await _ in gate { break }
            return [4]
        }
        return endingRun(sensor) { central, session in
            let handle = try await central.locate(sensor.value).valueHandle
            let reading = Task { try await central.read(handle, offset: 0) }
            try await begun.next()
            return {
                open.finish()
                try expect("value", try await reading.value, is: [4])
            }
        }
    }

    /// Creates a run that ends during the removal of a sensor, and a second run.
    ///
    /// - Parameters:
    ///   - sensor: The service that is removed.
    ///   - block: Gives the removal a reason to wait, and returns the operation that ends the wait.
    /// - Returns: The two runs.
    private static func endingRun(
        _ sensor: GatewaySensor,
        _ block:
            @escaping @Sendable (
                _ central: any TestCentral, _ session: PeripheralSession
            ) async throws -> @Sendable () async throws -> Void
    ) -> ScenarioRun {
        let gateway = Gateway(restorationIdentifier: "gateway that ends")
        let tasks = Recorder<Task<Void, any Error>>()
        return ScenarioRun(gateway.peripheral) { central, session in
            try await session.add { sensor }
            _ = try await central.discover()
            let release = try await block(central, session)
            tasks.record(Task { try await session.remove(sensor) })
            while (try? session.update(sensor.value, [0])) != nil { await Task.yield() }
            tasks.record(
                Task {
                    // Until the session is over.
                    while (try? session.update(gateway.base, [0])) != nil { await Task.yield() }
                    try await release()
                }
            )
        }.restarted(as: gateway.peripheral) { central, session in
            let (removal, release) = (try await tasks.next(), try await tasks.next())
            try await release.value
            do {
                try await removal.value
            } catch let error as PeripheralError {
                try expect("error of the removal", error.code, is: .stopped)
            }
            try await reconnect(central)
            try expect("services", try await central.serviceTypes(), is: [ScenarioUUID.service])
            try await session.add { sensor }
            try expect("base", try await central.read(gateway.base), is: [1])
            try await session.remove(sensor)
            try expect("services", try await central.serviceTypes(), is: [ScenarioUUID.service])
        }
    }
}
