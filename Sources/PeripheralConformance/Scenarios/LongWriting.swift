internal import PeripheralCore
internal import PeripheralKit
internal import PeripheralTesting

extension ConformanceSuite {
    static let longWriting: [Scenario] = [
        longWrite(of: 508), longWrite(of: 512), manySmallPartsAreJoined, cancelledPartsAreForgotten,
        gapIsRefused,
        readOnlyIsNotPrepared,
        refusedLongWrite, smallPacketsSuffice, longWriteFromTheMiddleIsRefused, tooLongPartIsRefused,
    ]

    /// Creates a run with one characteristic of bytes and the handle of its value.
    private static func scenarioRun(
        mtu: Int = 517,
        _ body: @escaping @Sendable (any TestCentral, AttributeHandle, Recorder<[UInt8]>) async throws -> Void
    ) -> ScenarioRun {
        let written = Recorder<[UInt8]>()
        let value = Characteristic<[UInt8]>(ScenarioUUID.value, .write) { Write { written.record($0) } }
        let peripheral = Peripheral("Long") { GATTService(ScenarioUUID.service) { value } }
        return ScenarioRun(peripheral, mtu: mtu) { central, _ in
            try await body(central, central.locate(value).valueHandle, written)
        }
    }

    static func longWrite(of length: Int) -> Scenario {
        Scenario("the parts of a long write of \(length) bytes arrive as one value") {
            scenarioRun { central, handle, written in
                let value = pattern(length)
                for offset in stride(from: 0, to: value.count, by: 200) {
                    let part = value[offset..<min(offset + 200, value.count)]
                    try await central.prepareWrite(handle, Array(part), offset: offset)
                }
                try await central.executePreparedWrites(commit: true)
                try expect("written value", try await written.next(), is: value)
            }
        }
    }

    static let smallPacketsSuffice = Scenario("values of any length are written with an MTU of 23") {
        scenarioRun(mtu: 23) { central, handle, written in
            for length in [20, 21, 36, 37, 508] {
                try await central.writeLong(handle, pattern(length))
                try expect("written value", try await written.next(), is: pattern(length))
            }
        }
    }

    static let manySmallPartsAreJoined = Scenario("a long write may have any number of parts") {
        scenarioRun { central, handle, written in
            for offset in 0..<40 {
                try await central.prepareWrite(handle, [pattern(40)[offset]], offset: offset)
            }
            try await central.executePreparedWrites(commit: true)
            try expect("written value", try await written.next(), is: pattern(40))
        }
    }

    static let cancelledPartsAreForgotten = Scenario("a long write that is given up never arrives") {
        scenarioRun { central, handle, written in
            try await central.prepareWrite(handle, [1, 2, 3], offset: 0)
            try await central.executePreparedWrites(commit: false)
            try await central.executePreparedWrites(commit: true)
            try await central.write(handle, [4])
            try expect("written value", try await written.next(), is: [4])
        }
    }

    static let gapIsRefused = Scenario("a long write with a gap is refused") {
        scenarioRun { central, handle, written in
            try await central.prepareWrite(handle, [1, 2, 3], offset: 0)
            try await central.prepareWrite(handle, [1, 2, 3], offset: 10)
            try await expectRefusal(of: "execution", by: .requestNotSupported) {
                try await central.executePreparedWrites(commit: true)
            }
            try await central.write(handle, [4])
            try expect("written value", try await written.next(), is: [4])
        }
    }

    static let longWriteFromTheMiddleIsRefused = Scenario("a long write that begins in the middle is refused")
    {
        scenarioRun { central, handle, _ in
            try await central.prepareWrite(handle, [1, 2, 3], offset: 5)
            try await expectRefusal(of: "execution", by: .invalidOffset) {
                try await central.executePreparedWrites(commit: true)
            }
        }
    }

    static let tooLongPartIsRefused = Scenario("a part beyond the end of all attributes is refused") {
        scenarioRun { central, handle, written in
            try await central.prepareWrite(handle, pattern(500), offset: 0)
            try await expectRefusal(of: "part", by: .invalidAttributeValueLength) {
                try await central.prepareWrite(handle, pattern(100), offset: 500)
            }
            try await expectRefusal(of: "part", by: .invalidOffset) {
                try await central.prepareWrite(handle, [], offset: 513)
            }
            try await central.executePreparedWrites(commit: true)
            try expect("written value", try await written.next(), is: pattern(500))
        }
    }

    static let readOnlyIsNotPrepared = Scenario(
        "a long write of a read-only characteristic is refused at once"
    ) {
        let value = Characteristic<UInt8>(ScenarioUUID.value, value: 1)
        return ScenarioRun(Peripheral("Read") { GATTService(ScenarioUUID.service) { value } }) { central, _ in
            let handle = try await central.locate(value).valueHandle
            try await expectRefusal(of: "part", by: .writeNotPermitted) {
                try await central.prepareWrite(handle, [1], offset: 0)
            }
        }
    }

    static let refusedLongWrite = Scenario("a handler refuses a long write") {
        let value = Characteristic<[UInt8]>(ScenarioUUID.value, .write) {
            Write { _ in throw ATTError(rawValue: 0x85) }
        }
        return ScenarioRun(Peripheral("Refusal") { GATTService(ScenarioUUID.service) { value } }) {
            central,
            _ in
            let handle = try await central.locate(value).valueHandle
            try await central.prepareWrite(handle, [1, 2], offset: 0)
            try await central.prepareWrite(handle, [3, 4], offset: 2)
            try await expectRefusal(of: "execution", by: ATTError(rawValue: 0x85)) {
                try await central.executePreparedWrites(commit: true)
            }
        }
    }
}
