internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

/// Which indications are still to be confirmed.
extension Centrals {
    /// What has not come this long after 30 s, when bluetoothd disconnects a central that has not confirmed, does not
    /// come any more.
    private static let lateness = Duration.seconds(1)

    /// Also of an update that nobody waits for: its confirmations come nevertheless, and do not tell of which update
    /// they are.
    func expectConfirmation(
        of update: Update,
        from sources: [Confirmations.Source: Int],
        lacking failure: PeripheralError? = nil
    ) {
        guard characteristics[update.characteristic]?.isIndicated == true else { return }
        confirmations.sent(update.awaitsConfirmation ? update.id : nil, awaiting: sources, lacking: failure)
    }

    /// Ends an update that nobody waits for, once its confirmation cannot come any more.
    nonisolated func abandon(_ update: Update.ID) {
        connection.loop.execute { self.assumeIsolated { $0.giveUp(update) } }
    }

    private func giveUp(_ update: Update.ID) {
        guard confirmations.doubt(update) else { return }
        _ = connection.loop.schedule(after: Self.lateness) { [weak self] in
            self?.assumeIsolated { $0.end($0.confirmations.giveUp(update)) }
        }
    }

    /// Takes note that some central has confirmed an indication, or is gone.
    func confirmed(_ characteristic: AttributeHandle) {
        end(confirmations.confirmed(.call(characteristic)))
    }

    func end(_ ends: [Confirmations.End]) {
        for end in ends {
            if case .delivered = end.outcome { arrived(end.update) }
        }
        for end in ends { report(.updateEnded(end.update, end.outcome)) }
        if !confirmations.isAnyMissing { allConfirmed?() }
    }

    /// Sends nothing any more, and waits until bluetoothd awaits no confirmation, or for some time at most.
    ///
    /// bluetoothd uses freed memory when a confirmation comes, or its central leaves, after the application is
    /// withdrawn (`conf_cb` and `sock_io_conf` in gatt-database.c). Where centrals may choose between notifications and
    /// indications, it may be that none is to come.
    func untilConfirmed(within limit: Duration, by clock: any Clock<Duration>) async {
        isEnding = true
        guard confirmations.isAnyMissing else { return }
        let (confirmed, confirm) = AsyncStream.makeStream(of: Void.self)
        allConfirmed = { confirm.finish() }
        await withTaskGroup { group in
            group.addTask { for await _ in confirmed {} }
            group.addTask { try? await clock.sleep(for: limit) }
            await group.next()
            group.cancelAll()
        }
        allConfirmed = nil
    }
}
