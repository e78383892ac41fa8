import PeripheralDBus
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import Testing

/// Sockets for writes, and the authorization of prepared writes, as recorded of 5.66 and 5.87.
@Suite(.timeLimit(.minutes(1)))
struct WriteSocketTests {
    private static func handle(_ version: BlueZVersion) -> AttributeHandle {
        version == .v5_66 ? 0x0017 : 0x0015
    }

    private static func run(
        _ version: BlueZVersion,
        flags: [String] = ["read", "write", "write-without-response"],
        acquires: Bool = true,
        _ body: (Stage, VirtualCentral) async throws -> Void
    ) async throws {
        let more: [(String, BusValue)] = acquires ? [("WriteAcquired", .bool(false))] : []
        let objects: [RawObject] = [.service(), .characteristic("/app/s/w", flags, more: more)]
        let configuration = EmulatedBlueZ.Configuration(
            version: version,
            adapters: [EmulatedAdapter(kind: .legacy)]
        )
        try await Stage.run(configuration, objects: objects) { stage, central in
            stage.application.handOverSockets(by: "AcquireWrite")
            try await body(stage, central)
        }
    }

    private static func options(of central: VirtualCentral, _ more: String = "") -> String {
        "{'device': o \(central.path), 'link': s 'LE', \(more)'mtu': q 517}"
    }

    private static func acquisition(by central: VirtualCentral) -> String {
        "AcquireWrite /app/s/w(\(options(of: central)))"
    }

    @Test(arguments: [BlueZVersion.v5_66, .v5_87])
    func writesGoThroughTheSocket(version: BlueZVersion) async throws {
        let value = Self.handle(version)
        try await Self.run(version) { stage, first async throws in
            let second = stage.makeCentral()
            try await second.connect()
            try await first.write(value, [1])
            try await first.writeWithoutResponse(value, [2])
            try await second.write(value, [3])
            try await first.prepareWrite(value, [4], offset: 5)
            try await first.prepareWrite(value, [5], offset: 6)
            try await first.executePreparedWrites(commit: true)
            let messages = ["socket 0: 01", "socket 0: 02"]
            if version == .v5_66 {
                #expect(
                    await stage.application.calls.take(5) == [Self.acquisition(by: first)] + messages + [
                        "socket 0: 03", "socket 0: 0405",
                    ]
                )
                first.disconnect()
                try await second.write(value, [6])
                #expect(await stage.application.calls.take(1) == ["socket 0: 06"])
            } else {
                let calls = await stage.application.calls.take(6)
                #expect(
                    calls.filter { !$0.hasPrefix("socket 1") && $0 != Self.acquisition(by: second) }
                        == [Self.acquisition(by: first)] + messages + ["socket 0: 0405"]
                )
                #expect(calls.contains("socket 1: 03"))
                first.disconnect()
                #expect(await stage.application.calls.take(1) == ["socket 0: closed"])
                try await first.connect()
                try await first.write(value, [6])
                #expect(
                    await stage.application.calls.take(2) == [Self.acquisition(by: first), "socket 2: 06"]
                )
            }
        }
    }

    @Test func aRefusalIsThatOfTheWrite() async throws {
        let version = BlueZVersion.v5_87
        try await Self.run(version, flags: ["write"]) { stage, central async throws in
            let write = { await outcome { try await central.write(Self.handle(version), [1]) } }
            stage.application.answer("AcquireWrite", .error("org.bluez.Error.NotAuthorized", ""))
            #expect(await write() == "0x08")
            #expect(stage.application.calls.take() == [Self.acquisition(by: central)])
            stage.application.answer("AcquireWrite", .error("org.bluez.Error.Failed", ""))
            #expect(await write() == "ok")
            #expect(
                stage.application.calls.take() == [
                    Self.acquisition(by: central), "WriteValue /app/s/w(ay 01, \(Self.options(of: central)))",
                ]
            )
        }
    }

    @Test func aRefusalIsTheLastWordOfAnOldVersion() async throws {
        let version = BlueZVersion.v5_66
        try await Self.run(version, flags: ["write"]) { stage, central async throws in
            let write = { await outcome { try await central.write(Self.handle(version), [1]) } }
            stage.application.answer("AcquireWrite", .error("org.bluez.Error.NotSupported", ""))
            #expect(await write() == "0x06")
            stage.application.handOverSockets(by: "AcquireWrite")
            #expect(await write() == "0x0e")
            #expect(stage.application.calls.take() == [Self.acquisition(by: central)])
        }
    }

    @Test func aClosedSocketIsReplaced() async throws {
        let version = BlueZVersion.v5_87
        let value = Self.handle(version)
        try await Self.run(version, flags: ["write"]) { stage, central async throws in
            try await central.write(value, [1])
            _ = await stage.application.calls.take(2)
            stage.application.close(0)
            _ = await stage.application.calls.take(1)
            try await stage.application.settle()
            try await central.write(value, [2])
            #expect(
                await stage.application.calls.take(2) == [Self.acquisition(by: central), "socket 1: 02"]
            )
        }
    }

    // MARK: Authorization

    @Test func preparedWritesAreAuthorized() async throws {
        let version = BlueZVersion.v5_66
        let value = Self.handle(version)
        try await Self.run(version, flags: ["write", "authorize"], acquires: false) {
            stage,
            central async throws in
            try await central.prepareWrite(value, [1], offset: 0)
            try await central.prepareWrite(value, [2], offset: 1)
            try await central.executePreparedWrites(commit: true)
            let question = Self.options(of: central, "'prepare-authorize': b true, ")
            let options = Self.options(of: central)
            #expect(
                stage.application.calls.take() == [
                    "WriteValue /app/s/w(ay , \(question))", "WriteValue /app/s/w(ay 0102, \(options))",
                ]
            )
            stage.application.answer("WriteValue", .error("org.bluez.Error.NotAuthorized", ""))
            #expect(await outcome { try await central.prepareWrite(value, [1], offset: 0) } == "0x08")
            let trusted: [BusValue] = [
                .string("org.bluez.Device1"), .string("Trusted"), .variant(.bool(true)),
            ]
            #expect(await stage.application.call(.properties, "Set", trusted, at: central.path) == "ok")
            #expect(await outcome { try await central.prepareWrite(value, [1], offset: 0) } == "ok")
        }
    }
}
