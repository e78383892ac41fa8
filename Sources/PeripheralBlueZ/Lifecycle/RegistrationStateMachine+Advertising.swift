internal import PeripheralCore
internal import PeripheralKit

extension RegistrationStateMachine {
    /// What is advertised, and what is to be: each advertisement by its number, which is its place in what the program
    /// demands.
    struct Advertising: Equatable {
        /// What the program wants.
        private(set) var advertisements: [Advertisement]
        /// The numbers of those whose time is over.
        private(set) var ended: Set<Int>
        /// What bluetoothd has.
        private(set) var registered: [Int: Advertisement] = [:]
        /// Of these, what is to be registered anew.
        private var outdated: Set<Int> = []
        /// What could not be registered, until that is tried again.
        var refusals: [Int: Failure] = [:]
        /// How many centrals are there.
        var connections = 0
        /// The numbers of all that bluetoothd was ever asked for.
        private(set) var attempted: Set<Int> = []
        /// What bluetoothd has been asked for and not yet answered.
        private var underWay: Set<Int> = []
        private var demand: Demand?
        private var outcome: Outcome?

        /// What was the case before the program has demanded something else.
        private struct Demand: Equatable {
            var formerAdvertisements: [Advertisement]
            var formerEnded: Set<Int>

            /// Whether what is advertised under a number is new with the demand.
            func brings(_ values: [Int: Advertisement]) -> (_ number: Int) -> Bool {
                { number in
                    guard formerAdvertisements.indices.contains(number) else { return true }
                    return formerEnded.contains(number) || formerAdvertisements[number] != values[number]
                }
            }
        }

        private enum Outcome: Equatable {
            case done
            case refused(Failure)
        }

        init(of advertisements: [Advertisement], ended: Set<Int>) {
            self.advertisements = advertisements
            self.ended = ended
        }
    }
}

extension RegistrationStateMachine.Advertising {
    typealias Failure = RegistrationStateMachine.Failure

    // MARK: What is to be done

    /// What has to be on the air now.
    var wanted: [Int: Advertisement] {
        var wanted: [Int: Advertisement] = [:]
        for (number, advertisement) in advertisements.enumerated() where !ended.contains(number) {
            if advertisement.whileConnected == .pause, connections > 0 { continue }
            wanted[number] = advertisement
        }
        return wanted
    }

    /// What is registered and must not be, or not like that.
    var superfluous: Set<Int> {
        let wanted = wanted
        return Set(registered.keys.filter { outdated.contains($0) || wanted[$0] == nil })
    }

    /// What is not registered, and was not refused.
    var missing: [Int: Advertisement] {
        wanted.filter { registered[$0.key] == nil && refusals[$0.key] == nil }
    }

    /// What is registered as something else.
    var changed: [Int: Advertisement] {
        wanted.filter { registered[$0.key] != nil && registered[$0.key] != $0.value }
    }

    /// Whether there is anything to advertise, now or when the centrals are gone.
    var isAnythingMeant: Bool {
        advertisements.indices.contains { !ended.contains($0) }
    }

    var isNothingRegistered: Bool { registered.isEmpty }

    /// Why what comes first of what is refused is so.
    var firstRefusal: Failure? {
        refusals.min { $0.key < $1.key }?.value
    }

    // MARK: What becomes of it

    mutating func begin(with values: [Int: Advertisement]) {
        underWay = Set(values.keys)
        attempted.formUnion(underWay)
        outdated.subtract(underWay)
    }

    /// Takes note of what bluetoothd has answered.
    mutating func note(_ values: [Int: Advertisement], refused: [Int: Failure]) {
        underWay = []
        for (number, value) in values {
            registered[number] = refused[number] == nil && refusals[number] == nil ? value : nil
        }
        // What is not wanted any more may be refused.
        let refused = refused.filter { number, _ in
            advertisements.indices.contains(number) && advertisements[number] == values[number]
        }
        if let demand, let number = refused.keys.inOrder().first(where: demand.brings(values)) {
            (advertisements, ended) = (demand.formerAdvertisements, demand.formerEnded)
            refusals = [:]
            self.demand = nil
            outcome = refused[number].map { .refused($0) }
        } else {
            refusals.merge(refused) { $1 }
        }
    }

    mutating func noteWithdrawn(_ numbers: Set<Int>) {
        for number in numbers { registered[number] = nil }
        outdated.subtract(numbers)
    }

    /// What is on the air, or on its way there, is to be registered anew.
    mutating func outdateAll() {
        outdated.formUnion(registered.keys)
        outdated.formUnion(underWay)
    }

    /// Whether bluetoothd drops it after a time, for good.
    func endsByItself(_ number: Int) -> Bool {
        advertisements.indices.contains(number) && advertisements[number].timeout != nil
    }

    /// The time of an advertisement is over; the others stay as they are.
    mutating func end(_ number: Int) {
        ended.insert(number)
        registered[number] = nil
    }

    /// Takes note that bluetoothd has dropped one that it has, or has just been asked for.
    ///
    /// - Returns: Whether there was one.
    mutating func noteLost(_ number: Int, because failure: Failure) -> Bool {
        guard registered[number] != nil || underWay.contains(number) else { return false }
        registered[number] = nil
        if !outdated.contains(number) { refusals[number] = failure }
        return true
    }

    // MARK: What the program demands

    mutating func demand(_ new: [Advertisement], restarted: Set<Int>) {
        demand = Demand(formerAdvertisements: advertisements, formerEnded: ended)
        ended = ended.filter { number in
            // With another time, it begins anew.
            new.indices.contains(number) && !restarted.contains(number)
                && new[number].timeout == advertisements[number].timeout
        }
        advertisements = new
        refusals = [:]
    }

    /// All is done that could be for what was demanded.
    mutating func completeDemand() {
        guard demand != nil else { return }
        demand = nil
        outcome = .done
    }

    /// What has become of the last demand, once.
    mutating func takeOutcome() -> Result<Void, Failure>? {
        switch outcome.take() {
        case nil: nil
        case .done: .success(())
        case .refused(let failure): .failure(failure)
        }
    }
}
