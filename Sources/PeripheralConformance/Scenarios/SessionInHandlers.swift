internal import PeripheralCore
internal import PeripheralKit
internal import PeripheralTesting

extension ConformanceSuite {
    static let sessionInHandlers: [Scenario] = [
        handlerNotifies, handlerAwaitsConfirmation, handlerChangesAdvertisement, handlerSendsDocument,
        procedureSendsDocument, procedureRemovesItsService, handlerRemovesItsService,
    ]

    /// A peripheral with a characteristic for requests, and a characteristic that sends the results.
    private static func peripheral(
        _ name: String,
        _ request: Characteristic<UInt8>,
        _ result: Characteristic<[UInt8]>
    ) -> Peripheral {
        Peripheral(name) {
            GATTService(ScenarioUUID.service) {
                request; result
            }
        }
    }

    // MARK: Updates

    static let handlerNotifies = Scenario(
        "a handler of a write notifies another characteristic, in each run of the peripheral"
    ) {
        let result = Characteristic<[UInt8]>(ScenarioUUID.otherValue, .notify)
        let request = Characteristic<UInt8>(ScenarioUUID.value, .write) {
            Write { number, _, session in try await session.notify(result, [number]) }
        }
        return ScenarioRun(peripheral("Notifying", request, result), runs: 2) { central, session in
            try await central.subscribe(to: result, knownTo: session)
            for number: UInt8 in 1...5 {
                try await central.write(request, number)
                try expect("update", try await central.nextUpdate(of: result), is: [number])
            }
        }
    }

    static let handlerAwaitsConfirmation = Scenario(
        "a handler awaits the confirmation of the central that waits for the answer of the handler"
    ) {
        let result = Characteristic<[UInt8]>(ScenarioUUID.otherValue, .indicate)
        let request = Characteristic<UInt8>(ScenarioUUID.value, [.read, .write]) {
            Read { central, session in
                try await session.indicate(result, [0], to: central)
                return 7
            }
            Write { number, central, session in
                try await session.indicate(result, [number], to: central)
            }
        }
        return ScenarioRun(peripheral("Indicating", request, result)) { central, session in
            try await central.subscribe(to: result, knownTo: session)
            for number: UInt8 in 1...3 {
                try await central.write(request, number)
                try expect("indication", try await central.nextUpdate(of: result), is: [number])
                try expect("value", try await central.read(request), is: 7)
                try expect("indication", try await central.nextUpdate(of: result), is: [0])
            }
        }
    }

    // MARK: Advertisement

    static let handlerChangesAdvertisement = Scenario("a handler of a write renames the peripheral") {
        let name = Characteristic<String>(ScenarioUUID.value, .write) {
            Write { name, _, session in
                try await session.changeAdvertisement { $0.localName = name }
            }
        }
        let peripheral = Peripheral("Before") { GATTService(ScenarioUUID.service) { name } }
        return ScenarioRun(peripheral) { central, session in
            for new in ["Kitchen", "Garden"] {
                if new == "Garden" { try await central.connect(mtu: 517) }
                try await central.write(name, new)
                try expect("name", session.advertisements.map(\.localName), is: [new])
                try await central.disconnect()
                try await scan(by: central, until: "name \(new)") { $0.map(\.localName) == [new] }
            }
        }
    }

    // MARK: Documents

    static let handlerSendsDocument = Scenario("a handler sends a short document to the asking central") {
        let result = Characteristic<[UInt8]>(ScenarioUUID.otherValue, .notify)
        let request = Characteristic<UInt8>(ScenarioUUID.value, .write) {
            Write { count, central, session in
                try await session.send(pattern(Int(count)), over: result, to: central)
            }
        }
        return documentRun("Short", request, result) { Int($0) }
    }

    static let procedureSendsDocument = Scenario(
        "a control point without responses sends a long document to the asking central"
    ) {
        let result = Characteristic<[UInt8]>(ScenarioUUID.otherValue, .notify)
        let request = Characteristic<UInt8>(ScenarioUUID.value, .write) {
            ControlPoint(performWithoutResponse: { count, central, session in
                try await session.send(pattern(20 * Int(count)), over: result, to: central)
            })
        }
        return documentRun("Long", request, result) { 20 * Int($0) }
    }

    /// Creates a run in which a central asks for two documents.
    private static func documentRun(
        _ name: String,
        _ request: Characteristic<UInt8>,
        _ result: Characteristic<[UInt8]>,
        size: @escaping @Sendable (_ request: UInt8) -> Int
    ) -> ScenarioRun {
        ScenarioRun(peripheral(name, request, result)) { central, session in
            try await central.subscribe(to: result, knownTo: session)
            for count: UInt8 in [90, 180] {
                try await central.write(request, count)
                let received = try await receive(result, at: central).bytes
                try expect("document", received, is: Array(pattern(size(count))))
                // The end of a document precedes the end of its procedure.
                try await session.notify(result, [1])
                try expect("update", try await central.nextUpdate(of: result), is: [1])
            }
        }
    }

    // MARK: Services

    /// A service that removes itself when a central asks for it.
    private struct Leaving: GATTServiceDeclaration {
        let request = Characteristic<UInt8>(ScenarioUUID.value, [.read, .write])
        let ending = Recorder<Void>()
        let removed = Recorder<Void>()
        /// Whether the handler removes the service before it answers.
        let isBeforeAnswer: Bool

        var service: GATTService {
            GATTService(ScenarioUUID.service) {
                request {
                    Read { 1 }
                    if isBeforeAnswer {
                        Write { _, _, session in try await remove(in: session) }
                    } else {
                        ControlPoint(performWithoutResponse: { (_: UInt8, _, session) in
                            try await remove(in: session)
                        })
                    }
                }
            }
        }

        func run(in session: PeripheralSession) async throws {
            for await _ in AsyncStream<Never>.makeStream().stream {}
            ending.record(())
        }

        private func remove(in session: PeripheralSession) async throws {
            try await session.remove(self)
            removed.record(())
        }
    }

    private static func removalRun(
        _ service: Leaving,
        _ ask:
            @escaping @Sendable (_ central: any TestCentral, _ clock: ManualClock?) async throws -> Void
    ) -> ScenarioRun {
        let value = Characteristic<UInt8>(ScenarioUUID.otherValue, value: 2)
        let peripheral = Peripheral("Leaving") {
            service
            GATTService(.battery) { value }
        }
        return ScenarioRun(timed: peripheral) { central, session, clock in
            let handle = try await central.locate(service.request).valueHandle
            try await ask(central, clock)
            try await service.removed.next()
            try expect("services", session.services.map(\.uuid), is: [.battery])
            try await expectRefusal(of: "write to the removed service", by: .invalidHandle) {
                try await central.write(handle, [1])
            }
            try expect("value of the other service", try await central.read(value), is: 2)
        }
    }

    static let procedureRemovesItsService = Scenario(
        "a control point without responses removes its own service"
    ) {
        let service = Leaving(isBeforeAnswer: false)
        return removalRun(service) { central, _ in try await central.write(service.request, 1) }
    }

    static let handlerRemovesItsService = Scenario(
        "a write whose handler removes its own service is refused in time, and the service is removed"
    ) {
        let service = Leaving(isBeforeAnswer: true)
        return removalRun(service) { central, clock in
            async let refusal: Void = expectRefusal(of: "write", by: .unlikelyError) {
                try await central.write(service.request, 1)
            }
            try await service.ending.next()
            await clock?.waitForSleeper()
            clock?.advance(by: .seconds(4))
            try await refusal
        }
    }
}
