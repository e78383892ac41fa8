import PeripheralCore
import Testing

@testable import PeripheralBlueZ

@Suite(.timeLimit(.minutes(1)))
struct UnsettledAnswersTests {
    @Test
    func startFollowsItsAnswer() {
        var answers = UnsettledAnswers()
        _ = answers.answered(0x12, isFollowedByStart: true)
        #expect(answers.hasSome(for: 0x12))
        #expect(!answers.hasSome(for: 0x15))
        let followsAnother = answers.started(0x15)
        #expect(!followsAnother)
        let follows = answers.started(0x12)
        #expect(follows)
        #expect(!answers.hasSome(for: 0x12))
        let followsAgain = answers.started(0x12)
        #expect(!followsAgain)
    }

    /// bluetoothd drops the answer for a central that has left: no start follows.
    @Test
    func startOfAStrangerIsNotTakenForOneThatNeverCame() {
        var answers = UnsettledAnswers()
        let number = answers.answered(0x12, isFollowedByStart: true)
        let isDropped = answers.settled(number)
        #expect(isDropped)
        #expect(!answers.hasSome(for: 0x12))
        let follows = answers.started(0x12)
        #expect(!follows)
    }

    @Test
    func answerWithASocketLastsUntilItIsSettled() {
        var answers = UnsettledAnswers()
        let first = answers.answered(0x12, isFollowedByStart: false)
        let second = answers.answered(0x12, isFollowedByStart: false)
        let follows = answers.started(0x12)
        #expect(!follows)
        let isDropped = answers.settled(first)
        #expect(!isDropped)
        #expect(answers.hasSome(for: 0x12))
        _ = answers.settled(second)
        #expect(!answers.hasSome(for: 0x12))
    }
}
