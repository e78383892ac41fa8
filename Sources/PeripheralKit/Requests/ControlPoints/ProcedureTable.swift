internal import PeripheralCore

/// Which procedures of control points are under way, and whether another may begin.
///
/// For each central and control point there is one at a time, and an abort that is to end it.
struct ProcedureTable {
    typealias Number = UInt64

    /// Of what a procedure is the only one.
    struct Place: Hashable {
        let controlPoint: AttributeHandle
        let central: Central.ID
    }

    enum Admission: Equatable {
        /// The procedure is in the table; it begins when its request is answered.
        case admitted
        /// Another is about to end: ask again then.
        case delayed
        case refused
    }

    private enum Phase {
        /// The request is not answered yet.
        case admitted
        case running
        /// The response is on its way.
        case responding
        /// Nothing comes of it any more, but it has not ended.
        case cancelled
    }

    private struct Procedure {
        let place: Place
        let isAbort: Bool
        var phase = Phase.admitted

        /// Whether it is about to end by itself.
        var isEnding: Bool { phase == .responding || phase == .cancelled }
    }

    private var procedures: [Number: Procedure] = [:]
    /// The requests that are not answered yet, taken up or not.
    private var unanswered: Set<Number> = []
    private var nextNumber: Number = 0

    /// Gives a new request its number.
    mutating func makeNumber() -> Number {
        defer { nextNumber += 1 }
        unanswered.insert(nextNumber)
        return nextNumber
    }

    /// Whether a procedure is under way there, or has not quite ended.
    func isOccupied(_ place: Place) -> Bool {
        procedures.values.contains { $0.place == place }
    }

    /// Takes up a procedure if it may begin; not when its request has been answered meanwhile.
    mutating func admit(_ number: Number, at place: Place, isAbort: Bool) -> Admission {
        guard unanswered.contains(number) else { return .refused }
        let rivals = procedures.values.filter { $0.place == place && (!isAbort || $0.isAbort) }
        guard rivals.isEmpty else {
            return rivals.allSatisfy(\.isEnding) ? .delayed : .refused
        }
        procedures[number] = Procedure(place: place, isAbort: isAbort)
        return .admitted
    }

    /// Takes note that a request is answered, and its procedure begins.
    ///
    /// - Parameters:
    ///   - number: The request.
    ///   - evenIfCancelled: Whether one that was cancelled begins all the same, and stays cancelled.
    /// - Returns: The procedures that end with that, and before the new one begins; `nil` when it does not begin.
    mutating func begin(_ number: Number, evenIfCancelled: Bool = false) -> [Number]? {
        unanswered.remove(number)
        guard let place = procedures[number]?.place else { return nil }
        guard procedures[number]?.phase == .admitted else { return evenIfCancelled ? [] : nil }
        procedures[number]?.phase = .running
        let others = procedures.keys.filter { $0 != number && procedures[$0]?.place == place }
        for other in others { procedures[other]?.phase = .cancelled }
        return others
    }

    func isCancelled(_ number: Number) -> Bool {
        procedures[number]?.phase == .cancelled
    }

    /// Takes note that the response is about to be sent, unless the procedure was cancelled.
    mutating func respond(_ number: Number) -> Bool {
        guard procedures[number]?.phase == .running else { return false }
        procedures[number]?.phase = .responding
        return true
    }

    /// Takes note that the procedure has ended, or does not begin.
    mutating func end(_ number: Number) {
        unanswered.remove(number)
        procedures[number] = nil
    }

    /// Cancels procedures; tells which.
    mutating func cancel(where isOver: (Place) -> Bool) -> [Number] {
        let cancelled = procedures.filter { isOver($0.value.place) }.map(\.key)
        for number in cancelled { procedures[number]?.phase = .cancelled }
        return cancelled
    }
}
