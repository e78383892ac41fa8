internal import PeripheralCore
internal import PeripheralKit
internal import PeripheralTesting
internal import PeripheralVirtualServer

extension ConformanceSuite {
    static let controlPoints: [Scenario] = [
        requestIsRespondedTo, requestWithoutSubscription, requestMeanwhile, requestAfterTheResponse,
        requestIsAborted, requestOfACentralThatDisconnects, requestsOfTwo,
    ]

    /// The course of requests of one byte each.
    ///
    /// 0 is an abort, and 0xFF is refused. A procedure of any other request below 0x80 runs until it is
    /// released.
    private struct Trace: Sendable {
        let began = Recorder<(request: UInt8, gate: Recorder<Void>)>()
        let cancelled = Recorder<UInt8>()

        /// Waits for the start of a procedure that runs until its gate is opened.
        func expectBeginning(of request: UInt8) async throws -> Recorder<Void> {
            let (begun, gate) = try await began.next()
            try expect("procedure", begun, is: request)
            return gate
        }
    }

    private static func controlPointRun(
        _ body:
            @escaping @Sendable (
                _ central: any TestCentral, _ session: PeripheralSession,
                _ controlPoint: Characteristic<[UInt8]>, _ trace: Trace
            ) async throws -> Void
    ) -> ScenarioRun {
        let trace = Trace()
        let controlPoint = Characteristic<[UInt8]>(ScenarioUUID.value, [.write, .indicate]) {
            ControlPoint(
                accept: { (request: UInt8, _, _) in
                    if request == 0xFF { throw ATTError.application(.x85) }
                },
                isAbort: { $0 == 0 }
            ) { (request: UInt8, _, _) in
                let gate = Recorder<Void>()
                trace.began.record((request, gate))
                if (1..<0x80).contains(request) {
                    defer { if Task.isCancelled { trace.cancelled.record(request) } }
                    try await gate.next()
                }
                return [0x10, request]
            }
        }
        let peripheral = Peripheral("Control") { GATTService(ScenarioUUID.service) { controlPoint } }
        return ScenarioRun(peripheral) { central, session in
            try await body(central, session, controlPoint, trace)
        }
    }

    static let requestIsRespondedTo = Scenario("a control point responds to each request by an indication") {
        controlPointRun { central, _, controlPoint, trace in
            try await central.subscribe(to: controlPoint)
            let handle = try await central.locate(controlPoint).valueHandle
            for request: UInt8 in 0x80...0x84 {
                try await central.write(request, to: controlPoint)
                let response = try await central.nextUpdate(of: handle)
                let expected = ReceivedUpdate(kind: .indication, value: [0x10, request])
                try expect("response", response, is: expected)
            }
            try await expectRefusal(of: "request", by: .application(.x85)) {
                try await central.write(UInt8(0xFF), to: controlPoint)
            }
            try await expectRefusal(of: "request", by: .invalidAttributeValueLength) {
                try await central.write([UInt8](), to: controlPoint)
            }
            try await expectRefusal(of: "request", by: .invalidAttributeValueLength) {
                try await central.write([0x80, 0x81] as [UInt8], to: controlPoint)
            }
            try expect("procedures", trace.began.count, is: 5)
        }
    }

    static let requestWithoutSubscription = Scenario(
        "a control point refuses the request of a central that cannot get the response"
    ) {
        controlPointRun { central, session, controlPoint, trace in
            let events = session.events
            try await expectRefusal(of: "request", by: .improperlyConfigured) {
                try await central.write(UInt8(0x80), to: controlPoint)
            }
            try await central.subscribe(to: controlPoint)
            try expect(
                "response",
                try await central.request(UInt8(0x81), of: controlPoint),
                is: [0x10, 0x81]
            )
            try await central.unsubscribe(from: controlPoint)
            // The stack may report the end after the next request.
            try await next(of: events, "end of the subscription") { $0.kind == "unsubscribed" }
            try await expectRefusal(of: "request", by: .improperlyConfigured) {
                try await central.write(UInt8(0x82), to: controlPoint)
            }
            try expect("procedures", trace.began.count, is: 1)
        }
    }

    static let requestMeanwhile = Scenario("a control point carries out one request of a central at a time") {
        controlPointRun { central, _, controlPoint, trace in
            try await central.subscribe(to: controlPoint)
            try await central.write(UInt8(1), to: controlPoint)
            let gate = try await trace.expectBeginning(of: 1)
            for request: UInt8 in [2, 0x80] {
                try await expectRefusal(of: "request", by: .procedureAlreadyInProgress) {
                    try await central.write(request, to: controlPoint)
                }
            }
            gate.record(())
            try expect("response", try await central.nextUpdate(of: controlPoint), is: [0x10, 1])
            try expect(
                "response",
                try await central.request(UInt8(0x81), of: controlPoint),
                is: [0x10, 0x81]
            )
        }
    }

    static let requestAfterTheResponse = Scenario(
        "a control point takes the next request as soon as the response is confirmed"
    ) {
        controlPointRun { central, _, controlPoint, _ in
            try await central.subscribe(to: controlPoint)
            for number in 0..<50 {
                let request = UInt8(0x80 + number)
                let response = try await central.request(request, of: controlPoint)
                try expect("response", response, is: [0x10, request])
            }
        }
    }

    static let requestIsAborted = Scenario(
        "an abort ends the procedure of a control point, and is the only response"
    ) {
        controlPointRun { central, _, controlPoint, trace in
            try await central.subscribe(to: controlPoint)
            for request: UInt8 in 1...3 {
                try await central.write(request, to: controlPoint)
                _ = try await trace.expectBeginning(of: request)
                try expect("response", try await central.request(UInt8(0), of: controlPoint), is: [0x10, 0])
                try expect("cancelled procedure", try await trace.cancelled.next(), is: request)
                _ = try await trace.expectBeginning(of: 0)
            }
            try expect("response", try await central.request(UInt8(0), of: controlPoint), is: [0x10, 0])
        }
    }

    static let requestOfACentralThatDisconnects = Scenario(
        "a procedure of a control point ends when its central leaves"
    ) {
        controlPointRun { central, _, controlPoint, trace in
            try await central.subscribe(to: controlPoint)
            try await central.write(UInt8(1), to: controlPoint)
            _ = try await trace.expectBeginning(of: 1)
            try await central.disconnect()
            try expect("cancelled procedure", try await trace.cancelled.next(), is: 1)
            try await central.connect()
            try await central.subscribe(to: controlPoint)
            try expect(
                "response",
                try await central.request(UInt8(0x80), of: controlPoint),
                is: [0x10, 0x80]
            )
            try await central.write(UInt8(2), to: controlPoint)
            _ = try await trace.expectBeginning(of: 0x80)
            _ = try await trace.expectBeginning(of: 2)
            try await central.unsubscribe(from: controlPoint)
            try expect("cancelled procedure", try await trace.cancelled.next(), is: 2)
        }
    }

    static let requestsOfTwo = Scenario("a control point carries out the requests of several centrals") {
        controlPointRun { central, _, controlPoint, trace in
            try await withCentrals(central.makeAnother(), mtus: [23]) { others in
                try await central.subscribe(to: controlPoint)
                try await central.write(UInt8(1), to: controlPoint)
                let gate = try await trace.expectBeginning(of: 1)
                try await others[0].subscribe(to: controlPoint)
                let response = try await others[0].request(UInt8(0x80), of: controlPoint)
                try expect("response to the other", response, is: [0x10, 0x80])
                gate.record(())
                try expect("response", try await central.nextUpdate(of: controlPoint), is: [0x10, 1])
            }
        }
    }
}
