internal import PeripheralCore

extension RegistrationStateMachine {
    /// The registered and the wanted services.
    struct Services {
        private(set) var wanted: GroupedServices
        private(set) var registered: GroupedServices = [:]
        /// The failures of groups that bluetoothd has refused, until the next attempt.
        var refusals: [Int: Failure] = [:]
        /// The wanted services before the program changed them.
        private var former: GroupedServices?
        private var outcome: Result<Void, Failure>?

        init(of wanted: GroupedServices) {
            self.wanted = wanted
        }
    }
}

extension RegistrationStateMachine.Services {
    typealias Failure = RegistrationStateMachine.Failure

    // MARK: Next steps

    /// The groups that are neither registered nor refused.
    var missing: GroupedServices {
        wanted.filter { registered[$0.key] == nil && refusals[$0.key] == nil }
    }

    /// The registered services that are not wanted.
    var superfluous: GroupedServices {
        var superfluous: GroupedServices = [:]
        for (group, services) in registered {
            let rest = services.subtracting(wanted[group] ?? [])
            if !rest.isEmpty { superfluous[group] = rest }
        }
        return superfluous
    }

    // MARK: Outcomes

    /// Records bluetoothd's answers.
    ///
    /// If bluetoothd has refused a group that is new with the change of the program, the services before the
    /// change are wanted again. All other refused groups are tried again later.
    mutating func note(_ groups: GroupedServices, refused: [Int: Failure]) {
        registered.merge(groups.filter { refused[$0.key] == nil }) { $1 }
        if let former, let new = refused.keys.inOrder().first(where: { former[$0] == nil }) {
            wanted = former
            self.former = nil
            outcome = refused[new].map { .failure($0) }
        }
        refusals = refusals.merging(refused) { $1 }.filter { wanted[$0.key] != nil }
    }

    mutating func noteWithdrawn(_ services: GroupedServices) {
        for (group, withdrawn) in services {
            let rest = (registered[group] ?? []).subtracting(withdrawn)
            registered[group] = rest.isEmpty ? nil : rest
        }
    }

    // MARK: Changes by the program

    mutating func demand(_ new: GroupedServices) {
        former = wanted
        wanted = new
    }

    /// Completes the change because every possible step is done.
    mutating func completeDemand() {
        guard former != nil else { return }
        former = nil
        outcome = .success(())
    }

    /// Returns the outcome of the last change, once.
    mutating func takeOutcome() -> Result<Void, Failure>? { outcome.take() }
}
