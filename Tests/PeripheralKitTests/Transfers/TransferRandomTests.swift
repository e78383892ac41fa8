import PeripheralCore
import TestSupport
import Testing

@testable import PeripheralKit

/// Documents of both kinds, values and indications of one characteristic, in any order of what happens to
/// them.
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
}
