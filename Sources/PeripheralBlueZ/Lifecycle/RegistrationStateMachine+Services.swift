internal import PeripheralCore

extension RegistrationStateMachine {
    /// The registered and the wanted services.
    struct Services {
        private(set) var wanted: GroupedServices
        private(set) var registered: GroupedServices = [:]
        /// The groups that bluetoothd has refused.
        ///
        /// They are registered again with the next registration, and not before. Each attempt makes
        /// bluetoothd indicate Service Changed and use up handles, because it checks handles.
        private var refused: Set<Int> = []
        /// The wanted services before the program changed them.
        private var former: GroupedServices?
        /// The groups of the change that stay wanted even if bluetoothd refuses them.
        private var returning: Set<Int> = []
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
        wanted.filter { registered[$0.key] == nil && !refused.contains($0.key) }
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
    /// change are wanted again. All other refused groups stay wanted.
    mutating func note(_ groups: GroupedServices, refused failures: [Int: Failure]) {
        registered.merge(groups.filter { failures[$0.key] == nil }) { $1 }
        refused.formUnion(failures.keys)
        guard let former else { return }
        let new = failures.keys.inOrder().first { former[$0] == nil && !returning.contains($0) }
        guard let new else { return }
        wanted = former
        self.former = nil
        outcome = failures[new].map { .failure($0) }
    }

    mutating func noteWithdrawn(_ services: GroupedServices) {
        for (group, withdrawn) in services {
            let rest = (registered[group] ?? []).subtracting(withdrawn)
            registered[group] = rest.isEmpty ? nil : rest
        }
    }

    // MARK: Changes by the program

    mutating func demand(_ new: GroupedServices, returning: Set<Int>) {
        former = wanted
        wanted = new
        self.returning = returning
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
