import PeripheralCore
import PeripheralKit
import Synchronization
import TestSupport
import Testing

/// What a session demands of the backend.
@Suite(.timeLimit(.minutes(1)))
struct SessionAdvertisingTests {
    private static let beacon = Advertisement(.broadcast, localName: "", services: [])

    private static func makePeripheral(_ advertisements: [Advertisement] = []) -> Peripheral {
        Peripheral("Lamp") {
            GATTService(.battery) { Characteristic<UInt8>(0x2A19, value: 1) }
            for advertisement in advertisements { advertisement }
        }
    }

    /// Runs the body on a link that records what is demanded.
    private static func run(
        _ peripheral: Peripheral = makePeripheral(),
        _ body: @escaping @Sendable (PeripheralSession, RecordingLink) async throws -> Void
    ) async throws {
        let link = RecordingLink()
        let backend = ScriptedBackend { _, host in
            host.handle(.published(PublishedPeripheral(link: link)))
            await link.untilStopped()
        }
        try await peripheral.run(on: backend, logger: .silent) { session in try await body(session, link) }
    }

    @Test func whatIsLeftOpenIsFilledIn() async throws {
        try await Self.run { session, link in
            #expect(session.advertisements == [Advertisement()])
            try await session.advertise(Advertisement(manufacturerData: [1: [2]]), Self.beacon)
            let demand = try #require(link.demands.withLock(\.self).first)
            #expect(demand.advertisements.map(\.localName) == ["Lamp", ""])
            #expect(demand.advertisements.map(\.services) == [[.battery], []])
            #expect(demand.advertisements[0].manufacturerData == [1: [2]])
            #expect(demand.restarted == [0, 1])
            #expect(session.advertisements == [Advertisement(manufacturerData: [1: [2]]), Self.beacon])
        }
    }

    @Test func oneIsChangedAndTheOthersStay() async throws {
        try await Self.run(Self.makePeripheral([Advertisement(), Self.beacon])) { session, link in
            try await session.changeAdvertisement(at: 1) { $0.manufacturerData[1] = [2] }
            let demand = try #require(link.demands.withLock(\.self).last)
            #expect(demand.advertisements.map(\.manufacturerData) == [[:], [1: [2]]])
            #expect(demand.restarted == [1])
        }
    }

    @Test func nothingIsAdvertisedAfterTheStopUntilItBegins() async throws {
        let declared = [Advertisement(localName: "A"), Self.beacon]
        try await Self.run(Self.makePeripheral(declared)) { session, link in
            try await session.stopAdvertising()
            #expect(session.advertisements.isEmpty)
            #expect(link.demands.withLock(\.self).last?.advertisements.isEmpty == true)
            let error = await #expect(throws: PeripheralError.self) {
                try await session.changeAdvertisement { $0.appearance = 1 }
            }
            #expect(error?.code == .notDeclared)
            try await session.advertise()
            #expect(session.advertisements == declared)
            #expect(link.demands.withLock(\.self).last?.advertisements.count == 2)
        }
    }

    @Test func whatCannotBeIsRefusedBeforeAnythingIsDemanded() async throws {
        try await Self.run { session, link in
            let invalid: [Advertisement] = [
                Advertisement(services: [.battery, .battery]), Advertisement(timeout: .milliseconds(1)),
                Advertisement(rawData: [0xFF: [1]]), Advertisement(services: ["18OF"]),
                Advertisement(manufacturerData: [1: [UInt8](repeating: 0, count: 300)]),
            ]
            for advertisement in invalid {
                await #expect(throws: DeclarationError.self) { try await session.advertise(advertisement) }
            }
            #expect(link.demands.withLock(\.self).isEmpty)
            #expect(session.advertisements == [Advertisement()])
        }
    }

    @Test func whatTheStackRefusesChangesNothing() async throws {
        try await Self.run { session, link in
            link.refusal.withLock { $0 = PeripheralError(code: .rejected, message: "No room.") }
            let error = await #expect(throws: PeripheralError.self) {
                try await session.advertise(Self.beacon)
            }
            #expect(error?.code == .rejected)
            #expect(session.advertisements == [Advertisement()])
        }
    }

    @Test func changesOfSeveralTasksDoNotUndoEachOther() async throws {
        try await Self.run(Self.makePeripheral([Advertisement(services: [])])) { session, link in
            try await withThrowingTaskGroup { group in
                for number in 1...12 as ClosedRange<UInt16> {
                    group.addTask {
                        try await session.changeAdvertisement {
                            $0.solicitedServices.append(BluetoothUUID(number))
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(Set(session.advertisements[0].solicitedServices).count == 12)
            #expect(link.demands.withLock(\.self).last?.advertisements[0].solicitedServices.count == 12)
        }
    }

    @Test func theEndOfAnAdvertisementNamesWhatWasDemanded() async throws {
        let link = RecordingLink()
        let backend = ScriptedBackend { _, host in
            host.handle(.published(PublishedPeripheral(link: link)))
            try await until { !link.demands.withLock(\.self).isEmpty }
            host.handle(.advertisementEnded(0))
            host.handle(.advertisementEnded(7))
            await link.untilStopped()
        }
        try await Self.makePeripheral().run(on: backend, logger: .silent) { session in
            var events = session.events.makeAsyncIterator()
            try await session.advertise(Advertisement(localName: "New", timeout: .seconds(1)))
            guard case .advertisementEnded(let ended) = try await events.next() else {
                Issue.record("another event")
                return
            }
            #expect(ended.localName == "New")
        }
    }

    @Test func afterTheEndNothingCanBeDemanded() async throws {
        let peripheral = Self.makePeripheral()
        let link = RecordingLink()
        let backend = ScriptedBackend { _, host in
            host.handle(.published(PublishedPeripheral(link: link)))
            await link.untilStopped()
        }
        let session = try await peripheral.run(on: backend, logger: .silent) { $0 }
        let error = await #expect(throws: PeripheralError.self) { try await session.stopAdvertising() }
        #expect(error?.code == .stopped)
    }
}
