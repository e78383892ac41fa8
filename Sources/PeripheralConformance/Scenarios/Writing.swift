internal import PeripheralCore
internal import PeripheralKit
internal import PeripheralTesting
internal import PeripheralVirtualServer

extension ConformanceSuite {
    static let writing: [Scenario] =
        [
            writtenValueArrives, undecodableValueIsRefused, readOnlyIsNotWritten, commandArrives,
            refusalIsLostWhereCommandsAreTaken, tooLongValueIsRefused, handlerKnowsTheCentral,
        ]
        + [0, 1, 20, 509, 510, 511, 512].map(writtenBytes(_:))
        + writeErrors.map(refusedWrite(by:))

    /// The errors with which a handler may refuse a write on every backend.
    static let writeErrors: [ATTError] = [
        ATTError(rawValue: 0x80), ATTError(rawValue: 0x9F), .writeNotPermitted, .requestNotSupported,
        .insufficientAuthorization, .invalidOffset, .invalidAttributeValueLength, .unlikelyError,
        .procedureAlreadyInProgress, .clientCharacteristicConfigurationImproperlyConfigured,
    ]

    static func writtenBytes(_ length: Int) -> Scenario {
        Scenario("a written value of \(length) bytes arrives") {
            let written = Recorder<[UInt8]>()
            let value = Characteristic<[UInt8]>(ScenarioUUID.value, .write) { Write { written.record($0) } }
            return ScenarioRun(Peripheral("Bytes") { GATTService(ScenarioUUID.service) { value } }) {
                central,
                _ in
                try await central.write(value, pattern(length))
                try expect("written value", try await written.next(), is: pattern(length))
            }
        }
    }

    static func refusedWrite(by error: ATTError) -> Scenario {
        Scenario("a handler refuses a write with the ATT error '\(error)'") {
            let value = Characteristic<UInt8>(ScenarioUUID.value, .write) {
                Write { _ in throw error }
            }
            return ScenarioRun(Peripheral("Refusal") { GATTService(ScenarioUUID.service) { value } }) {
                central,
                _ in
                try await expectRefusal(of: "write", by: error) { try await central.write(value, 1) }
            }
        }
    }

    static let writtenValueArrives = Scenario("written values arrive in their order, and are read back") {
        let stored = Recorder<UInt16>()
        let value = Characteristic<UInt16>(ScenarioUUID.value, .write) { Write { stored.record($0) } }
        return ScenarioRun(Peripheral("Order") { GATTService(ScenarioUUID.service) { value } }) {
            central,
            _ in
            for number: UInt16 in [1, 0xFF00, 3, 0] {
                try await central.write(value, number)
                try expect("written value", try await stored.next(), is: number)
            }
        }
    }

    static let undecodableValueIsRefused = Scenario(
        "bytes that are no value are refused without asking the handler"
    ) {
        let written = Recorder<UInt16>()
        let value = Characteristic<UInt16>(ScenarioUUID.value, .write) { Write { written.record($0) } }
        return ScenarioRun(Peripheral("Decode") { GATTService(ScenarioUUID.service) { value } }) {
            central,
            _ in
            let handle = try await central.locate(value).valueHandle
            for bytes: [UInt8] in [[], [1], [1, 2, 3]] {
                try await expectRefusal(of: "write of \(bytes)", by: .invalidAttributeValueLength) {
                    try await central.write(handle, bytes)
                }
            }
            try await central.write(handle, [1, 2])
            try expect("written value", try await written.next(), is: 0x0201)
        }
    }

    static let readOnlyIsNotWritten = Scenario("a characteristic that can only be read is not written") {
        let fixed = Characteristic<UInt8>(ScenarioUUID.value, value: 1)
        let handled = Characteristic<UInt8>(ScenarioUUID.otherValue, .read) { Read { 1 } }
        let peripheral = Peripheral("Read") {
            GATTService(ScenarioUUID.service) {
                fixed; handled
            }
        }
        return ScenarioRun(peripheral) { central, _ in
            for characteristic in [fixed, handled] {
                try await expectRefusal(of: "write", by: .writeNotPermitted) {
                    try await central.write(characteristic, 2)
                }
                try expect("value", try await central.read(characteristic), is: 1)
            }
        }
    }

    static let commandArrives = Scenario("what is written without response arrives") {
        let written = Recorder<[UInt8]>()
        let value = Characteristic<[UInt8]>(ScenarioUUID.value, .writeWithoutResponse) {
            Write { written.record($0) }
        }
        return ScenarioRun(Peripheral("Command") { GATTService(ScenarioUUID.service) { value } }) {
            central,
            _ in
            for length in [0, 1, 20] {
                try await central.writeWithoutResponse(value, pattern(length))
                try expect("written value", try await written.next(), is: pattern(length))
            }
        }
    }

    static let refusalIsLostWhereCommandsAreTaken = Scenario(
        "a refusal is lost where the characteristic takes commands as well"
    ) {
        let written = Recorder<UInt8>()
        let value = Characteristic<UInt8>(ScenarioUUID.value, [.write, .writeWithoutResponse]) {
            Write { value in
                written.record(value)
                throw ATTError(rawValue: 0x80)
            }
        }
        return ScenarioRun(Peripheral("Lost") { GATTService(ScenarioUUID.service) { value } }) { central, _ in
            try await central.write(value, 1)
            try expect("written value", try await written.next(), is: 1)
        }
    }

    static let tooLongValueIsRefused = Scenario("a value that no attribute can hold is refused") {
        let value = Characteristic<[UInt8]>(ScenarioUUID.value, .write) { Write { _ in } }
        return ScenarioRun(Peripheral("Length") { GATTService(ScenarioUUID.service) { value } }) {
            central,
            _ in
            let handle = try await central.locate(value).valueHandle
            try await expectRefusal(of: "write of 513 bytes", by: .invalidAttributeValueLength) {
                try await central.write(handle, pattern(513))
            }
        }
    }

    static let handlerKnowsTheCentral = Scenario("handlers know the central, the same for all its requests") {
        let seen = Recorder<Central>()
        let value = Characteristic<UInt8>(ScenarioUUID.value, [.read, .write]) {
            Read { central in
                seen.record(central)
                return 1
            }
            Write { _, central in seen.record(central) }
        }
        return ScenarioRun(Peripheral("Central") { GATTService(ScenarioUUID.service) { value } }) {
            central,
            _ in
            _ = try await central.read(value)
            try await central.write(value, 2)
            let reader = try await seen.next()
            try expect("central that writes", try await seen.next(), is: reader)
            try expect("MTU", reader.mtu, is: try await central.mtu)
        }
    }
}
