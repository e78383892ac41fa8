import PeripheralCore
import TestSupport
import Testing

@testable import PeripheralKit

extension TransmitQueuesTests {
    /// No value is lost, repeated, late or sent to another central.
    ///
    /// No call waits without a result. Each of the 500 seeds gives another sequence of events.
    @Test(arguments: 0..<500 as Range<UInt64>)
    func whateverHappensValuesKeepTheirOrderAndNobodyWaitsInVain(seed: UInt64) throws {
        var model = QueueModel(seed: seed)
        for _ in 0..<200 { try model.step() }
        try model.finish()
    }
}

/// Queues, and what may and has to come out of them.
private struct QueueModel {
    private struct Stream: Hashable {
        var characteristic: AttributeHandle
        var central: Central.ID
    }

    /// What becomes of a number.
    private struct Value {
        var recipients: BackendUpdate.Recipients
        var characteristic: AttributeHandle
        var isWaitedFor: Bool
        var isIndication = false

        /// Values of the same kind keep their order.
        var kind: Int { isIndication ? 2 : isWaitedFor ? 1 : 0 }
    }

    private static let policies: [AttributeHandle: UpdatePolicy] = [
        3: .reject(beyond: 3, bytes: 900), 6: .latest, 9: .reject(beyond: 1),
    ]
    private static let window = 4
    private let centrals = (0..<3).map { Central.ID(address: .numbered($0)) }

    private var random: SeededGenerator
    private var queues = TransmitQueues(policies: Self.policies, window: Self.window)
    private var subscribers: Set<Stream> = []
    private var values: [UInt32: Value] = [:]
    /// What was accepted at once for a subscriber, and not submitted yet.
    private var expected: [Stream: [UInt32]] = [:]
    /// The last that was submitted to a subscriber, of each kind of values.
    private var last: [Stream: [Int: UInt32]] = [:]
    private var underWay: [(update: BackendUpdate, subscribers: [Central.ID])] = []
    private var waiting:
        [TransmitQueues.Ticket: (
            recipients: BackendUpdate.Recipients, handle: AttributeHandle, number: UInt32?
        )] =
            [:]
    private var nextNumber: UInt32 = 0
    /// How many have left, and how many were dropped at least.
    private var (sent, dropped): ([AttributeHandle: Int], [AttributeHandle: Int]) = ([:], [:])
    private var nextTicket: TransmitQueues.Ticket = 0

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
    }

    mutating func step() throws {
        let handle = Self.policies.keys.sorted().randomElement(using: &random) ?? 3
        let central = centrals.randomElement(using: &random) ?? centrals[0]
        let stream = Stream(characteristic: handle, central: central)
        let recipients: BackendUpdate.Recipients = .random(using: &random) ? .subscribers : .central(central)
        switch UInt8.random(in: 0..<22, using: &random) {
        case 0..<3: subscribe(stream)
        case 3: unsubscribe(stream)
        case 4: disconnect(central)
        case 5..<9: offer(handle, to: recipients)
        case 9..<12: wait(for: handle, to: recipients)
        case 12: cancel()
        case 20, 21: indicate(handle, to: recipients)
        case 13 where Bool.random(using: &random): suspend()
        default: end()
        }
        try take()
    }

    /// When all has left that is under way, nothing waits any more.
    mutating func finish() throws {
        while !underWay.isEmpty {
            end()
            try take()
        }
        #expect(waiting.isEmpty)
        // Of the newest, one that was waited for may have taken the place of the last.
        for (stream, numbers) in expected where Self.policies[stream.characteristic] != .latest {
            #expect(numbers.isEmpty)
        }
    }

    // MARK: What happens

    private mutating func subscribe(_ stream: Stream) {
        let isAddressable = UInt8.random(in: 0..<4, using: &random) > 0
        if subscribers.contains(stream), Bool.random(using: &random) {
            queues.changed(stream.central, of: stream.characteristic, isAddressable: isAddressable)
        } else {
            forget(stream)
            subscribers.insert(stream)
            queues.subscribed(stream.central, to: stream.characteristic, isAddressable: isAddressable)
        }
    }

    private mutating func unsubscribe(_ stream: Stream) {
        queues.unsubscribed(stream.central, from: stream.characteristic)
        forget(stream)
    }

    private mutating func disconnect(_ central: Central.ID) {
        queues.disconnected(central)
        for stream in subscribers where stream.central == central { forget(stream) }
        underWay.removeAll { $0.update.awaitsConfirmation && $0.update.recipients == .central(central) }
        for index in underWay.indices { underWay[index].subscribers.removeAll { $0 == central } }
    }

    private mutating func suspend() {
        queues.suspended()
        for stream in subscribers { forget(stream) }
        underWay = []
    }

    private mutating func forget(_ stream: Stream) {
        subscribers.remove(stream)
        (expected[stream], last[stream]) = (nil, nil)
    }

    private mutating func offer(_ handle: AttributeHandle, to recipients: BackendUpdate.Recipients) {
        let (number, bytes) = makeValue(of: handle, to: recipients, isWaitedFor: false)
        let streams = subscribers(of: handle, among: recipients)
        switch queues.offer(bytes, of: handle, to: UpdateRecipients(recipients)) {
        case .accepted: for stream in streams { expect(number, by: stream) }
        case .full: #expect(!streams.isEmpty)
        case .failed: #expect(recipients != .subscribers)
        }
    }

    private mutating func wait(for handle: AttributeHandle, to recipients: BackendUpdate.Recipients) {
        nextTicket += 1
        let value =
            Bool.random(using: &random) ? makeValue(of: handle, to: recipients, isWaitedFor: true) : nil
        waiting[nextTicket] = (recipients, handle, value?.number)
        queues.wait(nextTicket, for: handle, to: UpdateRecipients(recipients), with: value?.bytes)
    }

    private mutating func indicate(_ handle: AttributeHandle, to recipients: BackendUpdate.Recipients) {
        nextTicket += 1
        let value = makeValue(of: handle, to: recipients, isWaitedFor: true)
        values[value.number]?.isIndication = true
        waiting[nextTicket] = (recipients, handle, value.number)
        queues.indicate(nextTicket, value.bytes, of: handle, to: recipients, at: .zero)
    }

    private mutating func cancel() {
        guard let ticket = waiting.keys.sorted().randomElement(using: &random) else { return }
        if queues.cancel(ticket) { waiting[ticket] = nil }
    }

    private mutating func end() {
        guard let index = underWay.indices.randomElement(using: &random) else { return }
        let update = underWay.remove(at: index).update
        if Bool.random(using: &random) { queues.taken(update.id) }
        let hasFailed = UInt8.random(in: 0..<8, using: &random) == 0
        queues.ended(update.id, hasFailed ? .failure(.notSubscribed) : .success(()))
        if !hasFailed { sent[update.characteristic, default: 0] += 1 }
    }

    private mutating func makeValue(
        of characteristic: AttributeHandle,
        to recipients: BackendUpdate.Recipients,
        isWaitedFor: Bool
    ) -> (number: UInt32, bytes: [UInt8]) {
        nextNumber += 1
        values[nextNumber] = Value(
            recipients: recipients,
            characteristic: characteristic,
            isWaitedFor: isWaitedFor
        )
        let padding = [UInt8](repeating: 0, count: .random(in: 0...500, using: &random))
        return (nextNumber, nextNumber.gattBytes + padding)
    }

    // MARK: What comes of it

    private func subscribers(of handle: AttributeHandle, among recipients: BackendUpdate.Recipients)
        -> [Stream]
    {
        subscribers.filter { stream in
            guard stream.characteristic == handle else { return false }
            if case .central(let central) = recipients { return stream.central == central }
            return true
        }
    }

    private mutating func expect(_ number: UInt32, by stream: Stream) {
        expected[stream, default: []].append(number)
    }

    private mutating func take() throws {
        let outcome = queues.takeOutcome(at: .zero)
        for update in outcome.updates { try submitted(update) }
        for (ticket, _) in outcome.answers { #expect(waiting.removeValue(forKey: ticket) != nil) }
        for central in centrals {
            let all = underWay.filter { $0.subscribers.contains(central) }
            #expect(all.count(where: \.update.awaitsConfirmation) <= 1)
            let inFlight = all.filter { !$0.update.awaitsConfirmation }
            let forAll = inFlight.filter { $0.update.recipients == .subscribers }
            // Two places of each are its own, beside values for all.
            #expect(inFlight.count <= Self.window + Self.policies.count * SubscriberQueues.placesForAll + 2)
            #expect(inFlight.count - forAll.count <= Self.window)
        }
        for total in QueueReport.ofEachCharacteristic(in: queues) {
            let handle = total.characteristic
            #expect(total.counters.inFlight == underWay.count { $0.update.characteristic == handle })
            #expect(total.counters.sent == sent[handle, default: 0])
            #expect(total.counters.dropped >= dropped[handle, default: 0])
            dropped[handle] = total.counters.dropped
        }
        for waiter in waiting.values where waiter.number == nil {
            // An empty value may use another queue.
            let wouldFind = [0, 512].allSatisfy { size in
                var copy = queues
                let value = [UInt8](repeating: 0, count: size)
                return accepts(value, of: waiter.handle, to: UpdateRecipients(waiter.recipients), &copy)
            }
            #expect(!wouldFind, "somebody waits although there is room")
        }
    }

    private mutating func submitted(_ update: BackendUpdate) throws {
        let number = try UInt32(gattBytes: Array(update.value.prefix(4)))
        let value = try #require(values[number])
        let streams = subscribers(of: update.characteristic, among: update.recipients)
        #expect(value.characteristic == update.characteristic && !streams.isEmpty)
        if value.recipients != BackendUpdate.Recipients.subscribers {
            #expect(value.recipients == update.recipients)
        }
        for stream in streams {
            #expect(last[stream]?[value.kind] ?? 0 < number, "a value came late, or twice")
            last[stream, default: [:]][value.kind] = number
            guard let index = expected[stream]?.firstIndex(of: number) else {
                // A value for all subscribers together also reaches later subscribers.
                #expect(value.isWaitedFor || update.recipients == .subscribers, "nobody had this value sent")
                continue
            }
            if Self.policies[stream.characteristic] == .latest {
                // Those before it have made place for it.
                expected[stream]?.removeSubrange(...index)
            } else {
                #expect(index == 0, "a value is missing")
                expected[stream]?.remove(at: index)
            }
        }
        underWay.append((update, streams.map(\.central)))
    }
}
