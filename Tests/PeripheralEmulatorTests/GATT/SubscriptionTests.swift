import PeripheralDBus
import PeripheralEmulator
import PeripheralKit
import PeripheralTesting
import Testing

/// Client characteristic configurations and updates, as recorded of bluetoothd 5.66.
@Suite(.timeLimit(.minutes(1)))
struct SubscriptionTests {
    struct Step: Sendable {
        var write: [UInt8]
        var outcome: String
        var call: String?
        var value: String
    }

    struct Script: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var handle: AttributeHandle
        var steps: [Step]

        init(_ name: String, _ handle: AttributeHandle, _ steps: [([UInt8], String, String?, String)]) {
            testDescription = name
            self.handle = handle
            self.steps = steps.map { Step(write: $0.0, outcome: $0.1, call: $0.2, value: $0.3) }
        }
    }

    static let scripts = [
        Script(
            "notify",
            Stage.Handle.notify,
            [
                ([1, 0], "ok", "StartNotify", "0100"), ([0, 0], "ok", "StopNotify", "0000"),
                ([2, 0], "0xfd", nil, "0000"), ([0, 0], "ok", nil, "0000"), ([3, 0], "0xfd", nil, "0000"),
                ([4, 0], "0xfd", nil, "0000"), ([1], "ok", "StartNotify", "0100"), ([], "ok", nil, "0100"),
                ([1, 0, 0], "0x0d", nil, "0100"), ([1, 0], "ok", nil, "0100"),
                ([0, 0], "ok", "StopNotify", "0000"),
            ]
        ),
        Script(
            "indicate",
            Stage.Handle.indicate,
            [
                ([1, 0], "0xfd", nil, "0000"), ([2, 0], "ok", "StartNotify", "0200"),
                ([0, 0], "ok", "StopNotify", "0000"), ([3, 0], "0xfd", nil, "0000"),
                ([1, 0, 0], "0x0d", nil, "0000"),
            ]
        ),
        Script(
            "both",
            Stage.Handle.both,
            [
                ([1, 0], "ok", "StartNotify", "0100"), ([0, 0], "ok", "StopNotify", "0000"),
                ([2, 0], "ok", "StartNotify", "0200"), ([0, 0], "ok", "StopNotify", "0000"),
                ([3, 0], "0xfd", nil, "0000"),
            ]
        ),
    ]

    @Test(arguments: scripts) func configurationIsCheckedAndTold(script: Script) async throws {
        try await Stage.run { stage, central in
            let configuration = Stage.configuration(of: script.handle)
            let path = try #require(
                [
                    Stage.Handle.notify: "notify", Stage.Handle.indicate: "indicate",
                    Stage.Handle.both: "both",
                ][script.handle]
            )
            for step in script.steps {
                #expect(await outcome { try await central.write(configuration, step.write) } == step.outcome)
                // A request that comes after it arrives after the call.
                _ = try await central.read(Stage.Handle.ro, offset: 0)
                let calls = stage.application.calls.take().dropLast()
                #expect(calls == (step.call.map { ["\($0) /app/s/\(path)() NO_REPLY_EXPECTED"] } ?? []))
                let value = try await central.read(configuration, offset: 0)
                #expect(value.hexadecimal == step.value)
            }
            #expect(
                await outcome { try await central.prepareWrite(configuration, [1, 0], offset: 0) } == "0x0d"
            )
        }
    }

    private func emit(
        _ stage: Stage,
        _ path: ObjectPath,
        _ changed: [(String, BusValue)],
        interface: InterfaceName = "org.bluez.GattCharacteristic1",
        invalidated: [String] = []
    ) async throws {
        try await stage.application.connection.emitPropertiesChanged(
            path,
            interface,
            changed,
            invalidated: invalidated
        )
    }

    @Test func valuesReachSubscribers() async throws {
        try await Stage.run { stage, central in
            try await central.subscribe(Stage.Handle.notify, to: .notification)
            let path: ObjectPath = "/app/s/notify"
            let bytes = [UInt8](repeating: 7, count: 600)
            // What is no value comes to nothing.
            try await emit(stage, path, [("Value", .string("x"))])
            try await emit(stage, path, [("Value", .bytes([9]))], interface: "org.bluez.GattDescriptor1")
            try await emit(stage, path, [("Other", .bytes([9]))])
            try await emit(stage, "/app/s/both", [("Value", .bytes([9]))])
            try await emit(stage, "/app/s/ro", [("Value", .bytes([9]))])
            try await emit(stage, path, [("Value", .bytes([0x61, 0x62]))])
            try await emit(stage, path, [("Value", .bytes([]))])
            try await emit(stage, path, [("Value", .bytes(bytes))])
            try await emit(stage, path, [], invalidated: ["Value"])
            try await emit(stage, path, [("Value", .array(of: "u", [.uint32(1)]))])
            for expected in [[0x61, 0x62], [], Array(bytes.prefix(512)), [], [1]] as [[UInt8]] {
                let update = try await central.nextUpdate(of: Stage.Handle.notify)
                #expect(update == ReceivedUpdate(kind: .notification, value: expected))
            }
        }
    }

    @Test func eachIndicationIsConfirmed() async throws {
        try await Stage.run { stage, central in
            try await central.subscribe(Stage.Handle.both, to: .indication)
            for number: UInt8 in 0..<3 { try await emit(stage, "/app/s/both", [("Value", .bytes([number]))]) }
            for number: UInt8 in 0..<3 {
                let update = try await central.nextUpdate(of: Stage.Handle.both)
                #expect(update == ReceivedUpdate(kind: .indication, value: [number]))
            }
            let confirmation = "Confirm /app/s/both() NO_REPLY_EXPECTED"
            let calls = await stage.application.calls.take(4)
            #expect(
                calls == [
                    "StartNotify /app/s/both() NO_REPLY_EXPECTED", confirmation, confirmation, confirmation,
                ]
            )
        }
    }

    @Test func everySubscriberGetsWhatFits() async throws {
        try await Stage.run(.init(adapters: [EmulatedAdapter(kind: .legacy)])) { stage, first in
            let second = stage.makeCentral()
            try await second.connect(mtu: 100)
            for central in [first, second] {
                try await central.subscribe(Stage.Handle.notify, to: .notification)
            }
            try await emit(
                stage,
                "/app/s/notify",
                [("Value", .bytes([UInt8](repeating: 1, count: 300)))]
            )
            #expect(try await first.nextUpdate(of: Stage.Handle.notify).value.count == 300)
            #expect(try await second.nextUpdate(of: Stage.Handle.notify).value.count == 97)
            try await first.unsubscribe(Stage.Handle.notify)
            second.disconnect()
            let (start, stop) = ("StartNotify", "StopNotify")
            #expect(
                await stage.application.calls.take(3)
                    == [start, start, stop].map { "\($0) /app/s/notify() NO_REPLY_EXPECTED" }
            )
        }
    }

    @Test func disconnectionEndsSubscriptionsInTheOrderOfTheHandles() async throws {
        try await Stage.run { stage, central in
            for handle in [Stage.Handle.both, Stage.Handle.notify] {
                try await central.subscribe(handle, to: .notification)
            }
            _ = await stage.application.calls.take(2)
            central.disconnect()
            #expect(
                await stage.application.calls.take(2)
                    == ["notify", "both"].map { "StopNotify /app/s/\($0)() NO_REPLY_EXPECTED" }
            )
            try await central.connect(mtu: 23)
            let value = try await central.read(Stage.configuration(of: Stage.Handle.notify), offset: 0)
            #expect(value == [0, 0])
        }
    }

    @Test func unregisteringIsIndicatedAndCallsNothing() async throws {
        try await Stage.run { stage, central in
            let serviceChanged: AttributeHandle = 0x000A
            try await central.subscribe(serviceChanged, to: .indication)
            try await central.subscribe(Stage.Handle.notify, to: .notification)
            _ = await stage.application.calls.take(1)
            #expect(await stage.application.unregister() == "ok")
            let removal = try await central.nextUpdate(of: serviceChanged)
            #expect(removal.value.hexadecimal == "15003300")
            #expect(await stage.application.register() == "ok")
            let addition = try await central.nextUpdate(of: serviceChanged)
            #expect(addition.value.hexadecimal == "34005200")
            #expect(stage.application.calls.take() == ["GetManagedObjects /app()"])
        }
    }
}
