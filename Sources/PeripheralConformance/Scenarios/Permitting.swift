internal import PeripheralCore
internal import PeripheralKit
internal import PeripheralTesting
internal import PeripheralVirtualServer

extension ConformanceSuite {
    static let permitting: [Scenario] = [
        otherLengthIsRefused, otherLengthIsRefusedInParts, unauthorizedCentralIsRefused, leaverWritesNothing,
        cancelledPartsLeaveNothing,
    ]

    static let otherLengthIsRefused = Scenario("a value of another length than declared is refused") {
        let written = Recorder<[UInt8]>()
        func value(_ uuid: BluetoothUUID, _ length: ValueLength) -> Characteristic<[UInt8]> {
            Characteristic(uuid, .write, length: length) { Write { written.record($0) } }
        }
        let exact = value(ScenarioUUID.value, .exactly(2))
        let short = value(ScenarioUUID.otherValue, .upTo(3))
        let between = value(ScenarioUUID.thirdValue, .within(2...4))
        let peripheral = Peripheral("Lengths") {
            GATTService(ScenarioUUID.service) {
                exact; short; between
            }
        }
        return ScenarioRun(peripheral) { central, _ in
            for (value, good, bad) in [
                (exact, [2], [0, 1, 3, 100]), (short, [0, 3], [4, 512]),
                (between, [2, 3, 4], [0, 1, 5, 508]),
            ] {
                for length in bad {
                    try await expectRefusal(of: "\(length) bytes", by: .invalidAttributeValueLength) {
                        try await central.writeLong(central.locate(value).valueHandle, pattern(length))
                    }
                }
                for length in good {
                    try await central.write(value, pattern(length))
                    try expect("written value", try await written.next(), is: pattern(length))
                }
            }
        }
    }

    static let otherLengthIsRefusedInParts = Scenario(
        "a long write of another length than declared is refused"
    ) {
        let written = Recorder<[UInt8]>()
        let value = Characteristic<[UInt8]>(ScenarioUUID.value, .write, length: .exactly(4)) {
            Write { written.record($0) }
        }
        let peripheral = Peripheral("Parts") { GATTService(ScenarioUUID.service) { value } }
        return ScenarioRun(peripheral) { central, _ in
            let handle = try await central.locate(value).valueHandle
            try await central.prepareWrite(handle, [1, 2], offset: 0)
            try await central.prepareWrite(handle, [3], offset: 2)
            try await expectRefusal(of: "execution", by: .invalidAttributeValueLength) {
                try await central.executePreparedWrites(commit: true)
            }
            try await central.prepareWrite(handle, [4, 5], offset: 0)
            try await central.prepareWrite(handle, [6, 7], offset: 2)
            try await central.executePreparedWrites(commit: true)
            try expect("written value", try await written.next(), is: [4, 5, 6, 7])
        }
    }

    static let unauthorizedCentralIsRefused = Scenario(
        "a central that is not authorized can neither read nor write"
    ) {
        let isOpen = Flag()
        let written = Recorder<[UInt8]>()
        let value = Characteristic<[UInt8]>(ScenarioUUID.value, [.read, .write]) {
            Authorization { isOpen.isSet }
            Read { [1] }
            Write { written.record($0) }
        }
        let fixed = Characteristic<[UInt8]>(ScenarioUUID.otherValue, value: [2]) {
            Authorization { isOpen.isSet }
        }
        let peripheral = Peripheral("Authorization") {
            GATTService(ScenarioUUID.service) {
                value; fixed
            }
        }
        return ScenarioRun(peripheral) { central, _ in
            let handle = try await central.locate(value).valueHandle
            for characteristic in [value, fixed] {
                try await expectRefusal(of: "read", by: .insufficientAuthorization) {
                    try await central.read(characteristic)
                }
            }
            try await expectRefusal(of: "write", by: .insufficientAuthorization) {
                try await central.write(handle, [3])
            }
            try await expectRefusal(of: "first part of a long write", by: .insufficientAuthorization) {
                try await central.prepareWrite(handle, [4], offset: 0)
            }
            try await central.executePreparedWrites(commit: false)
            isOpen.set(true)
            try expect("value", try await central.read(value), is: [1])
            try expect("fixed value", try await central.read(fixed), is: [2])
            try await central.write(handle, [5])
            try expect("written value", try await written.next(), is: [5])
            try await central.prepareWrite(handle, [6, 7], offset: 0)
            try await central.prepareWrite(handle, [8], offset: 2)
            try await central.executePreparedWrites(commit: true)
            try expect("value of a long write", try await written.next(), is: [6, 7, 8])
        }
    }

    static let cancelledPartsLeaveNothing = Scenario(
        "a long write that is given up leaves nothing for the next"
    ) {
        let written = Recorder<[UInt8]>()
        let value = Characteristic<[UInt8]>(ScenarioUUID.value, .write) { Write { written.record($0) } }
        let other = Characteristic<[UInt8]>(ScenarioUUID.otherValue, .write) { Write { written.record($0) } }
        let peripheral = Peripheral("Cancelled") {
            GATTService(ScenarioUUID.service) {
                value; other
            }
        }
        return ScenarioRun(peripheral) { central, _ in
            let handles = (
                try await central.locate(value).valueHandle, try await central.locate(other).valueHandle
            )
            for handle in [handles.0, handles.1] {
                try await central.prepareWrite(handle, [1, 2, 3], offset: 0)
            }
            try await central.executePreparedWrites(commit: false)
            try await central.prepareWrite(handles.0, [4], offset: 0)
            try await central.executePreparedWrites(commit: true)
            try expect("written value", try await written.next(), is: [4])
            try await central.write(handles.1, [5])
            try expect("next written value", try await written.next(), is: [5])
        }
    }

    static let leaverWritesNothing = Scenario("a long write whose central leaves never arrives") {
        let written = Recorder<[UInt8]>()
        let value = Characteristic<[UInt8]>(ScenarioUUID.value, .write) { Write { written.record($0) } }
        let peripheral = Peripheral("Leaver") { GATTService(ScenarioUUID.service) { value } }
        return ScenarioRun(peripheral) { central, _ in
            try await central.prepareWrite(central.locate(value).valueHandle, [1, 2, 3], offset: 0)
            try await central.disconnect()
            try await central.connect()
            try await central.executePreparedWrites(commit: true)
            try await central.write(value, [4])
            try expect("written value", try await written.next(), is: [4])
        }
    }
}
