internal import PeripheralCore
internal import PeripheralKit
internal import PeripheralTesting
internal import PeripheralVirtualServer

extension ConformanceSuite {
    static let writeStreaming: [Scenario] = [
        streamedWritesKeepTheirOrder, streamedCommandsKeepTheirOrder, streamedWritesOfSeveralCentrals,
        streamedWritesWaitForRoom, cancelledReaderTakesNothing, streamedValueIsDecoded,
    ]

    private static func peripheral(_ value: Characteristic<UInt16>) -> Peripheral {
        Peripheral("Stream") { GATTService(ScenarioUUID.service) { value } }
    }

    /// Removes the next write from the stream; fails the scenario if it is not the given write.
    private static func expectWrite(
        _ number: UInt16,
        from writes: inout ReceivedWrites<UInt16>.Iterator
    ) async throws {
        try expect("streamed write", await writes.next()?.value, is: number)
    }

    static let streamedWritesKeepTheirOrder = Scenario("streamed writes arrive in their order") {
        let value = Characteristic<UInt16>(ScenarioUUID.value, .write) { WriteStream() }
        return ScenarioRun(peripheral(value)) { central, session in
            for number: UInt16 in 0..<20 { try await central.write(value, number) }
            var writes = try session.writes(to: value).makeAsyncIterator()
            for number: UInt16 in 0..<20 { try await expectWrite(number, from: &writes) }
        }
    }

    static let streamedCommandsKeepTheirOrder = Scenario(
        "streamed commands arrive in their order, more of them than the buffer holds"
    ) {
        let value = Characteristic<UInt16>(ScenarioUUID.value, .writeWithoutResponse) {
            WriteStream(capacity: 2)
        }
        return ScenarioRun(peripheral(value)) { central, session in
            for number: UInt16 in 0..<40 { try await central.writeWithoutResponse(value, number) }
            var writes = try session.writes(to: value).makeAsyncIterator()
            for number: UInt16 in 0..<40 { try await expectWrite(number, from: &writes) }
        }
    }

    static let streamedWritesOfSeveralCentrals = Scenario("streamed writes name the central that wrote them")
    {
        let value = Characteristic<UInt16>(ScenarioUUID.value, .write) { WriteStream() }
        return ScenarioRun(peripheral(value), mtu: nil) { central, session in
            try await withCentrals(central, mtus: [517, 23]) { centrals in
                for round: UInt16 in 0..<3 {
                    for (place, central) in centrals.enumerated() {
                        try await central.write(value, round * 2 + UInt16(place))
                    }
                }
                var writes = try session.writes(to: value).makeAsyncIterator()
                var authors: [Central?] = []
                for number: UInt16 in 0..<6 {
                    let write = await writes.next()
                    try expect("streamed write", write?.value, is: number)
                    authors.append(write?.central)
                }
                try expect("different centrals", Set(authors).count, is: 2)
                try expect("centrals", authors, is: Array(authors[0..<2] + authors[0..<2] + authors[0..<2]))
            }
        }
    }

    static let streamedWritesWaitForRoom = Scenario("a streamed write is answered when there is room for it")
    {
        let value = Characteristic<UInt16>(ScenarioUUID.value, .write) { WriteStream(capacity: 2) }
        return ScenarioRun(peripheral(value)) { central, session in
            let answered = Recorder<UInt16>()
            try await withThrowingTaskGroup { group in
                group.addTask {
                    for number: UInt16 in 1...6 {
                        try await central.write(value, number)
                        answered.record(number)
                    }
                }
                var writes = try session.writes(to: value).makeAsyncIterator()
                for number: UInt16 in 1...6 {
                    try await expectWrite(number, from: &writes)
                    // One write is removed from the stream, and two writes are in the buffer.
                    try expect("answers are ahead", answered.count <= Int(number) + 2, is: true)
                }
                try await group.waitForAll()
            }
        }
    }

    static let cancelledReaderTakesNothing = Scenario(
        "what a cancelled reader has not taken of streamed writes goes to the next"
    ) {
        let value = Characteristic<UInt16>(ScenarioUUID.value, .write) { WriteStream() }
        return ScenarioRun(peripheral(value)) { central, session in
            let taken = Recorder<UInt16>()
            let reader = Task {
                for await write in try session.writes(to: value) { taken.record(write.value) }
            }
            try await central.write(value, 1)
            try expect("streamed write", try await taken.next(), is: 1)
            reader.cancel()
            try await reader.value
            for number: UInt16 in 2...4 { try await central.write(value, number) }
            var writes = try session.writes(to: value).makeAsyncIterator()
            for number: UInt16 in 2...4 { try await expectWrite(number, from: &writes) }
        }
    }

    static let streamedValueIsDecoded = Scenario("bytes that are no value are refused by a stream") {
        let value = Characteristic<UInt16>(ScenarioUUID.value, .write) { WriteStream() }
        return ScenarioRun(peripheral(value)) { central, session in
            let handle = try await central.locate(value).valueHandle
            try await expectRefusal(of: "write of one byte", by: .invalidAttributeValueLength) {
                try await central.write(handle, [1])
            }
            try await central.write(value, 7)
            var writes = try session.writes(to: value).makeAsyncIterator()
            try await expectWrite(7, from: &writes)
        }
    }
}
