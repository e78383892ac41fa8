import Glibc
import PeripheralCore
import PeripheralKit
import Synchronization
import TestSupport
import Testing

/// What takes long, and is alone in its process: `make soak`.
@Suite(.serialized, .enabled(if: getenv("PERIPHERAL_SOAK") != nil), .timeLimit(.minutes(10)))
struct TransferSoakTests {
    /// Every byte, in order, at each, whatever its speed; and no more memory than before.
    @Test func tenMegabytesReachFourCentralsOfDifferentSpeeds() async throws {
        let value = Characteristic<[UInt8]>(0x2A3D, .notify)
        let peripheral = Peripheral("Bulk") { GATTService(.battery) { value } }
        let centrals = (1...4).map { Central(address: .numbered($0)) }
        let document = (0..<10_000_000).map { UInt8(truncatingIfNeeded: $0 ^ ($0 >> 8) &* 0x5D ^ ($0 >> 16)) }
        let link = UnevenLink(to: centrals.map(\.id), expecting: document)
        let backend = ScriptedBackend { publication, host in
            let handle = publication.table.valueHandle(service: 0, characteristic: 0)
            for central in centrals {
                host.handle(.connected(central))
                host.handle(.subscribed(BackendSubscription(characteristic: handle, central: central)))
            }
            host.handle(.published(PublishedPeripheral(link: link)))
            await link.carry(for: host)
        }
        try await peripheral.run(on: backend, logger: .silent) { session in
            try await session.send([1], over: value, endMarker: "xx")
            let before = Usage.now
            try await session.send(document, over: value)
            let after = Usage.now
            print("before: \(before), after: \(after), most queued: \(link.mostQueued)")
            #expect(after.kilobytes - before.kilobytes < 2000)
            #expect(link.mostQueued <= 4 * 18)
        }
        #expect(link.received == Array(repeating: document.count, count: 4))
    }
}

/// A link that carries more for one central than for the next, and compares what it carries.
private final class UnevenLink: BackendLink {
    private struct State {
        var queues: [Central.ID: [BackendUpdate]] = [:]
        var received: [Central.ID: Int] = [:]
        var ended: [Central.ID: Int] = [:]
        var mostQueued = 0
        var isStopped = false
    }

    private let centrals: [Central.ID]
    private let document: [UInt8]
    private let state = Mutex(State())

    init(to centrals: [Central.ID], expecting document: [UInt8]) {
        self.centrals = centrals
        self.document = document
    }

    var mostQueued: Int { state.withLock(\.mostQueued) }

    /// How much of the document each has got, of which each byte was right.
    var received: [Int] { state.withLock { state in centrals.map { state.received[$0] ?? 0 } } }

    func submit(_ update: BackendUpdate) {
        guard case .central(let central) = update.recipients else { return }
        state.withLock { state in
            state.queues[central, default: []].append(update)
            state.mostQueued = max(state.mostQueued, state.queues.values.reduce(0) { $0 + $1.count })
        }
    }

    func carry(for host: any PeripheralHost) async {
        while !state.withLock(\.isStopped) {
            for (number, central) in centrals.enumerated() {
                let updates = state.withLock { state in take(number + 1, for: central, &state) }
                for update in updates { host.handle(.updateEnded(update.id, .completed)) }
            }
            await Task.yield()
        }
    }

    private func take(_ count: Int, for central: Central.ID, _ state: inout State) -> [BackendUpdate] {
        let updates = Array(state.queues[central]?.prefix(count) ?? [])
        state.queues[central]?.removeFirst(updates.count)
        for update in updates where ![[1], Array("xx".utf8), Array("EOM".utf8)].contains(update.value) {
            let offset = state.received[central] ?? 0
            let expected = document.dropFirst(offset).prefix(update.value.count)
            guard expected.elementsEqual(update.value) else { continue }
            state.received[central] = offset + update.value.count
        }
        return updates
    }

    func giveUp(_ update: BackendUpdate.ID) {}
    func disconnect(_ central: Central.ID) async throws {}
    func bondedCentrals() async throws -> [Central] { [] }
    func forget(_ central: Central.ID) async throws {}
    func advertise(_ advertisements: [Advertisement], restarting restarted: Set<Int>) async throws {}
    func stop() { state.withLock { $0.isStopped = true } }
}
