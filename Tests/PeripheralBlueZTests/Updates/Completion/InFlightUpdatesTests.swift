import PeripheralCore
import PeripheralKit
import Testing

@testable import PeripheralBlueZ

@Suite(.timeLimit(.minutes(1)))
struct InFlightUpdatesTests {
    private var inFlight = InFlightUpdates()
    private let one: Central.ID
    private let two: Central.ID

    init() throws {
        one = Central.ID(address: try #require(DeviceAddress(rawValue: 1)))
        two = Central.ID(address: try #require(DeviceAddress(rawValue: 2)))
    }

    /// Gives bluetoothd an update, which takes it.
    private mutating func give(_ number: UInt64, of attribute: AttributeHandle, for centrals: [Central.ID]) {
        inFlight.given(BackendUpdate.ID(number), of: attribute, for: centrals)
        #expect(told(inFlight.taken(BackendUpdate.ID(number), .completed)) == "taken \(number)")
    }

    private mutating func completed(_ attribute: AttributeHandle, for central: Central.ID) -> String? {
        told(inFlight.completed(attribute, for: central))
    }

    private mutating func look(
        busy: Set<Central.ID> = [],
        completing: Set<Central.ID> = []
    ) -> [String?] {
        inFlight.looked(busy.contains, hasCompleted: completing.contains).map(told)
    }

    /// What is reported, in words.
    private func told(_ event: BackendEvent?) -> String? {
        let numbers = 0..<10 as Range<UInt64>
        switch event {
        case .updateTaken(let id):
            return numbers.first { BackendUpdate.ID($0) == id }.map { "taken \($0)" }
        case .updateEnded(let id, .completed):
            return numbers.first { BackendUpdate.ID($0) == id }.map { "ended \($0)" }
        case .updateEnded(let id, .givenUp):
            return numbers.first { BackendUpdate.ID($0) == id }.map { "given up \($0)" }
        case .updateEnded(let id, .failed):
            return numbers.first { BackendUpdate.ID($0) == id }.map { "failed \($0)" }
        default: return nil
        }
    }

    @Test mutating func thoseOfAnAttributeLeaveInTheirOrder() {
        for number in 0..<3 as Range<UInt64> { give(number, of: number == 1 ? 6 : 3, for: [one]) }
        #expect(completed(3, for: one) == "ended 0")
        #expect(completed(3, for: two) == nil)
        #expect(completed(3, for: one) == "ended 2")
        #expect(completed(3, for: one) == nil)
        #expect(!inFlight.isEmpty)
        #expect(completed(6, for: one) == "ended 1")
        #expect(inFlight.isEmpty)
    }

    @Test mutating func oneForSeveralHasLeftWithTheLast() {
        give(0, of: 3, for: [one, two])
        #expect(completed(3, for: two) == nil)
        #expect(completed(3, for: two) == nil)
        #expect(completed(3, for: one) == "ended 0")
    }

    @Test mutating func oneForNobodyEndsWhenItIsTaken() {
        inFlight.given(BackendUpdate.ID(0), of: 3, for: [])
        #expect(inFlight.isEmpty)
        #expect(told(inFlight.taken(BackendUpdate.ID(0), .completed)) == "ended 0")
    }

    /// The link may be quicker than the news that the socket has taken it.
    @Test mutating func oneThatHasLeftEndsOnceWhenItIsTaken() {
        inFlight.given(BackendUpdate.ID(0), of: 3, for: [one])
        #expect(completed(3, for: one) == nil)
        #expect(told(inFlight.taken(BackendUpdate.ID(0), .completed)) == "ended 0")
        #expect(inFlight.isEmpty)
    }

    @Test mutating func nothingIsAwaitedOfACentralThatIsGone() {
        give(0, of: 3, for: [one, two])
        give(1, of: 6, for: [one])
        give(2, of: 6, for: [two])
        #expect(inFlight.settled(one).map(told) == ["failed 1"])
        #expect(!inFlight.isEmpty)
        // It has left for one of two: that is what counts as delivered.
        #expect(completed(3, for: two) == "ended 0")
        #expect(inFlight.settled(two).map(told) == ["failed 2"])
        #expect(inFlight.isEmpty)
    }

    /// An indication ends when it is confirmed, but takes its place among the others.
    @Test mutating func oneThatNobodyWaitsForTakesItsPlace() {
        inFlight.given(nil, of: 3, for: [one])
        give(1, of: 3, for: [one])
        #expect(completed(3, for: one) == nil)
        #expect(completed(3, for: one) == "ended 1")
    }

    @Test mutating func oneThatWasNotTakenLeavesNoGap() {
        inFlight.given(BackendUpdate.ID(0), of: 3, for: [one, two])
        give(1, of: 3, for: [one])
        let failure = BackendUpdateOutcome.failed(PeripheralError(code: .disconnected, message: ""))
        #expect(told(inFlight.taken(BackendUpdate.ID(0), failure)) == "failed 0")
        #expect(completed(3, for: two) == nil)
        #expect(completed(3, for: one) == "ended 1")
    }

    @Test mutating func whatIsNowhereToBeSeenIsGivenUp() {
        give(0, of: 3, for: [one])
        give(1, of: 3, for: [two])
        #expect(look(busy: [one]) == [])
        #expect(look() == ["given up 1"])
        #expect(look() == ["given up 0"])
        #expect(look() == [])
    }

    /// Before 5.76, bluetoothd does not report a central that unsubscribes while another stays subscribed.
    @Test mutating func whoGetsNothingDoesNotHoldUpTheOthers() {
        give(0, of: 3, for: [one, two])
        #expect(completed(3, for: one) == nil)
        #expect(look() == [])
        #expect(look() == ["ended 0"])
        give(1, of: 3, for: [one, two])
        #expect(completed(3, for: one) == "ended 1")
        // It has subscribed again: what is given from now on is waited for.
        give(2, of: 3, for: [one, two])
        #expect(completed(3, for: two) == nil)
        give(3, of: 3, for: [one, two])
        #expect(completed(3, for: one) == "ended 2")
        #expect(completed(3, for: one) == nil)
        #expect(completed(3, for: two) == "ended 3")
    }

    @Test mutating func whereAllGetNothingAllAreWaitedFor() {
        give(0, of: 3, for: [one])
        #expect(look() == [])
        #expect(look() == ["given up 0"])
        give(1, of: 3, for: [one])
        #expect(completed(3, for: one) == "ended 1")
    }

    @Test mutating func afterSomethingWentUnseenTheLinkRunsEmpty() {
        give(0, of: 3, for: [one])
        give(1, of: 3, for: [two])
        give(2, of: 3, for: [one])
        inFlight.missed()
        #expect(inFlight.isUrgent)
        #expect(completed(3, for: one) == nil)
        for _ in 0..<3 { #expect(look(busy: [one]) == []) }
        #expect(look(busy: [one]) == ["ended 1"])
        #expect(look() == [])
        #expect(Set(look()) == ["ended 0", "ended 2"])
        #expect(!inFlight.isUrgent)
        give(3, of: 3, for: [one])
        #expect(completed(3, for: one) == "ended 3")
    }

    @Test mutating func whatWentUnseenIsNotWaitedForOnALinkThatNeverRunsEmpty() {
        give(0, of: 3, for: [one])
        inFlight.missed()
        let looks = (0..<20).map { _ in look(busy: [one], completing: [one]) }
        #expect(looks.dropLast().joined().isEmpty)
        #expect(looks.last == ["ended 0"])
    }

    /// It holds what the central has no room for.
    @Test mutating func whatIsOnALinkOfWhichSomethingWentUnseenIsWaitedFor() {
        give(0, of: 3, for: [one])
        inFlight.missed()
        for _ in 0..<1_000 { #expect(look(busy: [one]) == []) }
    }

    /// Before 5.76, bluetoothd does not report that `one` has unsubscribed from 3.
    ///
    /// `two` stays subscribed to 3. `one` still receives the values of 6.
    @Test mutating func whoGetsSomethingElseDoesNotHoldUpTheOthersEither() {
        give(0, of: 3, for: [one, two])
        #expect(completed(3, for: two) == nil)
        var ended: [String?] = []
        for _ in 0..<3 {
            give(1, of: 6, for: [one])
            #expect(completed(6, for: one) == "ended 1")
            ended += look(busy: [one])
        }
        #expect(ended == ["ended 0"])
        give(2, of: 3, for: [one, two])
        #expect(completed(3, for: two) == "ended 2")
    }

    /// bluetoothd has not yet read it when it answers.
    @Test mutating func whatIsLateByALookIsNotTakenForLost() {
        give(0, of: 3, for: [one])
        #expect(look(busy: [one]) == [])
        give(1, of: 6, for: [one])
        #expect(completed(6, for: one) == "ended 1")
        #expect(look(busy: [one]) == [])
        #expect(look(busy: [one]) == [])
        #expect(completed(3, for: one) == "ended 0")
    }

    @Test mutating func whatIsSeenShowsThatMoreMayCome() {
        give(0, of: 3, for: [one])
        give(1, of: 3, for: [one])
        #expect(look() == [])
        #expect(completed(3, for: one) == "ended 0")
        #expect(look() == [])
        give(2, of: 6, for: [one])
        #expect(look() == [])
        #expect(Set(look()) == ["given up 1", "given up 2"])
    }
}
