internal import PeripheralCore
internal import PeripheralKit
internal import PeripheralTesting
internal import PeripheralVirtualServer
private import Synchronization

extension ConformanceSuite {
    static let reading: [Scenario] =
        [
            handlerIsAskedForEachRead, handlerMayBeSlow, longReadSeesOneValue, partsBeginAtTheirOffset,
            writeOnlyIsNotRead, unknownErrorIsUnlikely, descriptorsAreRead, connectionsAreIndependent,
        ]
        + [23, 65, 247, 517].flatMap { [staticValues(mtu: $0), handlerValues(mtu: $0)] }
        + handlerErrors.map(refusedRead(by:))

    /// The errors with which a handler may refuse a read on every backend.
    static let handlerErrors: [ATTError] = [
        ATTError(rawValue: 0x80), ATTError(rawValue: 0x9F), .readNotPermitted, .requestNotSupported,
        .insufficientAuthorization, .invalidOffset, .invalidAttributeValueLength, .unlikelyError,
        .procedureAlreadyInProgress, .clientCharacteristicConfigurationImproperlyConfigured,
    ]

    /// The lengths of the values.
    ///
    /// At some lengths, packets of this MTU are nearly full, full, or full again. Other lengths matter for
    /// any MTU.
    private static func lengths(mtu: Int) -> [Int] {
        ([0, 1, 22, 23, 512] + [mtu - 2, mtu - 1, mtu, 2 * (mtu - 1)]).filter { $0 <= 512 }
    }

    static func staticValues(mtu: Int) -> Scenario {
        Scenario("static values of every length are read with an MTU of \(mtu)") {
            scenarioRun(mtu: mtu) { Characteristic<[UInt8]>(ScenarioUUID.value, value: pattern($0)) }
        }
    }

    static func handlerValues(mtu: Int) -> Scenario {
        Scenario("a handler's values of every length are read with an MTU of \(mtu)") {
            scenarioRun(mtu: mtu) { length in
                Characteristic<[UInt8]>(ScenarioUUID.value, .read) { Read { pattern(length) } }
            }
        }
    }

    /// Creates a run that reads one value of each length.
    private static func scenarioRun(
        mtu: Int,
        _ characteristic: (_ length: Int) -> Characteristic<[UInt8]>
    ) -> ScenarioRun {
        let lengths = lengths(mtu: mtu)
        let values = lengths.map(characteristic)
        let peripheral = Peripheral("Lengths") { GATTService(ScenarioUUID.service) { values } }
        return ScenarioRun(peripheral, mtu: mtu) { central, _ in
            for (length, value) in zip(lengths, values) {
                try expect("value of \(length) bytes", try await central.read(value), is: pattern(length))
            }
        }
    }

    static func refusedRead(by error: ATTError) -> Scenario {
        Scenario("a handler refuses a read with the ATT error '\(error)'") {
            let value = Characteristic<UInt8>(ScenarioUUID.value, .read) {
                Read { throw error }
            }
            return ScenarioRun(Peripheral("Refusal") { GATTService(ScenarioUUID.service) { value } }) {
                central,
                _ in
                try await expectRefusal(of: "read", by: error) { try await central.read(value) }
            }
        }
    }

    static let handlerIsAskedForEachRead = Scenario("the handler is asked for each read") {
        let count = Counter()
        let value = Characteristic<UInt8>(ScenarioUUID.value, .read) {
            Read { count.next() }
        }
        return ScenarioRun(Peripheral("Count") { GATTService(ScenarioUUID.service) { value } }) {
            central,
            _ in
            for expected: UInt8 in 1...3 {
                try expect("value", try await central.read(value), is: expected)
            }
        }
    }

    static let handlerMayBeSlow = Scenario("a static value is read while a handler of another service waits")
    {
        let release = Recorder<Void>()
        let entered = Recorder<Void>()
        let slow = Characteristic<UInt8>(ScenarioUUID.value, .writeWithoutResponse) {
            Write { _ in
                entered.record(())
                try await release.next()
            }
        }
        let quick = Characteristic<UInt8>(ScenarioUUID.otherValue, value: 2)
        let peripheral = Peripheral("Slow") {
            GATTService(ScenarioUUID.service) {
                slow; quick
            }
        }
        return ScenarioRun(peripheral) { central, _ in
            try await withThrowingTaskGroup { group in
                // In memory, a command returns when its handler returns.
                group.addTask { try await central.writeWithoutResponse(slow, 1) }
                try await entered.next()
                try expect("value", try await central.read(quick), is: 2)
                release.record(())
                try await group.waitForAll()
            }
        }
    }

    static let longReadSeesOneValue = Scenario("the parts of a long read are of one value") {
        let count = Counter()
        let value = Characteristic<[UInt8]>(ScenarioUUID.value, .read) {
            Read { [UInt8](repeating: count.next(), count: 512) }
        }
        let peripheral = Peripheral("Snapshot") { GATTService(ScenarioUUID.service) { value } }
        return ScenarioRun(peripheral, mtu: 200) { central, _ in
            let handle = try await central.locate(value).valueHandle
            let first = try await central.read(handle, offset: 0)
            let second = try await central.read(handle, offset: 400)
            try expect("first part", first.allSatisfy { $0 == 1 }, is: true)
            try expect("second part", second, is: [UInt8](repeating: 1, count: 112))
            try expect("next read", try await central.read(handle, offset: 0).first, is: 2)
        }
    }

    static let partsBeginAtTheirOffset = Scenario(
        "a part begins at its offset; one beyond the end is refused"
    ) {
        let fixed = Characteristic<[UInt8]>(ScenarioUUID.value, value: pattern(10))
        let handled = Characteristic<[UInt8]>(ScenarioUUID.otherValue, .read) { Read { pattern(10) } }
        let peripheral = Peripheral("Parts") {
            GATTService(ScenarioUUID.service) {
                fixed; handled
            }
        }
        return ScenarioRun(peripheral) { central, _ in
            for characteristic in [fixed, handled] {
                let handle = try await central.locate(characteristic).valueHandle
                try expect("part at 0", try await central.read(handle, offset: 0), is: pattern(10))
                try expect(
                    "part at 4",
                    try await central.read(handle, offset: 4),
                    is: Array(pattern(10)[4...])
                )
                try expect("part at the end", try await central.read(handle, offset: 10), is: [])
                try await expectRefusal(of: "part beyond the end", by: .invalidOffset) {
                    try await central.read(handle, offset: 11)
                }
            }
        }
    }

    static let writeOnlyIsNotRead = Scenario("a characteristic that can only be written is not read") {
        let value = Characteristic<UInt8>(ScenarioUUID.value, .write) { Write { _ in } }
        return ScenarioRun(Peripheral("Write") { GATTService(ScenarioUUID.service) { value } }) {
            central,
            _ in
            try await expectRefusal(of: "read", by: .readNotPermitted) { try await central.read(value) }
        }
    }

    static let unknownErrorIsUnlikely = Scenario(
        "an error that means nothing to a central is an unlikely error"
    ) {
        struct Mishap: Error {}
        let value = Characteristic<UInt8>(ScenarioUUID.value, [.read, .write]) {
            Read { throw Mishap() }
            Write { _ in throw Mishap() }
        }
        return ScenarioRun(Peripheral("Mishap") { GATTService(ScenarioUUID.service) { value } }) {
            central,
            _ in
            try await expectRefusal(of: "read", by: .unlikelyError) { try await central.read(value) }
            try await expectRefusal(of: "write", by: .unlikelyError) { try await central.write(value, 1) }
        }
    }

    static let descriptorsAreRead = Scenario("descriptors are read and written") {
        let written = Recorder<UInt8>()
        let value = Characteristic<UInt8>(ScenarioUUID.value, value: 1) {
            UserDescription("Brightness in percent")
            Descriptor<UInt8>(ScenarioUUID.descriptor) {
                Read { 7 }
                Write { written.record($0) }
            }
        }
        return ScenarioRun(Peripheral("Descriptors") { GATTService(ScenarioUUID.service) { value } }) {
            central,
            _ in
            let text = try await central.read(.characteristicUserDescription, of: value)
            try expect("description", text, is: Array("Brightness in percent".utf8))
            try expect("value", try await central.read(ScenarioUUID.descriptor, of: value), is: [7])
            let found = try await central.locate(value)
            try await central.write(found.handle(of: ScenarioUUID.descriptor), [9])
            try expect("written value", try await written.next(), is: 9)
            try await expectRefusal(of: "write of the description", by: .writeNotPermitted) {
                try await central.write(found.handle(of: .characteristicUserDescription), [9])
            }
        }
    }

    static let connectionsAreIndependent = Scenario(
        "the peripheral is found, connected and read again and again"
    ) {
        let value = Characteristic<UInt8>(ScenarioUUID.value, .read) { Read { 5 } }
        return ScenarioRun(Peripheral("Again") { GATTService(ScenarioUUID.service) { value } }) {
            central,
            _ in
            for _ in 0..<3 {
                try expect("value", try await central.read(value), is: 5)
                try await central.disconnect()
                try await central.connect()
            }
            try expect("value", try await central.read(value), is: 5)
        }
    }
}

/// Counts from 1.
final class Counter: Sendable {
    private let value = Mutex<UInt8>(0)

    func next() -> UInt8 {
        value.withLock { value in
            value &+= 1
            return value
        }
    }
}
