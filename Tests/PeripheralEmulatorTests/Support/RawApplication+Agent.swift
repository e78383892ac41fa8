import PeripheralDBus
import PeripheralKit
import PeripheralTesting

extension RawApplication {
    static let agent: ObjectPath = "/agent"

    /// Exports an agent whose questions are answered as ``answer(_:_:)`` says; by saying yes otherwise.
    func exportAgent() async throws {
        try await connection.export(
            ExportedObject(
                Self.agent,
                [
                    ExportedInterface(
                        "org.bluez.Agent1",
                        methods: [
                            method("RequestAuthorization", "o", ""),
                            method("RequestConfirmation", "ou", ""),
                            method("RequestPasskey", "o", "u"), method("DisplayPasskey", "ouq", ""),
                            method("Cancel", "", ""), method("Release", "", ""),
                        ]
                    )
                ]
            )
        )
    }

    func callAgentManager(_ member: MemberName, _ arguments: BusValue...) async -> String {
        let arguments = [.objectPath(Self.agent)] + arguments
        return await call("org.bluez.AgentManager1", member, arguments, at: "/org/bluez")
    }

    /// Exports and registers an agent.
    func registerAgent(_ capability: String = "NoInputNoOutput") async throws -> String {
        try await exportAgent()
        return await callAgentManager("RegisterAgent", .string(capability))
    }

    /// Calls the object of a central.
    func callDevice(_ member: MemberName, of central: VirtualCentral) async -> String {
        // What has happened on the air is on the bus afterwards.
        try? await settle()
        return await call("org.bluez.Device1", member, [], at: central.path)
    }

    func removeDevice(_ central: VirtualCentral) async -> String {
        try? await settle()
        return await call("org.bluez.Adapter1", "RemoveDevice", [.objectPath(central.path)])
    }
}

extension VirtualCentral {
    /// The object that bluetoothd has for the central.
    var path: ObjectPath {
        let name = address.description.split(separator: ":").joined(separator: "_")
        return ObjectPath(unchecked: "/org/bluez/hci0/dev_\(name)")
    }

    /// How pairing comes out: `ok`, or the error's code.
    func outcome(ofPairing user: PairingUser) async -> String {
        do {
            try await pair(user)
            return "ok"
        } catch {
            return (error as? TestCentralError)?.code.description ?? "\(error)"
        }
    }
}
