import PeripheralCore
import PeripheralKit
import PeripheralTesting
import Synchronization
import TestSupport
import Testing

/// What a kill leaves at any instant under traffic: a state that was true, with all that was acknowledged as
/// durable.
@Suite(.timeLimit(.minutes(3)))
final class CrashTests: Sendable {
    /// What the store holds at an instant, and what had been acknowledged by then.
    private struct Remains {
        var restorationState: RestorationState?
        var acknowledged: UInt32
        /// What had been begun by the time that the store was looked at.
        var begun: UInt32
    }

    private static let identifier = "killed"

    private let durable: Characteristic<UInt32>
    /// Says of each value that is written what it is.
    private let audit: Characteristic<UInt32>
    /// The program sets it to what was written, after that.
    private let follower = Characteristic<UInt32>(0x2A1D, [.read, .notify]) { PersistentValue(initially: 0) }
    private let store = InMemoryRestorationStore()
    private let acknowledged = Atomic<UInt32>(0)
    private let begun = Atomic<UInt32>(0)

    init() {
        let audit = Characteristic<UInt32>(0x2A1E, .notify, updates: .durable(beyond: 2))
        self.audit = audit
        durable = Characteristic(0x2A1C, [.read, .write, .notify], updates: .durable(beyond: 2)) {
            PersistentValue(initially: 0, writes: .durable) { number, _, _, updates in
                try updates.append(audit, number)
            }
        }
    }

    @Test(arguments: [1, 2, 3, 4, 5] as [UInt64])
    func anyInstantIsConsistent(seed: UInt64) async throws {
        let peripheral = Peripheral("Killed", restorationIdentifier: Self.identifier, pairing: .justWorks) {
            GATTService(.battery) {
                durable
                follower
                audit
            }
        }
        let backend = InMemoryBackend()
        let remains = try await peripheral.run(
            on: backend,
            restoringFrom: store,
            savingEvery: .zero,
            logger: .silent
        ) { [self] session in
            let central = backend.makeCentral(of: peripheral)
            try await central.connect()
            let subscriber = backend.makeCentral(of: peripheral)
            try await subscriber.connect()
            try await subscriber.pair(.justWorks)
            try await subscriber.subscribe(to: follower)
            // It is bonded, and away all the time.
            let absent = backend.makeCentral(of: peripheral)
            try await absent.connect()
            try await absent.pair(.justWorks)
            try await absent.subscribe(to: durable)
            try await absent.subscribe(to: audit)
            var events = session.events.makeAsyncIterator()
            absent.disconnect()
            while let event = try await events.next() { if case .disconnected = event { break } }
            try await session.preserve()
            let traffic = Task {
                for number in 1... as PartialRangeFrom<UInt32> {
                    guard !Task.isCancelled else { return }
                    begun.store(number, ordering: .sequentiallyConsistent)
                    try await central.write(durable, number)
                    acknowledged.store(number, ordering: .sequentiallyConsistent)
                    try await session.set(follower, to: number)
                    try await session.advertise(Advertisement(manufacturerData: [0xFFFF: number.gattBytes]))
                }
            }
            // It is bonded, and comes and goes in the middle of its updates.
            let whereabouts = Task {
                while !Task.isCancelled {
                    subscriber.disconnect()
                    await Task.yield()
                    try await subscriber.connect()
                    await Task.yield()
                }
            }
            var generator = SeededGenerator(seed: seed)
            var remains: [Remains] = []
            // With three numbers acknowledged at different instants, not all can have found the same.
            var numbers: Set<UInt32> = []
            while remains.count < 100 || numbers.count < 3 {
                for _ in 0..<Int.random(in: 0...40, using: &generator) { await Task.yield() }
                let sure = acknowledged.load(ordering: .sequentiallyConsistent)
                let restorationState = store[Self.identifier]
                let begun = begun.load(ordering: .sequentiallyConsistent)
                remains.append(Remains(restorationState: restorationState, acknowledged: sure, begun: begun))
                if restorationState != nil { numbers.insert(sure) }
            }
            traffic.cancel()
            // It may be cancelled in the middle of a write.
            _ = await traffic.result
            whereabouts.cancel()
            _ = await whereabouts.result
            return remains
        }
        var values: Set<UInt32> = []
        var databases: Set<PreservedDatabase> = []
        for found in remains {
            guard let restorationState = found.restorationState else {
                #expect(found.acknowledged == 0, "seed \(seed)")
                continue
            }
            let state = try PreservedState(decoding: restorationState)
            let (written, set) = try (number(of: 0x2A1C, in: state), number(of: 0x2A1D, in: state))
            for uuid in [durable.uuid, audit.uuid] {
                #expect(try lastUpdate(of: uuid, in: state) == written, "\(uuid), seed \(seed)")
            }
            values.insert(written)
            #expect(written >= found.acknowledged && written <= found.begun, "seed \(seed)")
            #expect(set == written || set + 1 == written, "\(set) after \(written), seed \(seed)")
            let advertised = try state.advertisements.first?.manufacturerData[0xFFFF].map(
                UInt32.init(gattBytes:)
            )
            #expect(
                advertised ?? 0 == set || (advertised ?? 0) + 1 == set,
                "\(advertised ?? 0) after \(set), seed \(seed)"
            )
            #expect(state.subscribers.map(\.isBonded) == [true, true, true], "seed \(seed)")
            databases.insert(state.database)
        }
        #expect(databases.count == 1, "handles have changed, seed \(seed)")
        #expect(values.count > 1, "the store was looked at once only, seed \(seed)")
    }

    /// What is kept for the one that is away: as much as was written.
    private func lastUpdate(of uuid: BluetoothUUID, in state: PreservedState) throws -> UInt32 {
        let attribute = try #require(state.database.table.attributes.first { $0.type == uuid })
        let update = state.updates.last { $0.characteristic == attribute.handle }
        return try update.map { try UInt32(gattBytes: $0.value) } ?? 0
    }

    private func number(of uuid: BluetoothUUID, in state: PreservedState) throws -> UInt32 {
        let attribute = try #require(state.database.table.attributes.first { $0.type == uuid })
        return try UInt32(gattBytes: try #require(state.values[attribute.handle]))
    }
}
