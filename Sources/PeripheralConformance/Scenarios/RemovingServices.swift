internal import PeripheralCore
internal import PeripheralKit
internal import PeripheralTesting
internal import PeripheralVirtualServer

/// Services that are removed while centrals use them.
extension ConformanceSuite {
    static let removingServices: [Scenario] = [
        removedUnderPendingRead, removedBetweenPartsOfRead, removedUnderPreparedWrite,
        removedUnderUnconfirmedIndication, removedWithQueuedValues, removedUnderSentDocument,
        removedUnderReceivedDocument,
    ]

    static let removedUnderPendingRead = Scenario("a pending read is answered before its service goes") {
        let begun = Recorder<Void>()
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let gateway = Gateway()
        return ScenarioRun(gateway.peripheral, mtu: nil) { first, session in
            try await withCentrals(first, mtus: [517, 247]) { centrals in
                let (reader, other) = (centrals[0], centrals[1])
                let sensor = GatewaySensor {
                    begun.record(())
                    for await _ in gate { break }
                    return [4]
                }
                try await session.add { sensor }
                _ = try await reader.discover()
                try await other.subscribe(to: gateway.base, knownTo: session)
                let handle = try await reader.locate(sensor.value).valueHandle
                async let value = reader.read(handle, offset: 0)
                _ = try await begun.next()
                let isRemoved = Flag()
                async let removal: Void = {
                    try await session.remove(sensor)
                    isRemoved.set(true)
                }()
                // Until the removal refuses further values.
                while (try? session.update(sensor.value, [0])) != nil { await Task.yield() }
                // A removal that does not wait ends meanwhile.
                for number in 0..<2 as Range<UInt8> {
                    try await session.notify(gateway.base, [number])
                    let update = try await other.nextUpdate(of: gateway.base)
                    try expect("update of the rest", update, is: [number])
                }
                let wasRemoved = isRemoved.isSet
                open.finish()
                try expect("value", try await value, is: [4])
                try expect("whether the service was removed before the answer", wasRemoved, is: false)
                try await removal
                try await expectRefusal(of: "read of a removed value", by: .invalidHandle) {
                    try await reader.read(handle, offset: 0)
                }
            }
        }
    }

    static let removedUnderUnconfirmedIndication = Scenario(
        "a service goes when its indication is confirmed, and not before"
    ) {
        let gateway = Gateway()
        let base = gateway.base
        return ScenarioRun(gateway.peripheral) { central, session in
            let sensor = GatewaySensor(0, [.read, .indicate])
            try await session.add { sensor }
            _ = try await central.discover()
            try await central.subscribe(to: sensor.value, for: .indication)
            try await central.subscribe(to: base)
            _ = try await central.read(base)
            try await central.setConfirmsIndications(false)
            async let indication: Void = session.indicate(sensor.value, [5])
            try expect(
                "indication",
                try await central.nextUpdate(of: central.locate(sensor.value).valueHandle).value,
                is: [5]
            )
            async let removal: Void = session.remove(sensor)
            try await untilRefused(sensor.value, central)
            let services: Set = [ScenarioUUID.service, sensor.uuid]
            try expect("services before the confirmation", try await central.serviceTypes(), is: services)
            try await session.notify(base, [6])
            try expect("update of the rest", try await central.nextUpdate(of: base), is: [6])
            try await central.setConfirmsIndications(true)
            try await indication
            try await removal
            try expect("services", try await central.serviceTypes(), is: [ScenarioUUID.service])
        }
    }

    static let removedWithQueuedValues = Scenario(
        "values that wait for a removed service are dropped and counted"
    ) {
        let gateway = Gateway()
        return ScenarioRun(gateway.peripheral) { central, session in
            let sensor = GatewaySensor(0, [.read, .indicate])
            try await session.add { sensor }
            _ = try await central.discover()
            try await central.subscribe(to: sensor.value, for: .indication)
            _ = try await central.read(sensor.value)
            try await central.setConfirmsIndications(false)
            async let first: Void = session.indicate(sensor.value, [1])
            _ = try await central.nextUpdate(of: central.locate(sensor.value).valueHandle)
            async let second: Void = expectError(of: "waiting indication", .serviceRemoved) {
                try await session.indicate(sensor.value, [2])
            }
            while !session.updateStatistics.contains(where: { $0.counters.queued == 1 }) {
                _ = try await central.read(gateway.base)
            }
            async let removal: Void = session.remove(sensor)
            try await second
            try await central.setConfirmsIndications(true)
            try await first
            try await removal
            let total = session.updateTotals.first { $0.characteristic == ScenarioUUID.otherValue }
            try expect("dropped values", total?.counters.dropped, is: 1)
            try expect("sent values", total?.counters.sent, is: 1)
        }
    }

    /// Waits until a removal refuses requests for its service.
    private static func untilRefused(
        _ characteristic: Characteristic<[UInt8]>,
        _ central: any TestCentral
    ) async throws {
        let handle = try await central.locate(characteristic).valueHandle
        do {
            while true { _ = try await central.read(handle, offset: 0) }
        } catch is ATTError {}
    }

    static let removedBetweenPartsOfRead = Scenario(
        "the rest of a long value is refused when its service is removed between two parts"
    ) {
        ScenarioRun(Gateway().peripheral, mtu: 65) { central, session in
            let sensor = GatewaySensor { pattern(300) }
            try await session.add { sensor }
            _ = try await central.discover()
            let handle = try await central.locate(sensor.value).valueHandle
            let first = try await central.read(handle, offset: 0)
            try expect("first part", first, is: Array(pattern(300).prefix(64)))
            try await session.remove(sensor)
            try await expectRefusal(of: "second part", by: .invalidHandle) {
                try await central.read(handle, offset: first.count)
            }
            try await session.add { sensor }
            try expect("value", try await central.readLong(handle), is: pattern(300))
        }
    }

    static let removedUnderPreparedWrite = Scenario(
        "a prepared write does not arrive when its service is removed before the execution"
    ) {
        let written = Recorder<[UInt8]>()
        let value = Characteristic<[UInt8]>(ScenarioUUID.otherValue, [.read, .write]) {
            Read { [7] }
            Write { written.record($0) }
        }
        return ScenarioRun(Gateway().peripheral) { central, session in
            let sensor = GatewaySensor(0, value)
            try await session.add { sensor }
            _ = try await central.discover()
            let handle = try await central.locate(value).valueHandle
            try await central.prepareWrite(handle, [1, 2, 3], offset: 0)
            try await session.remove(sensor)
            do {
                try await central.executePreparedWrites(commit: true)
                throw ConformanceFailure(description: "The peripheral has accepted the execution.")
            } catch is ATTError {
                // Stacks use different codes, because the Core Specification names none.
            }
            try await session.add { sensor }
            try await central.write(handle, [4])
            try expect("written value", try await written.next(), is: [4])
        }
    }

    static let removedUnderSentDocument = Scenario(
        "a document that is sent ends with an error when its service is removed"
    ) {
        let gateway = Gateway()
        return ScenarioRun(gateway.peripheral, mtu: 65) { central, session in
            let sensor = GatewaySensor()
            try await session.add { sensor }
            _ = try await central.discover()
            try await central.subscribe(to: gateway.base)
            try await central.subscribe(to: sensor.value, knownTo: session)
            let value = try await central.locate(sensor.value).valueHandle
            async let sending: Void = expectError(of: "document", .serviceRemoved) {
                // The document is sent again and again until the service is removed.
                while true { try await session.send(pattern(2_000), over: sensor.value) }
            }
            let first = try await central.nextUpdate(of: value).value
            try expect("first part", first, is: Array(pattern(20)))
            try await session.remove(sensor)
            try await sending
            try await session.notify(gateway.base, [2])
            try expect("update of the rest", try await central.nextUpdate(of: gateway.base), is: [2])
        }
    }

    static let removedUnderReceivedDocument = Scenario(
        "the documents that centrals write end when the service is removed"
    ) {
        let upload = Characteristic<[UInt8]>(ScenarioUUID.otherValue, .write) { WriteStream() }
        return ScenarioRun(Gateway().peripheral) { central, session in
            let sensor = GatewaySensor(0, upload)
            try await session.add { sensor }
            _ = try await central.discover()
            async let received = documents(session, upload)
            for chunk in [[1], marker, [2]] { try await central.write(upload, chunk) }
            let handle = try await central.locate(upload).valueHandle
            try await session.remove(sensor)
            // The second document has no end.
            try expect("documents", try await received, is: [[1]])
            try await expectRefusal(of: "end of the document", by: .invalidHandle) {
                try await central.write(handle, marker)
            }
            try await session.add { sensor }
            async let further = documents(session, upload)
            for chunk in [[3], marker] { try await central.write(upload, chunk) }
            try await session.remove(sensor)
            try expect("documents of the service that returned", try await further, is: [[3]])
        }
    }

    /// Returns the documents that centrals write until the service is removed.
    private static func documents(
        _ session: PeripheralSession,
        _ upload: Characteristic<[UInt8]>
    ) async throws -> [[UInt8]] {
        var documents: [[UInt8]] = []
        for await document in try session.documents(writtenTo: upload) { documents.append(document.bytes) }
        return documents
    }
}
