import PeripheralCore
import PeripheralKit
import TestSupport
import Testing

@testable import PeripheralBlueZ

@Suite(.timeLimit(.minutes(1)))
struct ConfirmationsTests {
    private static let call = Confirmations.Source.call(3)
    private let gone = PeripheralError(code: .disconnected, message: "gone")

    private func socket(_ number: UInt64) throws -> Confirmations.Source {
        let address = try #require(DeviceAddress(rawValue: number))
        return .socket(SubscriptionTable.Socket(characteristic: 3, central: Central.ID(address: address)))
    }

    /// Each end as the number of the update, and the code of its failure.
    private func described(_ ends: [Confirmations.End]) -> [String] {
        ends.map { end in
            let number = (1...9).first { end.update == BackendUpdate.ID(UInt64($0)) }.map(String.init) ?? "?"
            return switch end.outcome {
            case .completed: number
            case .givenUp: "\(number) given up"
            case .failed(let error): "\(number) \(error.code)"
            }
        }
    }

    /// Sends an update over the bus.
    private func send(_ number: UInt64?, to subscribers: Int, _ confirmations: inout Confirmations) {
        confirmations.sent(number.map { BackendUpdate.ID($0) }, awaiting: [Self.call: subscribers])
    }

    private func confirm(
        _ confirmations: inout Confirmations,
        by source: Confirmations.Source = call
    ) -> [String] {
        described(confirmations.confirmed(source))
    }

    // MARK: Sockets

    @Test func whatSomebodyHasNotGotFailsInTheEnd() throws {
        var confirmations = Confirmations()
        confirmations.sent(
            BackendUpdate.ID(1),
            awaiting: [try socket(1): 1, try socket(2): 1],
            lacking: gone
        )
        #expect(confirm(&confirmations, by: try socket(2)) == [])
        #expect(confirm(&confirmations, by: try socket(1)) == ["1 \(gone.code)"])
    }

    @Test func allHaveToConfirm() throws {
        var confirmations = Confirmations()
        confirmations.sent(BackendUpdate.ID(1), awaiting: [try socket(1): 1, try socket(2): 1])
        #expect(confirm(&confirmations, by: try socket(2)) == [])
        #expect(confirm(&confirmations, by: try socket(2)) == [])
        #expect(confirm(&confirmations, by: try socket(1)) == ["1"])
    }

    @Test func whatIsLostFailsWhenTheOthersHaveConfirmed() throws {
        var confirmations = Confirmations()
        confirmations.sent(BackendUpdate.ID(1), awaiting: [try socket(1): 1, try socket(2): 1])
        confirmations.sent(BackendUpdate.ID(2), awaiting: [try socket(1): 1])
        #expect(described(confirmations.lost(try socket(1), because: gone)) == ["2 disconnected"])
        #expect(confirm(&confirmations, by: try socket(2)) == ["1 disconnected"])
    }

    @Test func whoIsGoneConfirmsNothing() throws {
        var confirmations = Confirmations()
        confirmations.sent(BackendUpdate.ID(1), awaiting: [try socket(1): 1])
        confirmations.sent(BackendUpdate.ID(2), awaiting: [try socket(2): 1])
        let central = Central.ID(address: try #require(DeviceAddress(rawValue: 1)))
        #expect(described(confirmations.lost(from: central, because: gone)) == ["1 disconnected"])
        #expect(confirm(&confirmations, by: try socket(2)) == ["2"])
    }

    @Test func whenAllAreGoneNothingIsMissing() throws {
        var confirmations = Confirmations()
        #expect(!confirmations.isAnyMissing)
        send(1, to: 1, &confirmations)
        send(nil, to: 1, &confirmations)
        confirmations.sent(nil, awaiting: [try socket(1): 1])
        #expect(confirmations.isAnyMissing)
        #expect(described(confirmations.allLeft()) == ["1 disconnected"])
        #expect(!confirmations.isAnyMissing)
        #expect(confirm(&confirmations) == [])
    }

    @Test func nobodyHasToWaitForAConfirmationThatIsMissing() throws {
        var confirmations = Confirmations()
        confirmations.sent(nil, awaiting: [try socket(1): 1])
        #expect(confirmations.isAnyMissing)
        #expect(confirm(&confirmations, by: try socket(1)) == [])
        #expect(!confirmations.isAnyMissing)
    }

    @Test func eachSocketConfirmsInItsOrder() throws {
        var confirmations = Confirmations()
        for number: UInt64 in 1...3 {
            confirmations.sent(BackendUpdate.ID(number), awaiting: [try socket(1): 1])
        }
        for number in 1...3 { #expect(confirm(&confirmations, by: try socket(1)) == ["\(number)"]) }
    }

    // MARK: Updates that no program waits for

    @Test func aConfirmationIsThatOfItsOwnUpdate() throws {
        for source in [Self.call, try socket(1)] {
            var confirmations = Confirmations()
            confirmations.sent(nil, awaiting: [source: 1])
            confirmations.sent(nil, awaiting: [source: 1])
            confirmations.sent(BackendUpdate.ID(1), awaiting: [source: 1])
            confirmations.sent(nil, awaiting: [source: 1])
            #expect(confirm(&confirmations, by: source) == [])
            #expect(confirm(&confirmations, by: source) == [])
            #expect(confirm(&confirmations, by: source) == ["1"])
            #expect(confirm(&confirmations, by: source) == [])
        }
    }

    @Test func confirmationsThatNobodyOwesAreIgnored() {
        var confirmations = Confirmations()
        #expect(confirm(&confirmations) == [])
        send(1, to: 1, &confirmations)
        #expect(confirm(&confirmations) == ["1"])
        #expect(confirm(&confirmations) == [])
        send(2, to: 1, &confirmations)
        #expect(confirm(&confirmations) == ["2"])
    }

    /// With two subscribers, one of which is quick.
    @Test func whatTheQuickConfirmDoesNotStandForTheSlow() {
        var confirmations = Confirmations()
        send(nil, to: 2, &confirmations)
        send(1, to: 2, &confirmations)
        send(nil, to: 2, &confirmations)
        for _ in 0..<3 { #expect(confirm(&confirmations) == []) }
        #expect(confirm(&confirmations) == [])
        #expect(confirm(&confirmations) == ["1"])
        #expect(confirm(&confirmations) == [])
    }

    /// Whatever the order in which several centrals confirm, an update ends when all have confirmed it, or
    /// later, but not after the last confirmation.
    @Test(arguments: [1, 2, 3] as [UInt64])
    func nothingEndsTooEarly(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            let centrals = Int.random(in: 1...4, using: &generator)
            let updates = Int.random(in: 1...8, using: &generator)
            let awaited = Set((1...updates).filter { _ in Bool.random(using: &generator) })
            var confirmations = Confirmations()
            var sent = 0
            var confirmed = Array(repeating: 0, count: centrals)
            var ended: Set<String> = []
            while confirmed.contains(where: { $0 < updates }) {
                if sent < updates, Bool.random(using: &generator) {
                    sent += 1
                    send(awaited.contains(sent) ? UInt64(sent) : nil, to: centrals, &confirmations)
                    continue
                }
                guard
                    let central = (0..<centrals).filter({ confirmed[$0] < sent }).randomElement(
                        using: &generator
                    )
                else { continue }
                confirmed[central] += 1
                let ends = confirm(&confirmations)
                ended.formUnion(ends)
                let all = confirmed.min() ?? 0
                for end in ends {
                    #expect(Int(end).map { $0 <= all } == true, "ended \(ends), confirmed \(confirmed)")
                }
            }
            #expect(ended == Set(awaited.map(String.init)))
        }
    }

    // MARK: Giving up

    @Test func whoConfirmsIsLearnedFromWhatWaitsInVain() {
        var confirmations = Confirmations()
        send(1, to: 3, &confirmations)
        for _ in 0..<2 { #expect(confirm(&confirmations) == []) }
        let isAwaited = confirmations.doubt(BackendUpdate.ID(1))
        #expect(isAwaited)
        #expect(described(confirmations.giveUp(BackendUpdate.ID(1))) == ["1 unconfirmed"])
        for number: UInt64 in 2...4 {
            send(number, to: 3, &confirmations)
            #expect(confirm(&confirmations) == [])
            #expect(confirm(&confirmations) == ["\(number)"])
        }
        confirmations.joined(Self.call)
        send(5, to: 3, &confirmations)
        for _ in 0..<2 { #expect(confirm(&confirmations) == []) }
        #expect(confirm(&confirmations) == ["5"])
    }

    @Test func whatIsSentMeanwhileDoesNotCountForWhoConfirms() {
        var confirmations = Confirmations()
        for _ in 0..<20 {
            send(nil, to: 2, &confirmations)
            #expect(confirm(&confirmations) == [])
        }
        send(1, to: 2, &confirmations)
        for _ in 0..<5 {
            #expect(confirm(&confirmations) == [])
            send(nil, to: 2, &confirmations)
        }
        _ = confirmations.doubt(BackendUpdate.ID(1))
        #expect(confirm(&confirmations) == [])
        #expect(described(confirmations.giveUp(BackendUpdate.ID(1))) == ["1 unconfirmed"])
        send(2, to: 2, &confirmations)
        #expect(confirm(&confirmations) == ["2"])
    }

    @Test func oneAtLeastHasToConfirm() {
        var confirmations = Confirmations()
        send(1, to: 2, &confirmations)
        _ = confirmations.doubt(BackendUpdate.ID(1))
        #expect(described(confirmations.giveUp(BackendUpdate.ID(1))) == ["1 unconfirmed"])
        send(2, to: 2, &confirmations)
        #expect(confirm(&confirmations) == ["2"])
    }

    @Test func aSocketThatNobodyConfirmsOnIsNotWaitedForAgain() throws {
        var confirmations = Confirmations()
        let sockets = [try socket(1): 1, try socket(2): 1]
        confirmations.sent(BackendUpdate.ID(1), awaiting: sockets)
        #expect(confirm(&confirmations, by: try socket(1)) == [])
        _ = confirmations.doubt(BackendUpdate.ID(1))
        #expect(described(confirmations.giveUp(BackendUpdate.ID(1))) == ["1 unconfirmed"])
        confirmations.sent(BackendUpdate.ID(2), awaiting: sockets)
        #expect(confirm(&confirmations, by: try socket(1)) == ["2"])
        // Its central has asked for indications meanwhile.
        #expect(confirm(&confirmations, by: try socket(2)) == [])
        confirmations.sent(BackendUpdate.ID(3), awaiting: sockets)
        #expect(confirm(&confirmations, by: try socket(1)) == [])
        #expect(confirm(&confirmations, by: try socket(2)) == ["3"])
    }

    @Test func whatComesLateIsThatOfTheUpdateThatIsGivenUp() {
        var confirmations = Confirmations()
        send(1, to: 1, &confirmations)
        _ = confirmations.doubt(BackendUpdate.ID(1))
        #expect(confirm(&confirmations) == ["1"])
        #expect(described(confirmations.giveUp(BackendUpdate.ID(1))) == [])
        send(2, to: 1, &confirmations)
        #expect(confirm(&confirmations) == ["2"])
    }

    @Test func whatHasEndedIsNotGivenUp() {
        var confirmations = Confirmations()
        send(1, to: 1, &confirmations)
        _ = confirm(&confirmations)
        let isAwaited = confirmations.doubt(BackendUpdate.ID(1))
        #expect(!isAwaited)
    }

    // MARK: Leaving

    @Test func theLastSubscriberTakesItsIndicationsAlong() {
        var confirmations = Confirmations()
        send(nil, to: 1, &confirmations)
        send(1, to: 1, &confirmations)
        let (ends, asks) = confirmations.left(3, remaining: 0)
        #expect(described(ends) == ["1 disconnected"])
        #expect(!asks)
        #expect(confirm(&confirmations) == [])
        send(2, to: 1, &confirmations)
        #expect(confirm(&confirmations) == ["2"])
    }

    @Test func theConfirmationForOneWhoLeavesIsNone() {
        var confirmations = Confirmations()
        send(1, to: 2, &confirmations)
        #expect(confirm(&confirmations) == [])
        let (ends, asks) = confirmations.left(3, remaining: 1)
        #expect(ends.isEmpty)
        #expect(asks)
        #expect(confirm(&confirmations) == ["1 disconnected"])
        // In the same moment.
        send(2, to: 1, &confirmations)
        #expect(confirm(&confirmations) == ["2"])
        #expect(described(confirmations.settleLeaving(3, remaining: 1)) == [])
    }

    @Test func whoHasConfirmedMayLeave() {
        var confirmations = Confirmations()
        send(1, to: 2, &confirmations)
        #expect(confirm(&confirmations) == [])
        _ = confirmations.left(3, remaining: 1)
        #expect(described(confirmations.settleLeaving(3, remaining: 1)) == [])
        #expect(confirm(&confirmations) == ["1"])
    }

    @Test func whoWasNeverAskedMayLeave() {
        var confirmations = Confirmations()
        send(1, to: 2, &confirmations)
        _ = confirmations.left(3, remaining: 1)
        #expect(described(confirmations.settleLeaving(3, remaining: 1)) == [])
        #expect(confirm(&confirmations) == ["1"])
    }

    @Test func withNothingMissingALeavingIsNoMatter() {
        var confirmations = Confirmations()
        send(1, to: 2, &confirmations)
        for _ in 0..<2 { _ = confirm(&confirmations) }
        let (ends, asks) = confirmations.left(3, remaining: 1)
        #expect(ends.isEmpty)
        #expect(!asks)
    }
}
