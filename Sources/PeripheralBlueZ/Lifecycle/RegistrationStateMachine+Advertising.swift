internal import PeripheralCore
internal import PeripheralKit

extension RegistrationStateMachine {
    /// The registered and the wanted advertisements, by number.
    ///
    /// The number of an advertisement is its position in the program's list.
    struct Advertising {
        /// The advertisements that the program requests.
        private(set) var advertisements: [Advertisement]
        /// The numbers of the advertisements whose timeout has passed.
        private(set) var ended: Set<Int>
        /// The advertisements that bluetoothd has registered.
        private(set) var registered: [Int: Advertisement] = [:]
        /// The numbers of registered advertisements that must be registered again.
        private var outdated: Set<Int> = []
        /// The failures of advertisements that could not be registered, until the next attempt.
        var refusals: [Int: Failure] = [:]
        /// The number of connected centrals.
        var connections = 0
        /// The numbers of all advertisements that were registered or tried at any time.
        private(set) var attempted: Set<Int> = []
        /// The numbers of advertisements whose registration bluetoothd has not answered yet.
        private var registering: Set<Int> = []
        private var demand: Demand?
        private var outcome: Result<Void, Failure>?

        /// The state before the program changed the advertisements.
        private struct Demand {
            var formerAdvertisements: [Advertisement]
            var formerEnded: Set<Int>

            /// Returns a predicate for the numbers of advertisements that are new with the change.
            func brings(_ values: [Int: Advertisement]) -> (_ number: Int) -> Bool {
                { number in
                    guard formerAdvertisements.indices.contains(number) else { return true }
                    return formerEnded.contains(number) || formerAdvertisements[number] != values[number]
                }
            }
        }

        init(of advertisements: [Advertisement], ended: Set<Int>) {
            self.advertisements = advertisements
            self.ended = ended
        }
    }
}

extension RegistrationStateMachine.Advertising {
    typealias Failure = RegistrationStateMachine.Failure

    // MARK: Next steps

    /// The advertisements that must be on the air now.
    var wanted: [Int: Advertisement] {
        var wanted: [Int: Advertisement] = [:]
        for (number, advertisement) in advertisements.enumerated() where !ended.contains(number) {
            if advertisement.whileConnected == .pause, connections > 0 { continue }
            wanted[number] = advertisement
        }
        return wanted
    }

    /// The numbers of registered advertisements that must not be registered, or are outdated.
    var superfluous: Set<Int> {
        let wanted = wanted
        return Set(registered.keys.filter { outdated.contains($0) || wanted[$0] == nil })
    }

    /// The advertisements that are neither registered nor refused.
    var missing: [Int: Advertisement] {
        wanted.filter { registered[$0.key] == nil && refusals[$0.key] == nil }
    }

    /// The advertisements that are registered with different content.
    var changed: [Int: Advertisement] {
        wanted.filter { registered[$0.key] != nil && registered[$0.key] != $0.value }
    }

    /// Whether there is any advertisement, now or after the centrals have disconnected.
    var isAnythingMeant: Bool {
        advertisements.indices.contains { !ended.contains($0) }
    }

    var isNothingRegistered: Bool { registered.isEmpty }

    /// The failure of the first refused advertisement.
    var firstRefusal: Failure? {
        refusals.min { $0.key < $1.key }?.value
    }

    // MARK: Outcomes

    mutating func begin(with values: [Int: Advertisement]) {
        registering = Set(values.keys)
        attempted.formUnion(registering)
        outdated.subtract(registering)
    }

    /// Records bluetoothd's answers.
    mutating func note(_ values: [Int: Advertisement], refused: [Int: Failure]) {
        registering = []
        for (number, value) in values {
            registered[number] = refused[number] == nil && refusals[number] == nil ? value : nil
        }
        // A refusal of an advertisement that is no longer wanted does not matter.
        let refused = refused.filter { number, _ in
            advertisements.indices.contains(number) && advertisements[number] == values[number]
        }
        if let demand, let number = refused.keys.inOrder().first(where: demand.brings(values)) {
            (advertisements, ended) = (demand.formerAdvertisements, demand.formerEnded)
            refusals = [:]
            self.demand = nil
            outcome = refused[number].map { .failure($0) }
        } else {
            refusals.merge(refused) { $1 }
        }
    }

    mutating func noteWithdrawn(_ numbers: Set<Int>) {
        for number in numbers { registered[number] = nil }
        outdated.subtract(numbers)
    }

    /// Marks all registered advertisements to be registered again, including advertisements in registration.
    mutating func outdateAll() {
        outdated.formUnion(registered.keys)
        outdated.formUnion(registering)
    }

    /// Returns whether bluetoothd permanently drops the advertisement after a timeout.
    func endsByItself(_ number: Int) -> Bool {
        advertisements.indices.contains(number) && advertisements[number].timeout != nil
    }

    /// Records that the timeout of an advertisement has passed; the other advertisements do not change.
    mutating func end(_ number: Int) {
        ended.insert(number)
        registered[number] = nil
    }

    /// Records that bluetoothd has dropped an advertisement that was registered or in registration.
    ///
    /// - Returns: Whether there was such an advertisement.
    mutating func noteLost(_ number: Int, because failure: Failure) -> Bool {
        guard registered[number] != nil || registering.contains(number) else { return false }
        registered[number] = nil
        if !outdated.contains(number) { refusals[number] = failure }
        return true
    }

    // MARK: Changes by the program

    mutating func demand(_ new: [Advertisement], restarted: Set<Int>) {
        demand = Demand(formerAdvertisements: advertisements, formerEnded: ended)
        ended = ended.filter { number in
            // An advertisement with a different timeout begins again.
            new.indices.contains(number) && !restarted.contains(number)
                && new[number].timeout == advertisements[number].timeout
        }
        advertisements = new
        refusals = [:]
    }

    /// Completes the change because every possible step is done.
    mutating func completeDemand() {
        guard demand != nil else { return }
        demand = nil
        outcome = .success(())
    }

    /// Returns the outcome of the last change, once.
    mutating func takeOutcome() -> Result<Void, Failure>? { outcome.take() }
}
