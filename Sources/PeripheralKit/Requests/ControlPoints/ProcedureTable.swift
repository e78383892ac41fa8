internal import PeripheralCore

/// Tracks the running procedures of control points, and decides whether a procedure can begin.
///
/// For each central and control point, the table contains at most one procedure, and one abort that ends this
/// procedure.
struct ProcedureTable {
    typealias Number = UInt64

    /// A control point and a central, which can have one procedure.
    struct Place: Hashable {
        let controlPoint: AttributeHandle
        let central: Central.ID
    }

    enum Admission: Equatable {
        /// The table accepts the request. The procedure begins after the request is answered.
        case admitted
        /// The table cannot accept the request yet. An earlier procedure for the same control point and the
        /// same central is about to end. Try again after the earlier procedure has ended.
        case delayed
        case refused
    }

    private enum Phase {
        /// The request that starts the procedure has not been answered yet.
        case admitted
        case running
        /// The control point sends the response of the procedure.
        case responding
        /// A cancelled procedure that has no further effect, but has not ended yet.
        case cancelled
    }

    private struct Procedure {
        let place: Place
        let isAbort: Bool
        var phase = Phase.admitted

        /// Whether the procedure is about to end.
        var isEnding: Bool { phase == .responding || phase == .cancelled }
    }

    private var procedures: [Number: Procedure] = [:]
    /// The requests that have not been answered yet, including requests that the table has not accepted.
    private var unanswered: Set<Number> = []
    private var nextNumber: Number = 0

    /// Returns the number of a new request.
    mutating func makeNumber() -> Number {
        defer { nextNumber += 1 }
        unanswered.insert(nextNumber)
        return nextNumber
    }

    /// Whether a procedure at this place has not ended.
    func isOccupied(_ place: Place) -> Bool {
        procedures.values.contains { $0.place == place }
    }

    /// Accepts the request for a procedure if the procedure can begin.
    ///
    /// A request that has already been answered is refused.
    mutating func admit(_ number: Number, at place: Place, isAbort: Bool) -> Admission {
        guard unanswered.contains(number) else { return .refused }
        let rivals = procedures.values.filter { $0.place == place && (!isAbort || $0.isAbort) }
        guard rivals.isEmpty else {
            return rivals.allSatisfy(\.isEnding) ? .delayed : .refused
        }
        procedures[number] = Procedure(place: place, isAbort: isAbort)
        return .admitted
    }

    /// Begins a procedure, because its request has been answered.
    ///
    /// - Parameters:
    ///   - number: The number of the request.
    ///   - evenIfCancelled: Whether a cancelled procedure also begins. The procedure stays cancelled.
    /// - Returns: The procedures that this procedure ends. The returned procedures must end before this
    ///   procedure begins. The result is `nil` if this procedure does not begin.
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

    /// Records that the response is about to be sent.
    ///
    /// The function returns `false` if the procedure was cancelled.
    mutating func respond(_ number: Number) -> Bool {
        guard procedures[number]?.phase == .running else { return false }
        procedures[number]?.phase = .responding
        return true
    }

    /// Removes a procedure that has ended or does not begin.
    mutating func end(_ number: Number) {
        unanswered.remove(number)
        procedures[number] = nil
    }

    /// Cancels procedures and returns their numbers.
    mutating func cancel(where isOver: (Place) -> Bool) -> [Number] {
        let cancelled = procedures.filter { isOver($0.value.place) }.map(\.key)
        for number in cancelled { procedures[number]?.phase = .cancelled }
        return cancelled
    }
}
