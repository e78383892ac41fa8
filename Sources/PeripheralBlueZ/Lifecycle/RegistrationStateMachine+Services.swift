internal import PeripheralCore

extension RegistrationStateMachine {
    /// The registered and the wanted services.
    struct Services {
        private(set) var wanted: GroupedServices
        private(set) var registered: GroupedServices = [:]
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

    /// The groups that are not registered.
    var missing: GroupedServices { wanted.filter { registered[$0.key] == nil } }

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

    mutating func noteRegistered(_ groups: GroupedServices) {
        registered.merge(groups) { $1 }
    }

    mutating func noteWithdrawn(_ services: GroupedServices) {
        for (group, withdrawn) in services {
            let rest = (registered[group] ?? []).subtracting(withdrawn)
            registered[group] = rest.isEmpty ? nil : rest
        }
    }

    /// Returns to the services before the change, because bluetoothd has refused the new ones.
    mutating func refuse(_ failure: Failure) {
        if let former { wanted = former }
        former = nil
        outcome = .failure(failure)
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
