import PeripheralTesting
import TestSupport
import Testing

@testable import PeripheralKit

/// The answers of a peripheral that declares several pairing methods.
@Suite(.timeLimit(.minutes(1)))
struct PairingByOneOfSeveralTests {
    private static let central = Central(address: .virtualHost)
    private static let bonded = Central(address: .virtualHost, isBonded: true)

    private static let all = Pairing.any(
        of: .enterPasskey { _ in 123_456 },
        .confirmNumber { number, _ in number == 7 },
        .displayPasskey { passkey, _ in #expect(passkey == 8) }
    )

    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var pairing: Pairing
        var question: BackendPairingQuestion
        var isBonded = false
        var answer: BackendPairingAnswer
    }

    static let rows: [Row] = [
        Row(
            testDescription: "a passkey that is typed",
            pairing: all,
            question: .enterPasskey,
            answer: .passkey(123_456)
        ),
        Row(
            testDescription: "a number that is confirmed",
            pairing: all,
            question: .confirmNumber(7),
            answer: .accept
        ),
        Row(
            testDescription: "a number that is not confirmed",
            pairing: all,
            question: .confirmNumber(8),
            answer: .reject
        ),
        Row(
            testDescription: "a passkey that is shown",
            pairing: all,
            question: .displayPasskey(8),
            answer: .accept
        ),
        Row(
            testDescription: "Just Works that is not declared",
            pairing: all,
            question: .authorize,
            answer: .reject
        ),
        Row(
            testDescription: "Just Works that is not declared, in place of a bond",
            pairing: all,
            question: .authorize,
            isBonded: true,
            answer: .reject
        ),
        Row(
            testDescription: "Just Works that is declared",
            pairing: .any(of: all, .justWorks),
            question: .authorize,
            answer: .accept
        ),
        Row(
            testDescription: "Just Works that is declared, in place of a bond",
            pairing: .any(of: .justWorks, all),
            question: .authorize,
            isBonded: true,
            answer: .reject
        ),
        Row(
            testDescription: "Just Works in place of a bond, with the program's consent",
            pairing: .any(of: all, .justWorks(if: { $0 == bonded })),
            question: .authorize,
            isBonded: true,
            answer: .accept
        ),
        Row(
            testDescription: "a passkey beside Just Works",
            pairing: .any(of: .justWorks, all),
            question: .enterPasskey,
            answer: .passkey(123_456)
        ),
        Row(
            testDescription: "a number where only passkeys and Just Works are declared",
            pairing: .any(of: .justWorks, .displayPasskey { _, _ in }),
            question: .confirmNumber(7),
            answer: .reject
        ),
    ]

    @Test(arguments: rows)
    func eachQuestionReachesTheMethodThatItIsAbout(_ row: Row) async {
        let clock = ManualClock()
        let tasks = RequestTasks(clock: clock, logger: .silent)
        let answerer = PairingAnswerer(
            pairing: row.pairing,
            control: .alwaysAllowing,
            tasks: tasks,
            clock: clock,
            logger: .silent
        )
        let central = row.isBonded ? Self.bonded : Self.central
        let request = BackendPairingRequest(central: central, question: row.question)
        #expect(await answerer.answer(request) == row.answer)
        await tasks.end()
    }

    /// The reasons, which give the program a remedy.
    static let refusals: [(Pairing, String)] = [
        (
            all, "warning: A central wants to pair in a way that is not declared. The pairing is refused."
        ),
        (
            .any(of: all, .justWorks),
            "warning: A central that is bonded wants to pair again by Just Works. The pairing is refused,"
        ),
    ]

    @Test(arguments: refusals)
    func refusalOfJustWorksNamesItsReason(pairing: Pairing, reason: String) async {
        let clock = ManualClock()
        let log = LogRecorder()
        let tasks = RequestTasks(clock: clock, logger: .silent)
        let answerer = PairingAnswerer(
            pairing: pairing,
            control: .alwaysAllowing,
            tasks: tasks,
            clock: clock,
            logger: log.logger
        )
        let request = BackendPairingRequest(central: Self.bonded, question: .authorize)
        #expect(await answerer.answer(request) == .reject)
        #expect(log.lines.count == 1)
        #expect(log.lines.first?.hasPrefix(reason) == true)
        await tasks.end()
    }
}
