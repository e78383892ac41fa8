import Glibc
import PeripheralCore
import Synchronization
import TestSupport
import Testing

@testable import PeripheralKit

/// Documents, values and indications of one characteristic, in any order of what happens to them.
@Suite(.timeLimit(.minutes(1)))
struct TransferRandomTests {
    private static let characteristic: AttributeHandle = 3
    private static let marker: [UInt8] = [0xFF, 0xFF]
    private static let value: UInt8 = 250
    /// What is indicated, which waits for documents by indications alone.
    private static let indication: UInt8 = 251
    /// The bytes of documents by notifications are higher.
    private static let lowestNotified: UInt8 = 100

    /// What the sender does with its queues, and what its centrals receive.
    private struct Model {
        var queues = TransmitQueues(policies: [:], window: 3)
        /// What the stack has taken and not sent.
        var underWay: [BackendUpdate] = []
        /// What has come to each central since it has subscribed, one array for each time.
        var received: [Central.ID: [[[UInt8]]]] = [:]
        var subscribed: Set<Central.ID> = []
        var answered: Set<TransmitQueues.Ticket> = []

        mutating func take() {
            let outcome = queues.takeOutcome(at: .zero)
            answered.formUnion(outcome.answers.map(\.0))
            underWay += outcome.updates
        }

        mutating func indicate(_ ticket: TransmitQueues.Ticket, to central: Central.ID) {
            queues.indicate(ticket, [indication], of: characteristic, to: .central(central), at: .zero)
        }

        /// Ends an update, which comes to who has subscribed before it was submitted.
        mutating func end(at index: Int, _ result: Result<Void, PeripheralError> = .success(())) {
            let update = underWay.remove(at: index)
            if case (.central(let central), .success) = (update.recipients, result) {
                let last = (received[central]?.count ?? 0) - 1
                received[central]?[last].append(update.value)
            }
            queues.ended(update.id, result)
            take()
        }

        private mutating func failAll(to central: Central.ID, _ error: PeripheralError) {
            while let index = underWay.firstIndex(where: { $0.recipients == .central(central) }) {
                end(at: index, .failure(error))
            }
        }

        mutating func subscribe(_ central: Central.ID) {
            let earlier = underWay.filter { $0.recipients == .central(central) }.map(\.id)
            subscribed.insert(central)
            received[central, default: []].append([])
            queues.subscribed(central, to: characteristic, isAddressable: true)
            take()
            for id in earlier {
                guard let index = underWay.firstIndex(where: { $0.id == id }) else { continue }
                end(at: index, .failure(.notSubscribed))
            }
        }

        mutating func leave(_ central: Central.ID) {
            subscribed.remove(central)
            queues.disconnected(central)
            take()
            failAll(to: central, .disconnected)
        }
    }

    /// A central never gets a part of one document in another, nor anything in the middle of one, and all
    /// end.
    @Test(arguments: 0..<500 as Range<UInt64>)
    func documentsArriveOneAfterTheOther(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var model = Model()
        var begun: TransmitQueues.Ticket = 0
        var cancelled: Set<TransmitQueues.Ticket> = []
        let centrals = (1...2).map { Central.ID(address: .numbered($0)) }
        for central in centrals { model.subscribe(central) }
        for _ in 0..<150 {
            let central = try #require(centrals.randomElement(using: &random))
            switch Int.random(in: 0..<24, using: &random) {
            case 0: model.subscribe(central)
            case 1: model.leave(central)
            case 2:
                begun += 1
                model.indicate(begun, to: central)
            case 3: _ = model.queues.offer([Self.value], of: Self.characteristic, to: .central(central))
            case 4 where begun > 0:
                let ticket = TransmitQueues.Ticket.random(in: 1...begun, using: &random)
                if model.queues.cancel(ticket) { cancelled.insert(ticket) }
            case 5, 6:
                begun += 1
                let isConfirmed = Bool.random(using: &random)
                let byte = UInt8(begun) + (isConfirmed ? 0 : Self.lowestNotified)
                let document = Document(
                    bytes: Array(repeating: byte, count: Int.random(in: 0...60, using: &random)),
                    chunkSize: 10,
                    endMarker: Self.marker,
                    isConfirmed: isConfirmed
                )
                let recipients: [UpdateRecipients] = [.subscribers, .central(central), .centrals(centrals)]
                model.queues.begin(
                    begun,
                    document,
                    of: Self.characteristic,
                    to: try #require(recipients.randomElement(using: &random)),
                    isStanding: false
                )
            default:
                guard let index = model.underWay.indices.randomElement(using: &random) else { break }
                // Those to one central keep their order.
                let recipients = model.underWay[index].recipients
                model.end(at: model.underWay.firstIndex { $0.recipients == recipients } ?? index)
            }
            model.take()
        }
        while !model.underWay.isEmpty { model.end(at: 0) }
        #expect(model.queues.confirmedTurns.isEmpty)
        #expect(model.answered.union(cancelled).count == Int(begun))
        for stream in model.received.values.joined() {
            for part in stream.split(separator: Self.marker) {
                let bytes = part.joined()
                let isNotified = bytes.contains { (Self.lowestNotified..<Self.value).contains($0) }
                let document = bytes.filter { !isNotified || $0 != Self.indication }
                    .drop { $0 >= Self.value }
                #expect(Set(document).count <= 1, "seed \(seed): \(bytes.map(\.self))")
            }
        }
        for central in model.subscribed {
            let stream = model.received[central]?.last ?? []
            let rest = stream.split(separator: Self.marker, omittingEmptySubsequences: false).last ?? []
            #expect(rest.joined().allSatisfy { $0 >= Self.value }, "seed \(seed)")
        }
    }

    /// Each central that is subscribed at the end has received the whole document.
    ///
    /// No call waits without a result, whatever happens.
    @Test(arguments: 0..<500 as Range<UInt64>)
    func whoStaysGetsAll(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var queues = TransmitQueues(policies: [:], window: 3)
        var underWay: [BackendUpdate] = []
        var since: [Central.ID: [[UInt8]]] = [:]
        var answered: Set<TransmitQueues.Ticket> = []
        let centrals = (1...3).map { Central.ID(address: .numbered($0)) }
        let document = Document(bytes: Array(0..<100), chunkSize: 10, endMarker: Self.marker)

        func take() {
            let outcome = queues.takeOutcome(at: .zero)
            answered.formUnion(outcome.answers.map(\.0))
            for update in outcome.updates {
                for central in since.keys {
                    if case .central(let other) = update.recipients, other != central { continue }
                    since[central]?.append(update.value)
                }
            }
            underWay += outcome.updates
        }

        queues.begin(1, document, of: Self.characteristic, to: .subscribers, isStanding: true)
        for _ in 0..<100 {
            let central = centrals.randomElement(using: &random) ?? centrals[0]
            switch Int.random(in: 0..<12, using: &random) {
            case 0:
                let isAddressable = Int.random(in: 0..<3, using: &random) > 0
                since[central] = []
                queues.subscribed(central, to: Self.characteristic, isAddressable: isAddressable)
            case 1:
                since[central] = nil
                queues.unsubscribed(central, from: Self.characteristic)
            case 2:
                since[central] = nil
                queues.disconnected(central)
            default:
                guard let index = underWay.indices.randomElement(using: &random) else { break }
                queues.ended(underWay.remove(at: index).id, .success(()))
            }
            take()
        }
        queues.begin(2, document, of: Self.characteristic, to: .subscribers, isStanding: false)
        take()
        while !underWay.isEmpty {
            queues.ended(underWay.removeFirst().id, .success(()))
            take()
        }
        #expect(answered == [2])
        for (central, values) in since {
            let documents = values.split(separator: Self.marker).map { Array($0.joined()) }
            #expect(documents.last == document.bytes, "\(central)")
        }
    }
}

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
