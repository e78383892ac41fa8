internal import PeripheralCore
internal import PeripheralKit
internal import PeripheralTesting

/// Writes of several values, prepared together.
extension ConformanceSuite {
    static let reliableWriting: [Scenario] = [
        reliableWriteArrives, cancelledReliableWriteIsForgotten, reliableWriteStopsAtARefusal,
        reliableWriteIsDeclared,
    ]

    /// A written value with the index of its characteristic.
    private struct Written: Hashable, Sendable {
        var place: Int
        var value: [UInt8]
    }

    /// Creates a run with two characteristics and the handles of their values.
    ///
    /// The second characteristic refuses the value `[0xFF]`.
    private static func scenarioRun(
        _ properties: CharacteristicProperties,
        _ body:
            @escaping @Sendable (any TestCentral, [AttributeHandle], Recorder<Written>) async throws -> Void
    ) -> ScenarioRun {
        let written = Recorder<Written>()
        let values = [ScenarioUUID.value, ScenarioUUID.otherValue].enumerated().map { place, uuid in
            Characteristic<[UInt8]>(uuid, properties) {
                Write { value in
                    if place == 1, value == [0xFF] { throw ATTError(rawValue: 0x81) }
                    written.record(Written(place: place, value: value))
                }
            }
        }
        let peripheral = Peripheral("Reliable") { GATTService(ScenarioUUID.service) { values } }
        return ScenarioRun(peripheral) { central, _ in
            var handles: [AttributeHandle] = []
            for value in values { handles.append(try await central.locate(value).valueHandle) }
            try await body(central, handles, written)
        }
    }

    static let reliableWriteArrives = Scenario("a reliable write of several values arrives in its order") {
        scenarioRun([.write, .reliableWrite]) { central, handles, written in
            try await central.prepareWrite(handles[1], [1, 2], offset: 0)
            try await central.prepareWrite(handles[1], [3], offset: 2)
            try await central.prepareWrite(handles[0], [4], offset: 0)
            try expect("writes before the execution", written.count, is: 0)
            try await central.executePreparedWrites(commit: true)
            try expect("first write", try await written.next(), is: Written(place: 1, value: [1, 2, 3]))
            try expect("second write", try await written.next(), is: Written(place: 0, value: [4]))
            try expect("writes", written.count, is: 2)
        }
    }

    static let cancelledReliableWriteIsForgotten = Scenario("a reliable write that is given up never arrives")
    {
        scenarioRun([.write, .reliableWrite]) { central, handles, written in
            for handle in handles { try await central.prepareWrite(handle, [1], offset: 0) }
            try await central.executePreparedWrites(commit: false)
            try await central.executePreparedWrites(commit: true)
            try await central.write(handles[0], [2])
            try expect("write", try await written.next(), is: Written(place: 0, value: [2]))
            try expect("writes", written.count, is: 1)
        }
    }

    static let reliableWriteStopsAtARefusal = Scenario(
        "a reliable write ends with the first value that is refused"
    ) {
        scenarioRun([.write, .reliableWrite]) { central, handles, written in
            for (place, value) in [(0, 1), (1, 0xFF), (0, 2)] as [(Int, UInt8)] {
                try await central.prepareWrite(handles[place], [value], offset: 0)
            }
            try await expectRefusal(of: "execution", by: ATTError(rawValue: 0x81)) {
                try await central.executePreparedWrites(commit: true)
            }
            try expect("write", try await written.next(), is: Written(place: 0, value: [1]))
            try await central.write(handles[1], [3])
            try expect("next write", try await written.next(), is: Written(place: 1, value: [3]))
        }
    }

    static let reliableWriteIsDeclared = Scenario("a reliable write is refused where it is not declared") {
        scenarioRun(.write) { central, handles, written in
            for handle in handles { try await central.prepareWrite(handle, [1], offset: 0) }
            try await expectRefusal(of: "execution", by: .requestNotSupported) {
                try await central.executePreparedWrites(commit: true)
            }
            try await central.write(handles[0], [2])
            try expect("write", try await written.next(), is: Written(place: 0, value: [2]))
        }
    }
}
