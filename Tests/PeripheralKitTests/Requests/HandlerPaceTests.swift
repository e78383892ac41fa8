import Testing

@testable import PeripheralKit

@Suite(.timeLimit(.minutes(1)))
struct HandlerPaceTests {
    private func account(after durations: [Duration]) -> PaceAccount {
        var account = PaceAccount()
        for duration in durations { account.note(duration) }
        return account
    }

    @Test func aHandlerIsNotTrustedAtFirst() {
        #expect(!PaceAccount().isQuick)
        #expect(!account(after: [.zero, .zero, .zero]).isQuick)
    }

    @Test func aHandlerEarnsTrustByAFewQuickRuns() {
        #expect(account(after: [.zero, .zero, .zero, .zero]).isQuick)
    }

    @Test func theTimeThatAHandlerTakesTooLongIsToBeMadeUpFor() {
        var account = account(after: [.zero, .zero, .zero, .zero, PaceAccount.allowance * 100])
        #expect(!account.isQuick)
        for _ in 0..<98 { account.note(.zero) }
        #expect(!account.isQuick)
        account.note(.zero)
        #expect(account.isQuick)
    }

    @Test func trustCannotBeSaved() {
        var account = account(after: Array(repeating: .zero, count: 10_000))
        account.note(PaceAccount.allowance + .nanoseconds(1))
        #expect(!account.isQuick)
    }

    @Test func aHandlerThatAlwaysTakesLongIsNeverTrusted() {
        var account = PaceAccount()
        for _ in 0..<1000 {
            account.note(.milliseconds(1))
            #expect(!account.isQuick)
        }
    }
}
