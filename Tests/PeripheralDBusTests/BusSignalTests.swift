import BusTestSupport
import PeripheralDBus
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1)))
struct BusSignalTests {
    /// Returns once everything that the server sent before has reached the client.
    private func barrier(_ test: TestBus) async throws {
        _ = try await test.server.call(await test.client.uniqueName, "/", .peer, "Ping")
    }

    @Test func signalsArriveInOrderUntilTheSubscriptionEnds() async throws {
        try await TestBus.run { test in
            let received = Mutex<[UInt32]>([])
            let rule = MatchRule(sender: test.serverName, path: "/s", interface: "test.S", member: "Tick")
            let subscription = try await test.client.subscribe(to: rule) { signal in
                var arguments = signal.arguments
                let number = (try? arguments.readUInt32()) ?? .max
                received.withLock { $0.append(number) }
            }
            for number in 0..<100 as Range<UInt32> {
                try await test.server.emit("/s", "test.S", "Tick") { $0.append(number) }
                try await test.server.emit("/s", "test.S", "Tock") { $0.append(number) }
                try await test.server.emit("/t", "test.S", "Tick") { $0.append(number) }
            }
            try await barrier(test)
            #expect(received.withLock { $0 } == Array(0..<100))
            await test.client.unsubscribe(subscription)
            await test.client.unsubscribe(subscription)
            try await test.server.emit("/s", "test.S", "Tick") { $0.append(UInt32(100)) }
            try await barrier(test)
            #expect(received.withLock { $0.count } == 100)
        }
    }

    @Test(arguments: [
        (MatchRule(pathNamespace: "/a"), ["/a", "/a/b"]),
        (MatchRule(pathNamespace: "/"), ["/a", "/a/b", "/ab"]),
        (MatchRule(path: "/ab"), ["/ab"]),
        (MatchRule(member: "Named", firstArgument: "it's"), ["/a", "/a/b", "/ab"]),
        (MatchRule(member: "Named", firstArgument: "its"), []),
        (MatchRule(interface: "test.Other"), []),
    ])
    func rulesSelect(rule: MatchRule, paths: [String]) async throws {
        try await TestBus.run { test in
            let received = Mutex<[String]>([])
            var rule = rule
            rule.sender = test.serverName
            _ = try await test.client.subscribe(to: rule) { signal in
                let path = signal.path.string
                received.withLock { $0.append(path) }
            }
            for path in ["/a", "/a/b", "/ab"] as [ObjectPath] {
                try await test.server.emit(path, "test.S", "Named") { $0.append("it's") }
            }
            try await barrier(test)
            #expect(received.withLock { $0 } == paths)
        }
    }

    @Test func oneSignalMayServeSeveralSubscriptions() async throws {
        try await TestBus.run { test in
            let received = Mutex<[String]>([])
            for name in ["a", "b"] {
                _ = try await test.client.subscribe(to: MatchRule(interface: "test.S")) { _ in
                    received.withLock { $0.append(name) }
                }
            }
            try await test.server.emit("/s", "test.S", "Tick")
            try await barrier(test)
            #expect(received.withLock { $0.sorted() } == ["a", "b"])
        }
    }

    @Test func aWellKnownSenderMeansItsPresentOwner() async throws {
        try await TestBus.run { test in
            let received = Mutex<[String]>([])
            _ = try await test.client.subscribe(to: MatchRule(sender: "test.Name", interface: "test.S")) {
                signal in
                let sender = signal.sender.string
                received.withLock { $0.append(sender) }
            }
            // Another subscription lets the impostor's signals through to the client.
            _ = try await test.client.subscribe(to: MatchRule(interface: "test.S")) { _ in }
            try await test.server.emit("/s", "test.S", "Tick")
            try await barrier(test)
            #expect(received.withLock { $0 }.isEmpty)
            try await test.server.requestName("test.Name")
            try await test.server.emit("/s", "test.S", "Tick")
            try await barrier(test)
            #expect(received.withLock { $0 } == [test.serverName.text])
        }
    }

    @Test func ownersOfNamesAreFollowed() async throws {
        try await TestBus.run { test in
            let owners = Signal<BusName?>()
            let watch = try await test.client.watchName("test.Name") { owners.send($0) }
            #expect(await owners.next() == .some(nil))
            try await test.server.requestName("test.Name")
            #expect(await owners.next() == test.serverName)
            try await test.server.releaseOwnName("test.Name")
            #expect(await owners.next() == .some(nil))
            try await test.server.requestName("test.Name")
            #expect(await owners.next() == test.serverName)

            let late = Signal<BusName?>()
            _ = try await test.client.watchName("test.Name") { late.send($0) }
            #expect(await late.next() == test.serverName)
            await test.client.unwatch(watch)
            await test.server.close()
            #expect(await late.next() == .some(nil))
        }
    }

    @Test func aNameHasOneOwner() async throws {
        try await TestBus.run { test in
            try await test.server.requestName("test.Name")
            try await test.server.requestName("test.Name")
            await #expect(throws: BusError.invalidValue("the bus name test.Name belongs to another program"))
            {
                try await test.client.requestName("test.Name")
            }
        }
    }

    @Test func aChangedPropertyIsAnnounced() async throws {
        try await TestBus.run { test in
            let received = Signal<[BusValue]>()
            _ = try await test.client.subscribe(to: MatchRule(member: "PropertiesChanged")) { signal in
                var arguments = signal.arguments
                received.send((try? arguments.readValues()) ?? [])
            }
            try await test.server.emit("/c", .properties, .propertiesChanged) { writer in
                writer.appendChange(of: "Value", of: "org.bluez.GattCharacteristic1", to: [1, 2])
            }
            #expect(
                await received.next() == [
                    .string("org.bluez.GattCharacteristic1"), .properties(["Value": .bytes([1, 2])]),
                    .strings([]),
                ]
            )
            try await test.server.emitPropertiesChanged(
                "/c",
                "test.C",
                [("Count", .uint16(3))],
                invalidated: ["Other"]
            )
            #expect(
                await received.next() == [
                    .string("test.C"), .properties(["Count": .uint16(3)]), .strings(["Other"]),
                ]
            )
        }
    }

    @Test func aSignalMayHaveOneReceiver() async throws {
        try await TestBus.run { test in
            let received = Signal<String>()
            _ = try await test.client.subscribe(to: MatchRule(interface: "test.S")) {
                received.send($0.member.string)
            }
            try await test.server.emit("/s", "test.S", "Elsewhere", to: test.serverName)
            try await test.server.emit("/s", "test.S", "Here", to: await test.client.uniqueName)
            #expect(await received.next() == "Here")
        }
    }
}
