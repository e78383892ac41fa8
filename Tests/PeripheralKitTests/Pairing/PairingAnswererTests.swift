import Logging
import PeripheralTesting
import TestSupport
import Testing

@testable import PeripheralKit

@Suite(.timeLimit(.minutes(1)))
struct PairingAnswererTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var pairing: Pairing
        var question: BackendPairingQuestion
        var central = PairingAnswererTests.central
        var answer: BackendPairingAnswer
    }

    private struct Mishap: Error {}

    private static let central = Central(address: .virtualHost)
    private static let bonded = Central(address: .virtualHost, isBonded: true)

    static let declared: [Row] = [
        Row(testDescription: "Just Works", pairing: .justWorks, question: .authorize, answer: .accept),
        Row(
            testDescription: "Just Works for the first time, with the program's consent",
            pairing: .justWorks(if: { !$0.isBonded }),
            question: .authorize,
            answer: .accept
        ),
        Row(
            testDescription: "Just Works in place of a bond",
            pairing: .justWorks(if: { $0 == bonded }),
            question: .authorize,
            central: bonded,
            answer: .accept
        ),
        Row(
            testDescription: "a passkey that is shown",
            pairing: .displayPasskey { passkey, central in
                #expect(passkey == 7)
                #expect(central == Self.central)
            },
            question: .displayPasskey(7),
            answer: .accept
        ),
        Row(
            testDescription: "a passkey that is typed",
            pairing: .enterPasskey { _ in 999_999 },
            question: .enterPasskey,
            answer: .passkey(999_999)
        ),
        Row(
            testDescription: "a number that is confirmed",
            pairing: .confirmNumber { number, _ in number == 123_456 },
            question: .confirmNumber(123_456),
            answer: .accept
        ),
    ]

    static let refused: [Row] = [
        Row(
            testDescription: "Just Works for the first time, against the program's will",
            pairing: .justWorks(if: { $0.isBonded }),
            question: .authorize,
            answer: .reject
        ),
        Row(
            testDescription: "Just Works in place of a bond, undecided",
            pairing: .justWorks,
            question: .authorize,
            central: bonded,
            answer: .reject
        ),
        Row(
            testDescription: "Just Works in place of a bond, against the program's will",
            pairing: .justWorks(if: { _ in false }),
            question: .authorize,
            central: bonded,
            answer: .reject
        ),
        Row(
            testDescription: "Just Works in place of a bond, undecidable",
            pairing: .justWorks(if: { _ in throw Mishap() }),
            question: .authorize,
            central: bonded,
            answer: .reject
        ),
        Row(
            testDescription: "no passkey typed",
            pairing: .enterPasskey { _ in nil },
            question: .enterPasskey,
            answer: .reject
        ),
        Row(
            testDescription: "a passkey of seven digits",
            pairing: .enterPasskey { _ in 1_000_000 },
            question: .enterPasskey,
            answer: .reject
        ),
        Row(
            testDescription: "another number",
            pairing: .confirmNumber { number, _ in number == 123_456 },
            question: .confirmNumber(654_321),
            answer: .reject
        ),
        Row(
            testDescription: "no display",
            pairing: .displayPasskey { _, _ in throw Mishap() },
            question: .displayPasskey(7),
            answer: .reject
        ),
    ]

    /// Each way to pair, asked what belongs to another.
    static let undeclared: [Row] = {
        let ways: [(String, Pairing, BackendPairingQuestion?)] = [
            ("none", .none, nil),
            ("system", .system, nil),
            ("justWorks", .justWorks, .authorize),
            ("displayPasskey", .displayPasskey { _, _ in }, .displayPasskey(1)),
            ("enterPasskey", .enterPasskey { _ in 1 }, .enterPasskey),
            ("confirmNumber", .confirmNumber { _, _ in true }, .confirmNumber(1)),
        ]
        let questions: [BackendPairingQuestion] = [
            .authorize, .displayPasskey(1), .enterPasskey, .confirmNumber(1),
        ]
        return ways.flatMap { name, pairing, own in
            questions.filter { $0 != own }.map { question in
                Row(
                    testDescription: "\(question) with \(name)",
                    pairing: pairing,
                    question: question,
                    answer: .reject
                )
            }
        }
    }()

    private let clock = ManualClock()
    private let tasks: RequestTasks

    init() {
        tasks = RequestTasks(clock: clock, logger: .silent)
    }

    private func answerer(_ pairing: Pairing, _ logger: Logger = .silent) -> PairingAnswerer {
        PairingAnswerer(
            pairing: pairing,
            control: .alwaysAllowing,
            tasks: tasks,
            clock: clock,
            logger: logger
        )
    }

    @Test(arguments: declared + refused + undeclared)
    func theDeclarationAnswers(_ row: Row) async {
        let request = BackendPairingRequest(central: row.central, question: row.question)
        #expect(await answerer(row.pairing).answer(request) == row.answer)
        await tasks.end()
    }

    /// A handler that heeds nothing does not delay the refusal.
    @Test func aLateHandlerIsRefusedAndCancelled() async {
        let (released, release) = AsyncStream.makeStream(of: Void.self)
        let ended = Log<Bool>()
        let pairing = Pairing.enterPasskey { _ in
            await Task { for await _ in released { break } }.value
            ended.append(Task.isCancelled)
            return 1
        }
        let request = BackendPairingRequest(central: Self.central, question: .enterPasskey)
        async let answer = answerer(pairing).answer(request)
        await clock.waitForSleeper()
        clock.advance(by: PairingAnswerer.timeLimit)
        #expect(await answer == .reject)
        release.yield()
        await tasks.end()
        #expect(ended.entries == [true])
    }

    /// The end of a pairing is not always reported.
    @Test func aPasskeyThatIsStillShownAtTheEndCountsAsShown() async {
        let ended = Log<Bool>()
        let pairing = Pairing.displayPasskey { _, _ in
            for await _ in AsyncStream(Never.self, { _ in }) {}
            ended.append(Task.isCancelled)
            try Task.checkCancellation()
        }
        let request = BackendPairingRequest(central: Self.central, question: .displayPasskey(1))
        async let answer = answerer(pairing).answer(request)
        await clock.waitForSleeper()
        clock.advance(by: PairingAnswerer.timeLimit)
        #expect(await answer == .accept)
        await tasks.end()
        #expect(ended.entries == [true])
    }

    @Test func aQuestionTakenBackCancelsItsHandler() async {
        let (entered, enter) = AsyncStream.makeStream(of: Void.self)
        let ended = Log<Bool>()
        let pairing = Pairing.displayPasskey { _, _ in
            enter.yield()
            for await _ in AsyncStream(Never.self, { _ in }) {}
            ended.append(Task.isCancelled)
        }
        let request = BackendPairingRequest(central: Self.central, question: .displayPasskey(1))
        let log = LogRecorder(from: .debug)
        let asking = Task { await answerer(pairing, log.logger).answer(request) }
        for await _ in entered { break }
        asking.cancel()
        #expect(await asking.value == .reject)
        await ended.untilNotEmpty()
        #expect(ended.entries == [true])
        await tasks.end()
        // The central may have paired: the question was not withdrawn.
        #expect(
            log.lines == [
                "debug: A pairing question has ended. [\(Self.central.address); display a passkey; display ended]"
            ]
        )
    }

    @Test func nobodyIsAskedAfterTheEnd() async {
        await tasks.end()
        let pairing = Pairing.confirmNumber { _, _ in
            Issue.record("The handler was asked.")
            return true
        }
        let request = BackendPairingRequest(central: Self.central, question: .confirmNumber(1))
        #expect(await answerer(pairing).answer(request) == .reject)
    }
}
