import PeripheralKit
import Synchronization
import TestSupport
import Testing

@testable import PeripheralTesting

/// A central, and what has come to it.
final class ConcurrentCentral: Sendable {
    let number: UInt8
    let run: ConcurrentRun
    let virtual: VirtualCentral
    /// What has come in each subscription to a characteristic.
    private let received = Mutex<[BluetoothUUID: [[[UInt8]]]]>([:])
    private let subscribed = Mutex<Set<BluetoothUUID>>([])
    private let handles = Mutex<[BluetoothUUID: AttributeHandle]>([:])

    init(_ number: UInt8, of run: ConcurrentRun, at virtual: VirtualCentral) {
        (self.number, self.run, self.virtual) = (number, run, virtual)
    }

    var known: Central { Central(address: virtual.address) }

    private var characteristics: [Characteristic<[UInt8]>] { [run.value, run.text, run.proof] }

    func doAnything() async throws {
        var random = SeededGenerator(seed: run.seed &* 37 &+ UInt64(number))
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
        checkValues(received.withLock { $0[run.value.uuid] ?? [] })
        let whole = checkDocuments(run.text).union(checkDocuments(run.proof))
        for (id, document) in run.documents.withLock(\.self) where document.hasArrived {
            let isForThis = document.recipients?.contains(number) ?? document.isLast
            #expect(!isForThis || whole.contains(id), "seed \(run.seed), central \(number), document \(id)")
        }
    }

    private func checkValues(_ subscriptions: [[[UInt8]]]) {
        let all = subscriptions.joined()
        #expect(all.allSatisfy { [number, ConcurrentRun.all].contains($0[2]) }, "seed \(run.seed)")
        for (stream, accepted) in run.accepted.withLock(\.self) {
            for (index, values) in subscriptions.enumerated() {
                let numbers = values.filter {
                    $0[0] == 0 && $0[1] == stream.sender && $0[2] == stream.recipient
                }
                .map { $0[3] }
                let first = accepted.firstIndex { $0 == numbers.first } ?? 0
                let isLast = index == subscriptions.count - 1 && stream.recipient == ConcurrentRun.all
                // None is missing between the first and the last.
                let expected = isLast ? accepted[first...] : accepted[first...].prefix(numbers.count)
                #expect(numbers == Array(expected), "seed \(run.seed), central \(number)")
            }
        }
        for (stream, numbers) in run.notified.withLock(\.self) where stream.recipient == number {
            let arrived = all.filter { $0[0] == 1 && $0[1] == stream.sender && $0[2] == number }.map { $0[3] }
            #expect(arrived == numbers, "seed \(run.seed), central \(number)")
        }
    }

    /// The documents that have come whole.
    private func checkDocuments(_ characteristic: Characteristic<[UInt8]>) -> Set<UInt8> {
        let documents = run.documents.withLock(\.self)
        var whole: Set<UInt8> = []
        let subscriptions = received.withLock { $0[characteristic.uuid] ?? [] }
        for values in subscriptions {
            for part in values.split(separator: ConcurrentRun.marker) {
                let bytes = Array(part.joined())
                guard let document = documents[bytes[0]] else {
                    Issue.record("seed \(run.seed): nobody has sent \(bytes)")
                    continue
                }
                #expect(bytes == Array(document.bytes.prefix(bytes.count)), "seed \(run.seed)")
                #expect(document.recipients?.contains(number) ?? true, "seed \(run.seed)")
                if bytes == document.bytes { whole.insert(bytes[0]) }
            }
        }
        #expect(subscriptions.last?.last == ConcurrentRun.marker, "seed \(run.seed)")
        return whole
    }
}
