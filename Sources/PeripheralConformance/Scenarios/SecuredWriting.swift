internal import PeripheralCore
internal import PeripheralKit
internal import PeripheralTesting
internal import PeripheralVirtualServer

extension ConformanceSuite {
    static let securedWriting: [Scenario] = [
        securedCommand, securedDescriptorIsWritten, userDescriptionIsWritten, undecodableIsRefused,
    ]

    /// A command without the required security is dropped, because it has no response.
    static let securedCommand = Scenario("a write without response needs the security that is declared") {
        let written = Recorder<[UInt8]>()
        let value = Characteristic<[UInt8]>(
            ScenarioUUID.value,
            [.read, .writeWithoutResponse],
            security: AttributeSecurity(write: .encrypted)
        ) {
            Read { [] }
            Write { written.record($0) }
        }
        let peripheral = Peripheral("Command", pairing: .justWorks) {
            GATTService(ScenarioUUID.service) { value }
        }
        return ScenarioRun(peripheral) { central, _ in
            try await central.writeWithoutResponse(value, [1])
            // The stack answers this read after the command.
            _ = try await central.read(value)
            try await central.pair(.justWorks)
            try await central.writeWithoutResponse(value, [2])
            try expect("first written value", try await written.next(), is: [2])
        }
    }

    static let securedDescriptorIsWritten = Scenario(
        "a descriptor is written only with the security that it demands"
    ) {
        let written = Recorder<UInt8>()
        let shown = Recorder<UInt32>()
        let value = Characteristic<UInt8>(ScenarioUUID.value, [.read]) {
            Read { 7 }
            Descriptor<UInt8>(
                ScenarioUUID.descriptor,
                security: AttributeSecurity(write: .authenticated)
            ) {
                Read { 8 }
                Write { written.record($0) }
            }
        }
        let pairing = Pairing.displayPasskey { passkey, _ in shown.record(passkey) }
        let peripheral = Peripheral("Descriptor", pairing: pairing) {
            GATTService(ScenarioUUID.service) { value }
        }
        return ScenarioRun(peripheral) { central, _ in
            let handle = try await central.locate(value).handle(of: ScenarioUUID.descriptor)
            try expect("descriptor", try await central.readLong(handle), is: [8])
            try await expectRefusal(of: "write", by: .insufficientAuthentication) {
                try await central.write(handle, [1])
            }
            try await central.pair(.entering { try? await shown.next() })
            try await central.write(handle, [2])
            try expect("written value", try await written.next(), is: 2)
        }
    }

    static let userDescriptionIsWritten = Scenario("a user description that can be written is written") {
        let written = Recorder<String>()
        let value = Characteristic<UInt8>(ScenarioUUID.value, [.read, .writableAuxiliaries]) {
            Read { 7 }
            Descriptor<String>(.characteristicUserDescription) {
                Read { "Lamp" }
                Write { written.record($0) }
            }
        }
        let peripheral = Peripheral("Description") { GATTService(ScenarioUUID.service) { value } }
        return ScenarioRun(peripheral) { central, _ in
            let handle = try await central.locate(value).handle(of: .characteristicUserDescription)
            try expect("description", try await central.readLong(handle), is: Array("Lamp".utf8))
            try await central.write(handle, Array("Hall lamp".utf8))
            try expect("written description", try await written.next(), is: "Hall lamp")
        }
    }

    /// The bytes have the right length but are not a valid value.
    static let undecodableIsRefused = Scenario(
        "a central writes a value that cannot be decoded, and receives the ATT error 'value not allowed'"
    ) {
        let written = Recorder<Bool>()
        let value = Characteristic<Bool>(ScenarioUUID.value, .write) { Write { written.record($0) } }
        let peripheral = Peripheral("Boolean") { GATTService(ScenarioUUID.service) { value } }
        return ScenarioRun(peripheral) { central, _ in
            let handle = try await central.locate(value).valueHandle
            try await expectRefusal(of: "write", by: .valueNotAllowed) {
                try await central.write(handle, [2])
            }
            try await central.write(handle, [1])
            try expect("first written value", try await written.next(), is: true)
        }
    }
}
