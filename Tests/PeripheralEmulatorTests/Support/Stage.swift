import PeripheralDBus
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import Testing

/// An application with every kind of attribute, registered and advertised, and centrals near it.
struct Stage {
    let bluez: EmulatedBlueZ
    let application: RawApplication

    /// The objects in the order of their handles, which begin at 0x0015.
    static let objects: [RawObject] = [
        .service(),
        .characteristic("/app/s/rw", ["read", "write", "write-without-response"]),
        .characteristic("/app/s/long", ["read", "write"]),
        .characteristic("/app/s/ro", ["read"]),
        .characteristic("/app/s/wo", ["write"]),
        .characteristic("/app/s/notify", ["notify"]),
        .characteristic("/app/s/indicate", ["indicate"]),
        .characteristic("/app/s/both", ["read", "notify", "indicate"]),
        .characteristic("/app/s/reliable", ["read", "write", "reliable-write"]),
        .characteristic("/app/s/described", ["read"]),
        .descriptor("/app/s/described/d1", ["read"], of: "/app/s/described"),
        .descriptor("/app/s/described/d2", uuid: "2904", ["read", "write"], of: "/app/s/described"),
        .characteristic("/app/s/command", ["write-without-response"]),
        .characteristic("/app/s/authorize", ["read", "write", "authorize"]),
        .characteristic("/app/s/encrypted", ["encrypt-read", "encrypt-write"]),
    ]

    enum Handle {
        static let rw: AttributeHandle = 0x0017
        static let long: AttributeHandle = 0x0019
        static let ro: AttributeHandle = 0x001B
        static let wo: AttributeHandle = 0x001D
        static let notify: AttributeHandle = 0x001F
        static let indicate: AttributeHandle = 0x0022
        static let both: AttributeHandle = 0x0025
        static let reliable: AttributeHandle = 0x0028
        static let d1: AttributeHandle = 0x002C
        static let d2: AttributeHandle = 0x002D
        static let command: AttributeHandle = 0x002F
        static let encrypted: AttributeHandle = 0x0033
    }

    /// The client characteristic configuration stands right behind the value.
    static func configuration(of handle: AttributeHandle) -> AttributeHandle {
        AttributeHandle(rawValue: handle.rawValue + 1)
    }

    /// Registers all, and an agent if one is given: its capability counts for the connections after that.
    static func run(
        _ configuration: EmulatedBlueZ.Configuration = .init(),
        objects: [RawObject] = objects,
        agent: String? = nil,
        _ body: (Stage, VirtualCentral) async throws -> Void
    ) async throws {
        try await withEmulatedBlueZ(configuration) { bluez in
            try await RawApplication.run(on: bluez) { application in
                try await application.export(objects)
                try await application.exportAdvertisement([("Type", .string("peripheral"))])
                try #require(await application.register() == "ok")
                try #require(await application.advertise() == "ok")
                if let agent { try #require(await application.registerAgent(agent) == "ok") }
                let stage = Stage(bluez: bluez, application: application)
                let central = stage.makeCentral()
                try await central.connect(mtu: 517)
                _ = application.calls.take()
                try await body(stage, central)
            }
        }
    }

    func makeCentral() -> VirtualCentral {
        bluez.central(for: Peripheral("Stage") {})
    }
}

/// What a request comes to: the value, `ok`, or the error's code.
func outcome(_ request: () async throws -> [UInt8]) async -> String {
    do {
        return try await request().hexadecimal
    } catch let error as ATTError {
        return "0x" + error.rawValue.hexadecimal
    } catch {
        return "\(error)"
    }
}

/// What a request without an answer comes to.
func outcome(_ request: () async throws -> Void) async -> String {
    let result = await outcome { () -> [UInt8] in
        try await request()
        return []
    }
    return result.isEmpty ? "ok" : result
}
