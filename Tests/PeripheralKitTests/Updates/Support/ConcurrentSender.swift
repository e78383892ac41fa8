import PeripheralKit
import Synchronization
import TestSupport
import Testing

/// What the program does in one task.
final class ConcurrentSender: Sendable {
    private enum Way: UInt8 { case update, notify }

    let number: UInt8
    let run: ConcurrentRun
    let session: PeripheralSession
    let centrals: [Central]
    private let nextNumber = Mutex<UInt8>(0)

    init(
        _ number: UInt8,
        of run: ConcurrentRun,
        _ session: PeripheralSession,
        to centrals: [Central]
    ) {
        (self.number, self.run, self.session, self.centrals) = (number, run, session, centrals)
    }

    func sendAnything() async throws {
        var random = SeededGenerator(seed: run.seed &* 31 &+ UInt64(number))
        for _ in 0..<16 {
            let recipient = UInt8.random(in: 0..<3, using: &random)
            let kind: UpdateKind = .random(using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0, 1: try await update(ConcurrentRun.all)
            case 2, 3: try await update(recipient)
            case 4: try await notify(ConcurrentRun.all)
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
        for _ in 0..<5 { try await update(ConcurrentRun.all) }
        for kind in [UpdateKind.notification, .indication] {
            try await send(to: nil, count: 60, by: kind, isLast: true)
        }
    }

    private func update(_ recipient: UInt8) async throws {
        let bytes = makeValue(.update, recipient)
        try await allowingAbsence {
            if recipient == ConcurrentRun.all {
                while try !session.update(run.value, bytes) { try await session.readyToUpdate(run.value) }
            } else {
                let central = centrals[Int(recipient)]
                while try !session.update(run.value, bytes, to: central) {
                    try await session.readyToUpdate(run.value, to: central)
                }
            }
            let stream = ConcurrentRun.Stream(sender: number, recipient: recipient)
            run.accepted.withLock { $0[stream, default: []].append(bytes[3]) }
        }
    }

    private func notify(_ recipient: UInt8) async throws {
        let bytes = makeValue(.notify, recipient)
        try await allowingAbsence {
            guard recipient != ConcurrentRun.all else {
                return try await session.notify(run.value, bytes)
            }
            try await session.notify(run.value, bytes, to: centrals[Int(recipient)])
            let stream = ConcurrentRun.Stream(sender: number, recipient: recipient)
            run.notified.withLock { $0[stream, default: []].append(bytes[3]) }
        }
    }

    private func send(
        to recipients: [UInt8]?,
        count: Int,
        by kind: UpdateKind,
        isLast: Bool = false
    ) async throws {
        let document = run.makeDocument(for: recipients, count: count, isLast: isLast)
        let characteristic = kind == .notification ? run.text : run.proof
        try await allowingAbsence {
            if let recipients {
                let meant = recipients.map { centrals[Int($0)] }
                try await session.send(document.bytes, over: characteristic, to: meant, by: kind)
            } else {
                try await session.send(document.bytes, over: characteristic, by: kind)
            }
            run.documents.withLock { $0[document.number]?.hasArrived = true }
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

extension UpdateKind {
    fileprivate static func random(using random: inout SeededGenerator) -> UpdateKind {
        Bool.random(using: &random) ? .notification : .indication
    }
}
