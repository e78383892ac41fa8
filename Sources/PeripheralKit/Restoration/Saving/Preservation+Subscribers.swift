internal import PeripheralCore
private import Synchronization

/// Subscribers, connected and expected.
extension Preservation {
    /// Handles a subscription.
    ///
    /// - Returns: The changed subscribers to report to the program.
    func subscribed(_ subscription: Subscription) -> [RestoredSubscriber] {
        guard let central = subscription.central else { return [] }
        let time = wallClock()
        return noteSubscribers {
            $0.history.subscribed(central, to: subscription.handle, kind: subscription.kind, at: time)
        }
    }

    func unsubscribed(_ central: DeviceAddress?, from characteristic: AttributeHandle) {
        changeSubscribers { $0.history.unsubscribed(central, from: characteristic) }
    }

    /// Records that a connected central must subscribe again.
    func lost(_ central: DeviceAddress, from characteristic: AttributeHandle) {
        changeSubscribers { $0.history.lost(central, from: characteristic) }
    }

    func disconnected(_ central: DeviceAddress) {
        changeSubscribers { $0.history.disconnected(central) }
    }

    func suspended() {
        changeSubscribers { $0.history.suspended() }
    }

    /// Updates the data of a central, whose identity address may be new.
    ///
    /// - Parameters:
    ///   - central: The central.
    ///   - former: The earlier address of the central.
    /// - Returns: The changed subscribers to report to the program.
    func connected(_ central: Central, formerly former: DeviceAddress?) -> [RestoredSubscriber] {
        noteSubscribers { state in
            var reported: [RestoredSubscriber] = []
            if let former, former != central.address {
                reported = state.history.moved(from: former, to: central)
                state.outbox.move(from: former, to: central.address)
            }
            return reported + state.history.changed(central)
        }
    }

    /// Updates which centrals are bonded.
    func bonded(_ centrals: [Central]) {
        let addresses = Set(centrals.map(\.address))
        changeSubscribers { $0.history.bonded(addresses) }
    }

    /// Preserves the present subscribers as they are, because the session is over.
    func freezeSubscribers() {
        state.withLock { $0.isFrozen = true }
    }

    /// Changes the subscribers and reports the effects to the program.
    func changeSubscribers(_ change: (inout State) -> [RestoredSubscriber]) {
        for subscriber in noteSubscribers(change) { report(.restoredSubscriberChanged(subscriber)) }
    }

    private func noteSubscribers(
        _ change: (inout State) -> [RestoredSubscriber]
    ) -> [RestoredSubscriber] {
        let maximum = PreservedSchema.maximumSubscribers
        let (reported, isOverflowing) = state.withLock { state -> ([RestoredSubscriber], Bool) in
            guard !state.isFrozen else { return ([], false) }
            let former = state.history.preserved
            let reported = change(&state)
            let present = state.history.preserved
            guard present != former else { return (reported, false) }
            state.outbox.keep(
                Set(present.map { Outbox.Key(characteristic: $0.characteristic, address: $0.address) })
            )
            saver.changed()
            return (reported, former.count <= maximum && maximum < present.count)
        }
        if isOverflowing {
            let error = RestorationError(
                code: .tooLarge,
                message: "There are more than \(maximum) subscriptions. "
                    + "The latest ones are not preserved."
            )
            report(.restorationFailed(RestorationProblem(.save, error)))
        }
        saver.wake()
        // Removed subscribers may have freed room for updates.
        outboxChanges.send(())
        return reported
    }
}
