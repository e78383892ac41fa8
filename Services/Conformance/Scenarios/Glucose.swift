internal import PeripheralConformance
internal import PeripheralGlucose
internal import PeripheralKit
internal import PeripheralRecordAccess
internal import PeripheralTesting

extension ServiceConformance {
    static let glucose = [glucoseRecords, glucoseOfOneWhoComesBack, glucoseAbort, glucoseDeletion]

    private static func glucoseRecord(_ number: UInt16) throws -> GlucoseRecord {
        let time = try present(DateTime(year: 2026, month: 11, day: 22, hour: 7, minute: 30))
        return GlucoseRecord(
            GlucoseMeasurement(
                sequenceNumber: number,
                baseTime: time,
                concentration: .millimolesPerLiter(5.5),
                type: .capillaryWholeBlood,
                location: .finger
            ),
            context: GlucoseContext(meal: .fasting)
        )
    }

    private static let glucoseRecords = Scenario(
        "Glucose: over an encrypted link, a central gets the records and contexts before the response"
    ) {
        let glucose = GlucoseService(records: { try (1...20).map(glucoseRecord) }, hasContext: true)
        return ScenarioRun(Peripheral("Meter", pairing: .justWorks) { glucose }, mtu: 23) {
            central,
            session in
            try await central.pair(.justWorks)
            try await central.subscribe(to: glucose.measurement, knownTo: session)
            try await central.subscribe(to: present(glucose.context), knownTo: session)
            try await central.subscribe(to: glucose.recordAccess, knownTo: session)
            try await central.write(
                RecordAccessRequest.report(.from(.sequenceNumber(11))),
                to: glucose.recordAccess
            )
            try await expectRecords(11...20, of: glucose, by: central)
        }
    }

    /// Expects the records, their contexts, and the response after all of them.
    ///
    /// Records and contexts each arrive in their own order.
    private static func expectRecords(
        _ numbers: ClosedRange<UInt16>,
        of glucose: GlucoseService,
        by central: any TestCentral
    ) async throws {
        let handles = try await (
            measurement: central.locate(glucose.measurement).valueHandle,
            context: central.locate(present(glucose.context)).valueHandle,
            recordAccess: central.locate(glucose.recordAccess).valueHandle
        )
        var received: [AttributeHandle: [[UInt8]]] = [:]
        while received[handles.recordAccess] == nil {
            let (handle, update) = try await central.nextUpdate()
            received[handle, default: []].append(update.value)
        }
        let measurements = try numbers.map { number in
            var measurement = try glucoseRecord(number).measurement
            measurement.contextFollows = true
            return measurement.gattBytes
        }
        try expect("records", received[handles.measurement], is: measurements)
        let contexts = numbers.map { GlucoseContext(sequenceNumber: $0, meal: .fasting).gattBytes }
        try expect("contexts", received[handles.context], is: contexts)
        let success = RecordAccessResponse.result(.success, of: .report)
        try expect("response", received[handles.recordAccess], is: [success.gattBytes])
    }

    /// After reconnecting, the stack cannot distinguish the central from others.
    ///
    /// Here there are no others.
    private static let glucoseOfOneWhoComesBack = Scenario(
        "Glucose: a bonded central that reconnects gets the records without subscribing again"
    ) {
        let glucose = GlucoseService(records: { try (1...3).map(glucoseRecord) }, hasContext: true)
        return ScenarioRun(Peripheral("Meter", pairing: .justWorks) { glucose }) { central, session in
            try await central.pair(.justWorks)
            try await central.subscribe(to: glucose.measurement, knownTo: session)
            try await central.subscribe(to: present(glucose.context), knownTo: session)
            try await central.subscribe(to: glucose.recordAccess, knownTo: session)
            try await central.disconnect()
            while !session.centrals.isEmpty {
                try Task.checkCancellation()
                await Task.yield()
            }
            try await central.connect()
            try await central.write(RecordAccessRequest.report(.all), to: glucose.recordAccess)
            try await expectRecords(1...3, of: glucose, by: central)
        }
    }

    private static let glucoseAbort = Scenario("Glucose: an abort ends a report, and gets a response") {
        let glucose = GlucoseService(
            records: {
                try await Task.sleep(for: .seconds(3600))
                return []
            },
            security: .open
        )
        return ScenarioRun(Peripheral("Meter") { glucose }) { central, session in
            try await central.subscribe(to: glucose.measurement, knownTo: session)
            try await central.subscribe(to: glucose.recordAccess, knownTo: session)
            try await central.write(RecordAccessRequest.report(.all), to: glucose.recordAccess)
            try await expectRefusal(of: "request", by: .glucoseProcedureInProgress) {
                try await central.write(RecordAccessRequest.reportNumber(.all), to: glucose.recordAccess)
            }
            let response = try await central.request(RecordAccessRequest.abort, of: glucose.recordAccess)
            try expect("response", response, is: .result(.success, of: .abort))
        }
    }

    private static let glucoseDeletion = Scenario(
        "Glucose: a central counts the records, and deletes some of them"
    ) {
        let deleted = Recorder<[UInt16]>()
        let glucose = GlucoseService(
            records: { try (1...3).map(glucoseRecord) },
            remove: { records in deleted.record(records.map(\.measurement.sequenceNumber)) },
            security: .open
        )
        return ScenarioRun(Peripheral("Meter") { glucose }) { central, session in
            try await central.subscribe(to: glucose.measurement, knownTo: session)
            try await central.subscribe(to: glucose.recordAccess, knownTo: session)
            for (request, response) in [
                (.reportNumber(.all), .number(3)),
                (.delete(.upTo(.sequenceNumber(2))), .result(.success, of: .delete)),
                (.delete(.from(.sequenceNumber(4))), .result(.noRecordsFound, of: .delete)),
            ] as [(RecordAccessRequest, RecordAccessResponse)] {
                let answer = try await central.request(request, of: glucose.recordAccess)
                try expect("response", answer, is: response)
            }
            try expect("deleted", try await deleted.next(), is: [1, 2])
        }
    }
}
