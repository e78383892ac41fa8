internal import PeripheralCore
private import Synchronization

/// Who has subscribed, who comes and goes, and who is expected.
extension Preservation {
    /// Takes note of a subscription.
    ///
    /// - Returns: Whom the program is to be told of.
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

    /// Takes note that a connected central has to subscribe anew.
    func lost(_ central: DeviceAddress, from characteristic: AttributeHandle) {
        changeSubscribers { $0.history.lost(central, from: characteristic) }
    }

    func disconnected(_ central: DeviceAddress) {
        changeSubscribers { $0.history.disconnected(central) }
    }

    func suspended() {
        changeSubscribers { $0.history.suspended() }
    }

    /// Takes note of what is known of a central, which may have shown its lasting address.
    ///
    /// - Parameters:
    ///   - central: The central.
    ///   - former: The address by which it was known.
    /// - Returns: Whom the program is to be told of.
    func connected(_ central: Central, formerly former: DeviceAddress?) -> [RestoredSubscriber] {
        noteSubscribers { state in
            var told: [RestoredSubscriber] = []
            if let former, former != central.address {
                told = state.history.moved(from: former, to: central)
                state.outbox.move(from: former, to: central.address)
            }
            return told + state.history.changed(central)
        }
    }

    /// Takes note of who is bonded.
    func bonded(_ centrals: [Central]) {
        let addresses = Set(centrals.map(\.address))
        changeSubscribers { $0.history.bonded(addresses) }
    }

    /// Keeps who has subscribed as it is, since the session is over.
    func freezeSubscribers() {
        state.withLock { $0.isFrozen = true }
    }

    /// Changes who has subscribed, and tells the program what follows from that.
    func changeSubscribers(_ change: (inout State) -> [RestoredSubscriber]) {
        for subscriber in noteSubscribers(change) { tell(.restoredSubscriberChanged(subscriber)) }
    }

    private func noteSubscribers(
        _ change: (inout State) -> [RestoredSubscriber]
    ) -> [RestoredSubscriber] {
        let maximum = PreservedSchema.maximumSubscribers
        let (told, isOverflowing) = state.withLock { state -> ([RestoredSubscriber], Bool) in
            guard !state.isFrozen else { return ([], false) }
            let former = state.history.preserved
            let told = change(&state)
            let present = state.history.preserved
            guard present != former else { return (told, false) }
            state.outbox.keep(
                Set(present.map { Outbox.Key(characteristic: $0.characteristic, address: $0.address) })
            )
            saver.changed()
            return (told, former.count <= maximum && maximum < present.count)
        }
        if isOverflowing {
            let error = RestorationError(
                code: .tooLarge,
                message: "There are more than \(maximum) subscriptions; "
                    + "those that came last are not preserved."
            )
            tell(.restorationFailed(RestorationProblem(.save, error)))
        }
        saver.wake()
        // Nobody waits for who is gone.
        outboxChanges.send(())
        return told
    }
}
