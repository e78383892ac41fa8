import Testing

@testable import PeripheralKit

@Suite(.timeLimit(.minutes(1)))
struct ProcedureTableTests {
    private let place = ProcedureTable.Place(
        controlPoint: 3,
        central: Central.ID(address: .numbered(1))
    )
    private let elsewhere = [
        ProcedureTable.Place(controlPoint: 4, central: Central.ID(address: .numbered(1))),
        ProcedureTable.Place(controlPoint: 3, central: Central.ID(address: .numbered(2))),
    ]
    private var table = ProcedureTable()

    private mutating func admit(isAbort: Bool = false) -> (ProcedureTable.Number, ProcedureTable.Admission) {
        let number = table.makeNumber()
        return (number, table.admit(number, at: place, isAbort: isAbort))
    }

    private mutating func begin(isAbort: Bool = false) -> ProcedureTable.Number {
        let number = admit(isAbort: isAbort).0
        _ = table.begin(number)
        return number
    }

    private mutating func expectNext(_ expected: ProcedureTable.Admission, isAbort: Bool = false) {
        let admission = admit(isAbort: isAbort).1
        #expect(admission == expected)
    }

    private mutating func expectResponse(of number: ProcedureTable.Number, _ expected: Bool) {
        let responds = table.respond(number)
        #expect(responds == expected)
    }

    private mutating func expectBeginning(
        of number: ProcedureTable.Number,
        _ expected: [ProcedureTable.Number]?
    ) {
        let ended = table.begin(number)
        #expect(ended == expected)
    }

    @Test mutating func oneAtATimeFromItsAdmissionOn() {
        let (first, admission) = admit()
        #expect(admission == .admitted)
        expectNext(.refused)
        expectBeginning(of: first, [])
        expectNext(.refused)
        expectResponse(of: first, true)
        expectNext(.delayed)
        #expect(table.isOccupied(place))
        table.end(first)
        #expect(!table.isOccupied(place))
        expectNext(.admitted)
    }

    @Test mutating func otherPlacesDoNotMatter() {
        _ = begin()
        for place in elsewhere {
            let admission = table.admit(table.makeNumber(), at: place, isAbort: false)
            #expect(admission == .admitted)
        }
    }

    @Test mutating func anAbortTakesThePlaceWhenItIsAnswered() {
        let first = begin()
        let (abort, admission) = admit(isAbort: true)
        #expect(admission == .admitted)
        expectNext(.refused)
        expectBeginning(of: abort, [first])
        expectResponse(of: first, false)
        table.end(first)
        expectResponse(of: abort, true)
    }

    @Test mutating func anAbortThatIsRefusedChangesNothing() {
        let first = begin()
        let (abort, _) = admit(isAbort: true)
        table.end(abort)
        expectResponse(of: first, true)
    }

    @Test mutating func oneAbortAtATime() {
        _ = begin()
        let abort = begin(isAbort: true)
        expectNext(.refused, isAbort: true)
        expectResponse(of: abort, true)
        expectNext(.delayed, isAbort: true)
    }

    @Test mutating func anAbortOvertakesARequestThatIsNotAnswered() {
        let (first, _) = admit()
        let abort = begin(isAbort: true)
        expectBeginning(of: first, nil)
        table.end(first)
        expectResponse(of: abort, true)
    }

    @Test mutating func whatIsCancelledHoldsItsPlaceUntilItHasEnded() {
        let first = begin()
        let cancelled = table.cancel { $0 == place }
        #expect(cancelled == [first])
        expectResponse(of: first, false)
        expectNext(.delayed)
        table.end(first)
        expectNext(.admitted)
    }

    /// The central has already received another response.
    ///
    /// If the table admitted the procedure, nothing would end it.
    @Test mutating func aRequestThatHasBeenAnsweredForIsNotTakenUp() {
        let number = table.makeNumber()
        table.end(number)
        let admission = table.admit(number, at: place, isAbort: false)
        #expect(admission == .refused)
        #expect(!table.isOccupied(place))
    }
}
