import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct NotifyTests {
    private let level = Characteristic<UInt8>(0x2A19, [.read, .notify]) { Read { 1 } }
    private let data = Characteristic<[UInt8]>(0x2A3D, .indicate)
    private let fixed = Characteristic<UInt8>(0x2A38, value: 1)

    private var peripheral: Peripheral {
        Peripheral("Notify") {
            GATTService(0x180F) {
                level; data; fixed
            }
        }
    }

    @Test func withoutSubscribersNothingIsSent() async throws {
        let link = RecordingLink()
        let backend = ScriptedBackend { _, host in
            host.handle(.published(PublishedPeripheral(link: link)))
            await link.untilStopped()
        }
        try await peripheral.run(on: backend, logger: .silent) { session in
            #expect(try session.subscribers(of: level).isEmpty)
            try await session.notify(level, 1)
        }
        #expect(link.sent == [])
    }

    /// A stack may not identify subscribers, and may report only when the last unsubscribes.
    @Test func subscribersNeedNoIdentity() async throws {
        let link = RecordingLink()
        let backend = ScriptedBackend { publication, host in
            let handle = publication.table.valueHandle(service: 0, characteristic: 0)
            link.deliver(for: host)
            let subscription = BackendSubscription(characteristic: handle, central: nil)
            host.handle(.subscribed(subscription))
            host.handle(.subscribed(subscription))
            host.handle(.published(PublishedPeripheral(link: link)))
            await link.untilStopped()
            #expect(link.sent.map(\.value) == [[7]])
            #expect(link.sent.map(\.recipients) == [.subscribers])
            #expect(link.sent.map(\.characteristic) == [handle])
            host.handle(.unsubscribed(handle, by: nil))
        }
        try await peripheral.run(on: backend, logger: .silent) { session in
            #expect(try !session.subscribers(of: level).isEmpty)
            #expect(session.subscriptions.map(\.central) == [nil])
            #expect(session.subscriptions.map(\.kind) == [.notification])
            try await session.notify(level, 7)
            let central = Central(address: try #require(DeviceAddress(rawValue: 1)))
            let error = await #expect(throws: PeripheralError.self) {
                try await session.notify(level, 8, to: central)
            }
            #expect(error?.code == .notAddressable)
        }
    }

    @Test func eachSubscriberIsNotified() async throws {
        try await peripheral.test { first, session in
            let second = first.makeAnother()
            try await second.connect()
            try await first.subscribe(to: level)
            try await session.notify(level, 1)
            try await second.subscribe(to: level)
            try await session.notify(level, 2)
            try await first.unsubscribe(from: level)
            #expect(try !session.subscribers(of: level).isEmpty)
            try await session.notify(level, 3)
            try await first.subscribe(to: level)
            try await session.notify(level, 4)

            for expected: UInt8 in [1, 2, 4] { #expect(try await first.nextUpdate(of: level) == expected) }
            for expected: UInt8 in [2, 3, 4] { #expect(try await second.nextUpdate(of: level) == expected) }
        }
    }

    @Test func whoDisconnectsHasNoSubscription() async throws {
        try await peripheral.test { central, session in
            try await central.subscribe(to: level)
            try await central.subscribe(to: data)
            #expect(try !session.subscribers(of: level).isEmpty)
            central.disconnect()
            #expect(try session.subscribers(of: level).isEmpty)
            #expect(try session.subscribers(of: data).isEmpty)
        }
    }

    @Test func onlyDeclaredCharacteristicsAreNotified() async throws {
        let foreign = Characteristic<UInt8>(0x2A19, .notify)
        try await peripheral.test { _, session in
            for characteristic in [foreign, fixed] {
                let error = await #expect(throws: PeripheralError.self) {
                    try await session.notify(characteristic, 1)
                }
                #expect(error?.code == .notDeclared)
            }
        }
    }

    @Test(arguments: [(512, true), (513, false)])
    func aValueHasAtMost512Bytes(length: Int, fits: Bool) async throws {
        try await peripheral.test { central, session in
            try await central.subscribe(to: data)
            let value = [UInt8](repeating: 1, count: length)
            guard !fits else {
                try await session.notify(data, value)
                #expect(try await central.nextUpdate(of: data) == value)
                return
            }
            let error = await #expect(throws: PeripheralError.self) {
                try await session.notify(data, value)
            }
            #expect(error?.code == .invalidValue)
            #expect(
                error?.message == "The value for characteristic \(data.uuid) has 513 bytes. "
                    + "An attribute holds at most 512 bytes. "
                    + "Shorten the value, or send it as a document with session.send."
            )
        }
    }
}
