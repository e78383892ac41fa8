import PeripheralTesting
import TestSupport
import Testing

@testable import PeripheralKit

/// Each line that a central, the stack or the disk can cause, caused over and over.
@Suite(.timeLimit(.minutes(1)))
struct LogFloodTests {
    private struct Mishap: Error {}

    private static let rounds = 50

    private let log = LogRecorder()
    private let clock = ManualClock()
    private let central = Central(address: .virtualHost, mtu: 517)

    /// Fails unless the log has five lines of each kind, the number of the others, and nothing else.
    ///
    /// - Parameters:
    ///   - kinds: The beginnings of the lines.
    ///   - rounds: How often each was caused; `nil` for more than five times.
    private func expectFewLines(of kinds: [String], rounds: Int? = LogFloodTests.rounds) {
        for kind in kinds {
            let count = log.lines.count { $0.contains(": \(kind)") }
            #expect(count == LogHistory.burst, "\(kind)")
            let sum = log.lines.filter { $0.contains("Log messages were omitted") && $0.contains("[\(kind)") }
            #expect(sum.count == 1, "\(kind)")
            if let rounds {
                #expect(sum.first?.hasSuffix("; \(rounds - LogHistory.burst)]") == true, "\(kind)")
            }
        }
        #expect(log.lines.count == kinds.count * (LogHistory.burst + 1))
    }

    private func run(
        _ peripheral: Peripheral,
        _ attack:
            @escaping @Sendable (BackendPublication, any PeripheralHost, RecordingLink) async throws -> Void
    ) async throws {
        let (attacked, end) = AsyncStream.makeStream(of: Never.self)
        let backend = ScriptedBackend { publication, host in
            let link = RecordingLink()
            host.handle(.published(PublishedPeripheral(link: link)))
            host.handle(.connected(central))
            defer { end.finish() }
            try await attack(publication, host, link)
            end.finish()
            await link.untilStopped()
        }
        try await peripheral.run(on: backend, logger: log.logger, clock: clock) { _ in
            for await _ in attacked {}
        }
    }

    private func outcome(_ answer: BackendAnswer) async -> BackendAnswer.Outcome {
        switch answer {
        case .immediate(let outcome): outcome
        case .deferred(let start):
            await withCheckedContinuation { waiting in start { waiting.resume(returning: $0) } }
        }
    }

    private func handle(of value: Int, in publication: BackendPublication) -> AttributeHandle {
        publication.table.attributes.filter {
            if case .characteristicValue = $0.kind { true } else { false }
        }[value].handle
    }

    /// A program runs a peripheral again for each central.
    @Test func requestsThatFailInManyRuns() async throws {
        let failing = Characteristic<UInt8>(0x2A19, .read) { Read { throw Mishap() } }
        let peripheral = Peripheral("P") { GATTService(0x180F) { failing } }
        for _ in 0..<20 {
            try await run(peripheral) { publication, host, _ in
                for _ in 0..<Self.rounds {
                    let request = BackendReadRequest(
                        attribute: handle(of: 0, in: publication),
                        central: central
                    )
                    _ = await outcome(host.read(request))
                }
            }
        }
        // As many lines again report how many lines were omitted.
        #expect(log.lines.count == 2 * LogHistory.burst)
    }

    @Test func requestsThatFail() async throws {
        let failing = Characteristic<UInt8>(0x2A19, [.read, .write]) {
            Read { throw Mishap() }
            Write { _ in throw Mishap() }
        }
        let wrong = Characteristic<[UInt8]>(0x2A1A, .read, length: .upTo(4)) { Read { [1, 2, 3, 4, 5] } }
        let incomplete = Characteristic<UInt8>(0x2A1B, value: 1) {
            PresentationFormat(.uint4)
            PresentationFormat(.uint4)
            AggregateFormat()
        }
        let stream = Characteristic<[UInt8]>(0x2A1C, .writeWithoutResponse) { WriteStream(capacity: 1) }
        let peripheral = Peripheral("P") {
            GATTService(0x180F) {
                failing; wrong; incomplete; stream
            }
        }
        try await run(peripheral) { publication, host, _ in
            for round in 0..<Self.rounds {
                let attribute = handle(of: 0, in: publication)
                _ =
                    round % 2 == 0
                    ? await outcome(host.read(BackendReadRequest(attribute: attribute, central: central)))
                    : await outcome(
                        host.write(BackendWriteRequest(attribute: attribute, value: [1], central: central))
                    )
                _ = await outcome(
                    host.read(BackendReadRequest(attribute: handle(of: 1, in: publication), central: central))
                )
                let aggregate = publication.table.descriptorHandle(
                    service: 0,
                    characteristic: 2,
                    descriptor: 2
                )
                _ = await outcome(host.read(BackendReadRequest(attribute: aggregate, central: central)))
            }
            for _ in 0..<5_000 {
                _ = await outcome(
                    host.write(
                        BackendWriteRequest(
                            attribute: handle(of: 3, in: publication),
                            value: [1],
                            expectsResponse: false,
                            central: central
                        )
                    )
                )
            }
        }
        expectFewLines(
            of: [
                "A request was refused with 'unlikely error' because its handler threw an error with no ATT error code. Throw an ATTError, or make the error conform to ATTErrorConvertible.",
                "A read was refused with 'unlikely error' because the handler's value has an invalid length",
                "A read of an aggregate format failed because the stack has not reported the handles of the formats.",
                "A write was refused because the central writes faster than the handlers",
            ],
            rounds: nil
        )
    }

    @Test func aFloodAboutOneAttributeHidesNoFailureOfAnother() async throws {
        let (flooded, other) = (
            Characteristic<UInt8>(0x2A19, .read) { Read { throw Mishap() } },
            Characteristic<UInt8>(0x2A1A, .read) { Read { throw Mishap() } }
        )
        let peripheral = Peripheral("P") {
            GATTService(0x180F) {
                flooded; other
            }
        }
        try await run(peripheral) { publication, host, _ in
            for _ in 0..<Self.rounds {
                let read = BackendReadRequest(attribute: handle(of: 0, in: publication), central: central)
                _ = await outcome(host.read(read))
            }
            _ = await outcome(
                host.read(BackendReadRequest(attribute: handle(of: 1, in: publication), central: central))
            )
        }
        let failures = log.lines.filter {
            $0.hasPrefix("warning: A request was refused with 'unlikely error' because its handler threw")
        }
        #expect(failures.count == LogHistory.burst + 1)
        #expect(failures.last?.contains("characteristic 2a1a") == true)
    }

    @Test func requestsThatAreLate() async throws {
        let (released, release) = AsyncStream.makeStream(of: Never.self)
        let slow = Characteristic<UInt8>(0x2A19, .read) {
            Read {
                // Not even cancellation ends it.
                await Task { for await _ in released {} }.value
                return 1
            }
        }
        try await run(Peripheral("P") { GATTService(0x180F) { slow } }) { publication, host, _ in
            await withTaskGroup { group in
                for _ in 0..<Self.rounds {
                    group.addTask {
                        _ = await outcome(
                            host.read(
                                BackendReadRequest(
                                    attribute: handle(of: 0, in: publication),
                                    central: central
                                )
                            )
                        )
                    }
                }
                await clock.waitForSleeper()
                clock.advance(by: RequestTasks.timeLimit)
            }
            release.finish()
        }
        expectFewLines(of: ["A handler did not answer within 4 seconds"])
    }

    @Test func proceduresThatFail() async throws {
        let controlPoint = Characteristic<[UInt8]>(0x2A52, [.write, .indicate], length: .upTo(4)) {
            ControlPoint { (request: UInt8) -> [UInt8] in
                switch request {
                case 0: throw Mishap()
                case 1: [UInt8](repeating: 0, count: 5)
                default: [request]
                }
            }
        }
        try await run(Peripheral("P") { GATTService(0x1808) { controlPoint } }) { publication, host, link in
            let attribute = handle(of: 0, in: publication)
            host.handle(
                .subscribed(
                    BackendSubscription(characteristic: attribute, central: central, kind: .indication)
                )
            )
            for round in 0..<(Self.rounds * 3) {
                // The procedure before may not have ended yet.
                while await outcome(
                    host.write(
                        BackendWriteRequest(attribute: attribute, value: [UInt8(round % 3)], central: central)
                    )
                ) != .success([]) {
                    await Task.yield()
                }
                guard round % 3 == 2, let response = await link.next() else { continue }
                let error = PeripheralError(code: .unconfirmed, message: "It has not confirmed.")
                host.handle(.updateEnded(response.id, .failed(error)))
            }
        }
        expectFewLines(
            of: [
                "A procedure of a control point failed",
                "A procedure of a control point returned a response with a length that is not declared",
                "A procedure of a control point could not send its response",
            ],
            rounds: nil
        )
    }

    struct Attempt: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var pairing: Pairing
        var question: BackendPairingQuestion
        var isBonded = false
    }

    static let attempts = [
        Attempt(
            testDescription: "A central wants to pair in a way that is not declared",
            pairing: .justWorks,
            question: .enterPasskey
        ),
        Attempt(
            testDescription: "A central that is bonded wants to pair again by Just Works",
            pairing: .justWorks,
            question: .authorize,
            isBonded: true
        ),
        Attempt(
            testDescription: "A handler failed, and a central cannot pair",
            pairing: .enterPasskey { _ in throw Mishap() },
            question: .enterPasskey
        ),
        Attempt(
            testDescription: "A handler gave a passkey of more than six digits",
            pairing: .enterPasskey { _ in 1_000_000 },
            question: .enterPasskey
        ),
        Attempt(
            testDescription: "A handler did not answer a pairing request within 30 seconds",
            pairing: .enterPasskey { _ in
                for await _ in AsyncStream(Never.self, { _ in }) {}
                return nil
            },
            question: .enterPasskey
        ),
    ]

    @Test(arguments: attempts)
    func pairingsThatFail(_ attempt: Attempt) async throws {
        let peripheral = Peripheral("P", pairing: attempt.pairing) {
            GATTService(0x180F) { Characteristic<UInt8>(0x2A19, value: 1) }
        }
        let request = BackendPairingRequest(
            central: Central(address: .virtualHost, isBonded: attempt.isBonded),
            question: attempt.question
        )
        try await run(peripheral) { _, host, _ in
            try await withThrowingTaskGroup { group in
                for _ in 0..<Self.rounds {
                    group.addTask { #expect(await host.answer(request) == .reject) }
                }
                guard attempt.testDescription.hasSuffix("within 30 seconds") else { return }
                try await until { clock.sleeperCount >= Self.rounds }
                clock.advance(by: PairingAnswerer.timeLimit)
            }
        }
        expectFewLines(of: [attempt.testDescription])
    }

    /// With a success between any two failures.
    @Test func aDiskThatFailsNowAndThen() async throws {
        let isOn = Characteristic<Bool>(0x2A1A, [.read, .notify]) { PersistentValue(initially: true) }
        let store = InMemoryRestorationStore()
        let peripheral = Peripheral("P", restorationIdentifier: "com.example.flood") {
            GATTService(0x180F) { isOn }
        }
        try await peripheral.run(
            on: InMemoryBackend(),
            restoringFrom: store,
            savingEvery: .zero,
            logger: log.logger,
            clock: clock
        ) { [clock] session in
            // Only a waiting save needs time. Time that passes while another thread works would bring the
            // next line.
            func advance(by duration: Duration) {
                if clock.sleeperCount > 0 { clock.advance(by: duration) }
            }
            for round in 0..<8 {
                store.saveError = RestorationError(code: .unwritable, message: "The disk is full.")
                try await session.set(isOn, to: round % 2 != 0)
                let failures = session.restorationStatistics.failures
                try await until {
                    advance(by: .milliseconds(10))
                    return session.restorationStatistics.failures > failures
                }
                store.saveError = nil
                let saves = store.saveCount
                try await until {
                    advance(by: .milliseconds(100))
                    return store.saveCount > saves
                }
            }
        }
        expectFewLines(of: ["The state of the peripheral cannot be saved"], rounds: nil)
    }

    @Test func aStackThatMovesTheServicesAgainAndAgain() async throws {
        let store = InMemoryRestorationStore()
        let peripheral = Peripheral("P", restorationIdentifier: "com.example.flood") {
            GATTService(0x180F) { Characteristic<UInt8>(0x2A19, value: 1) }
        }
        let (attacked, end) = AsyncStream.makeStream(of: Never.self)
        let backend = ScriptedBackend { publication, host in
            let link = RecordingLink()
            for round in 0...UInt16(Self.rounds) {
                let service = publication.table.attributes[0].handle
                host.handle(.handleAssigned(service, onAir: AttributeHandle(rawValue: 0x100 + round * 8)))
                host.handle(.published(PublishedPeripheral(link: link)))
                host.handle(.suspended)
            }
            host.handle(.published(PublishedPeripheral(link: link)))
            end.finish()
            await link.untilStopped()
        }
        try await peripheral.run(
            on: backend,
            restoringFrom: store,
            logger: log.logger,
            clock: ContinuousClock()
        ) { _ in
            for await _ in attacked {}
        }
        expectFewLines(of: ["The services moved to other handles because another program registered first."])
    }
}
