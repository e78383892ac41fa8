import PeripheralKit
import Synchronization
import TestSupport
import Testing

@testable import PeripheralTesting

/// Centrals come, subscribe, unsubscribe, leave and stop confirming, and the link stops, while several tasks update, wait
/// for room, and send documents: all by the public API, in the backend in memory.
@Suite(.timeLimit(.minutes(1)))
struct ConcurrentUpdatesTests {
    /// Whatever happens, each gets what is for it, once, in its order and whole, and nobody waits for ever.
    @Test(arguments: 0..<100 as Range<UInt64>)
    func whateverHappensNothingIsLostOrMixed(seed: UInt64) async throws {
        let trial = ConcurrentTrial(seed: seed)
        let backend = GatedBackend(base: InMemoryBackend())
        try await trial.peripheral.run(on: backend, logger: .silent) { session in
            let centrals = (0..<3 as Range<UInt8>).map { number in
                TrialCentral(number, of: trial, at: backend.base.makeCentral(of: trial.peripheral))
            }
            let known = centrals.map(\.known)
            let senders = (0..<2 as Range<UInt8>).map { TrialSender($0, of: trial, session, to: known) }
            try await withThrowingTaskGroup { group in
                for sender in senders { group.addTask { try await sender.sendAnything() } }
                group.addTask {
                    var random = SeededGenerator(seed: ~seed)
                    for _ in 0..<20 {
                        if Bool.random(using: &random) { backend.gate.close() } else { backend.gate.open() }
                        for _ in 0..<Int.random(in: 0..<20, using: &random) { await Task.yield() }
                    }
                    backend.gate.open()
                }
                for central in centrals { group.addTask { try await central.doAnything() } }
                try await group.waitForAll()
            }
            for sender in senders { try await sender.sendLast() }
            for central in centrals { central.finish() }
            for central in centrals { central.check() }
        }
        #expect(trial.documents.withLock(\.count) > 0, "seed \(seed)")
    }
}

/// What happens in a trial, and what was sent.
private final class ConcurrentTrial: Sendable {
    struct Document {
        var bytes: [UInt8]
        /// By their numbers; `nil` for whoever is there.
        var recipients: [UInt8]?
        /// Whether it was sent when everybody was there.
        var isLast: Bool
        /// Whether everybody whom it is for is known to have all.
        var hasArrived = false
    }

    struct Stream: Hashable {
        var sender: UInt8
        /// The number of a central, or ``all``.
        var recipient: UInt8
    }

    static let all: UInt8 = 0xFF
    static let marker = Array("EOM".utf8)
    let seed: UInt64
    let value = Characteristic<[UInt8]>(0x2A3D, .notify, updates: .reject(beyond: 3))
    let text = Characteristic<[UInt8]>(0x2A3E, .notify)
    let proof = Characteristic<[UInt8]>(0x2A3F, .indicate)
    let documents = Mutex<[UInt8: Document]>([:])
    /// The numbers that `update` has taken.
    let accepted = Mutex<[Stream: [UInt8]]>([:])
    /// The numbers that `notify` has sent to one.
    let notified = Mutex<[Stream: [UInt8]]>([:])

    init(seed: UInt64) {
        self.seed = seed
    }

    var peripheral: Peripheral {
        Peripheral("Trial") {
            GATTService(0x180F) {
                value; text; proof
            }
        }
    }

    func makeDocument(
        for recipients: [UInt8]?,
        count: Int,
        isLast: Bool
    ) -> (number: UInt8, bytes: [UInt8]) {
        documents.withLock { documents in
            let number = UInt8(documents.count)
            let bytes = [number] + (1..<max(count, 1)).map { UInt8(truncatingIfNeeded: $0 ^ Int(number)) }
            documents[number] = Document(bytes: bytes, recipients: recipients, isLast: isLast)
            return (number, bytes)
        }
    }
}

/// What the program does in one task.
private final class TrialSender: Sendable {
    private enum Way: UInt8 { case update, notify }

    let number: UInt8
    let trial: ConcurrentTrial
    let session: PeripheralSession
    let centrals: [Central]
    private let nextNumber = Mutex<UInt8>(0)

    init(
        _ number: UInt8,
        of trial: ConcurrentTrial,
        _ session: PeripheralSession,
        to centrals: [Central]
    ) {
        (self.number, self.trial, self.session, self.centrals) = (number, trial, session, centrals)
    }

    func sendAnything() async throws {
        var random = SeededGenerator(seed: trial.seed &* 31 &+ UInt64(number))
        for _ in 0..<16 {
            let recipient = UInt8.random(in: 0..<3, using: &random)
            let kind: UpdateKind = .random(using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0, 1: try await update(ConcurrentTrial.all)
            case 2, 3: try await update(recipient)
            case 4: try await notify(ConcurrentTrial.all)
            case 5: try await notify(recipient)
            case 6: try await send(to: nil, count: .random(in: 1..<90, using: &random), by: kind)
            case 7:
                let others = (0..<3).filter { $0 != recipient }.map { UInt8($0) }
                try await send(to: others, count: .random(in: 1..<90, using: &random), by: kind)
            case 8:
                async let one: Void = send(to: [recipient], count: 70, by: kind)
                async let other: Void = send(to: nil, count: 50, by: kind)
                _ = try await (one, other)
            default:
                let sending = Task { [self] in try await send(to: [recipient], count: 85, by: kind) }
                for _ in 0..<Int.random(in: 0..<8, using: &random) { await Task.yield() }
                sending.cancel()
                await #expect(throws: Never.self) { try await sending.value }
            }
        }
    }

    /// What everybody gets.
    func sendLast() async throws {
        for _ in 0..<5 { try await update(ConcurrentTrial.all) }
        for kind in [UpdateKind.notification, .indication] {
            try await send(to: nil, count: 60, by: kind, isLast: true)
        }
    }

    private func update(_ recipient: UInt8) async throws {
        let bytes = makeValue(.update, recipient)
        try await allowingAbsence {
            if recipient == ConcurrentTrial.all {
                while try !session.update(trial.value, bytes) { try await session.readyToUpdate(trial.value) }
            } else {
                let central = centrals[Int(recipient)]
                while try !session.update(trial.value, bytes, to: central) {
                    try await session.readyToUpdate(trial.value, to: central)
                }
            }
            let stream = ConcurrentTrial.Stream(sender: number, recipient: recipient)
            trial.accepted.withLock { $0[stream, default: []].append(bytes[3]) }
        }
    }

    private func notify(_ recipient: UInt8) async throws {
        let bytes = makeValue(.notify, recipient)
        try await allowingAbsence {
            guard recipient != ConcurrentTrial.all else { return try await session.notify(trial.value, bytes) }
            try await session.notify(trial.value, bytes, to: centrals[Int(recipient)])
            let stream = ConcurrentTrial.Stream(sender: number, recipient: recipient)
            trial.notified.withLock { $0[stream, default: []].append(bytes[3]) }
        }
    }

    private func send(
        to recipients: [UInt8]?,
        count: Int,
        by kind: UpdateKind,
        isLast: Bool = false
    ) async throws {
        let document = trial.makeDocument(for: recipients, count: count, isLast: isLast)
        let characteristic = kind == .notification ? trial.text : trial.proof
        try await allowingAbsence {
            if let recipients {
                let meant = recipients.map { centrals[Int($0)] }
                try await session.send(document.bytes, over: characteristic, to: meant, by: kind)
            } else {
                try await session.send(document.bytes, over: characteristic, by: kind)
            }
            trial.documents.withLock { $0[document.number]?.hasArrived = true }
        }
    }

    private func makeValue(_ way: Way, _ recipient: UInt8) -> [UInt8] {
        let next = nextNumber.withLock { next in
            next += 1
            return next
        }
        return [way.rawValue, number, recipient, next]
    }

    /// Does something that fails when a central is not there, or the call is cancelled.
    private func allowingAbsence(_ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch is CancellationError {
        } catch let error as PeripheralError where [.notSubscribed, .disconnected].contains(error.code) {
        }
    }
}

/// A central, and what has come to it.
private final class TrialCentral: Sendable {
    let number: UInt8
    let trial: ConcurrentTrial
    let virtual: VirtualCentral
    /// What has come in each subscription to a characteristic.
    private let received = Mutex<[BluetoothUUID: [[[UInt8]]]]>([:])
    private let subscribed = Mutex<Set<BluetoothUUID>>([])
    private let handles = Mutex<[BluetoothUUID: AttributeHandle]>([:])

    init(_ number: UInt8, of trial: ConcurrentTrial, at virtual: VirtualCentral) {
        (self.number, self.trial, self.virtual) = (number, trial, virtual)
    }

    var known: Central { Central(address: virtual.address) }

    private var characteristics: [Characteristic<[UInt8]>] { [trial.value, trial.text, trial.proof] }

    func doAnything() async throws {
        var random = SeededGenerator(seed: trial.seed &* 37 &+ UInt64(number))
        try await virtual.connect(mtu: 65)
        for characteristic in characteristics {
            let handle = try await virtual.locate(characteristic).valueHandle
            handles.withLock { $0[characteristic.uuid] = handle }
            try await subscribe(to: characteristic)
        }
        for _ in 0..<14 {
            let characteristic = try #require(characteristics.randomElement(using: &random))
            switch Int.random(in: 0..<10, using: &random) {
            case 0: try await leave()
            case 1...4: try await turn(characteristic)
            case 5: virtual.confirmsIndications = false
            case 6: virtual.confirmsIndications = true
            default: for _ in 0..<Int.random(in: 0..<20, using: &random) { await Task.yield() }
            }
        }
        virtual.confirmsIndications = true
        for characteristic in characteristics { try await subscribe(to: characteristic) }
    }

    private func leave() async throws {
        virtual.disconnect()
        takeArrivals()
        subscribed.withLock { $0 = [] }
        try await virtual.connect(mtu: 65)
    }

    private func turn(_ characteristic: Characteristic<[UInt8]>) async throws {
        guard subscribed.withLock({ $0.remove(characteristic.uuid) }) != nil else {
            return try await subscribe(to: characteristic)
        }
        try await virtual.unsubscribe(from: characteristic)
        takeArrivals()
    }

    private func subscribe(to characteristic: Characteristic<[UInt8]>) async throws {
        guard subscribed.withLock({ $0.insert(characteristic.uuid).inserted }) else { return }
        received.withLock { $0[characteristic.uuid, default: []].append([]) }
        try await virtual.subscribe(to: characteristic)
    }

    /// Takes what has come, also in a connection that has ended.
    private func takeArrivals() {
        let inbox = virtual.state.withLock(\.inbox)
        for (characteristic, handle) in handles.withLock(\.self) {
            while let value = inbox.take(of: handle)?.update.value {
                received.withLock { received in
                    let last = (received[characteristic]?.count ?? 0) - 1
                    received[characteristic]?[last].append(value)
                }
            }
        }
    }

    func finish() {
        takeArrivals()
    }

    // MARK: What was promised

    func check() {
        checkValues(received.withLock { $0[trial.value.uuid] ?? [] })
        let whole = checkDocuments(trial.text).union(checkDocuments(trial.proof))
        for (id, document) in trial.documents.withLock(\.self) where document.hasArrived {
            let isForThis = document.recipients?.contains(number) ?? document.isLast
            #expect(!isForThis || whole.contains(id), "seed \(trial.seed), central \(number), document \(id)")
        }
    }

    private func checkValues(_ subscriptions: [[[UInt8]]]) {
        let all = subscriptions.joined()
        #expect(all.allSatisfy { [number, ConcurrentTrial.all].contains($0[2]) }, "seed \(trial.seed)")
        for (stream, accepted) in trial.accepted.withLock(\.self) {
            for (index, values) in subscriptions.enumerated() {
                let numbers = values.filter { $0[0] == 0 && $0[1] == stream.sender && $0[2] == stream.recipient }
                    .map { $0[3] }
                let first = accepted.firstIndex { $0 == numbers.first } ?? 0
                let isLast = index == subscriptions.count - 1 && stream.recipient == ConcurrentTrial.all
                // None is missing between the first and the last.
                let expected = isLast ? accepted[first...] : accepted[first...].prefix(numbers.count)
                #expect(numbers == Array(expected), "seed \(trial.seed), central \(number)")
            }
        }
        for (stream, numbers) in trial.notified.withLock(\.self) where stream.recipient == number {
            let arrived = all.filter { $0[0] == 1 && $0[1] == stream.sender && $0[2] == number }.map { $0[3] }
            #expect(arrived == numbers, "seed \(trial.seed), central \(number)")
        }
    }

    /// The documents that have come whole.
    private func checkDocuments(_ characteristic: Characteristic<[UInt8]>) -> Set<UInt8> {
        let documents = trial.documents.withLock(\.self)
        var whole: Set<UInt8> = []
        let subscriptions = received.withLock { $0[characteristic.uuid] ?? [] }
        for values in subscriptions {
            for part in values.split(separator: ConcurrentTrial.marker) {
                let bytes = Array(part.joined())
                guard let document = documents[bytes[0]] else {
                    Issue.record("seed \(trial.seed): nobody has sent \(bytes)")
                    continue
                }
                #expect(bytes == Array(document.bytes.prefix(bytes.count)), "seed \(trial.seed)")
                #expect(document.recipients?.contains(number) ?? true, "seed \(trial.seed)")
                if bytes == document.bytes { whole.insert(bytes[0]) }
            }
        }
        #expect(subscriptions.last?.last == ConcurrentTrial.marker, "seed \(trial.seed)")
        return whole
    }
}

extension UpdateKind {
    fileprivate static func random(using random: inout SeededGenerator) -> UpdateKind {
        Bool.random(using: &random) ? .notification : .indication
    }
}
