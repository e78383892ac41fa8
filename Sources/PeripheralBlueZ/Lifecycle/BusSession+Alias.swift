internal import Logging
internal import PeripheralDBus

extension BusSession {
    /// Gives the adapter the name of the peripheral, unless the alias was chosen otherwise.
    ///
    /// A failure does not prevent the publication.
    func claimAlias(of adapter: ObjectPath, by managers: AdapterManagers, for supervisor: Supervisor)
        async throws
    {
        guard let wanted = supervisor.wantedAlias,
            let alias = AdapterAlias(
                try await managers.properties(of: BlueZ.adapter),
                own: supervisor.ownAlias
            )
        else { return }
        let claim = alias.claim(of: wanted)
        guard claim != .unnecessary else { return }
        var reason = "a person or another peripheral has chosen it ('bluetoothctl reset-alias' removes it)"
        if claim == .possible {
            let others: Int? = try await managers.properties(of: BlueZ.advertisingManager)["ActiveInstances"]?
                .integer()
            if others ?? 0 == 0 || alias.isOwn {
                // A later run must recognize the alias, even if the program is killed meanwhile.
                supervisor.keepAlias(wanted)
                guard let refusal = try await setAlias(wanted, of: adapter) else { return }
                supervisor.keepAlias(alias.isOwn ? alias.own : nil)
                reason = "bluetoothd refuses to change it (\(refusal))"
            } else {
                reason = "another program advertises"
            }
        }
        supervisor.log.report(
            .alias,
            .notice,
            """
            Centrals read the name '\(alias.alias)' of the adapter instead of '\(wanted)', because \(reason). \
            AdapterSettings(alias:) determines the name.
            """
        )
    }

    /// Gives the adapter the new name of the peripheral, if it has the former one.
    func renewAlias(of adapter: ObjectPath, by managers: AdapterManagers, for supervisor: Supervisor)
        async throws
    {
        guard let own = supervisor.ownAlias, own != supervisor.wantedAlias else { return }
        try await claimAlias(of: adapter, by: managers, for: supervisor)
    }

    /// Removes the alias, if it is still the one that the peripheral has chosen.
    func releaseAlias(of adapter: ObjectPath, by managers: AdapterManagers, for supervisor: Supervisor)
        async throws
    {
        guard let own = supervisor.ownAlias else { return }
        let isOwn: @Sendable () async throws -> Bool = {
            AdapterAlias(try await managers.properties(of: BlueZ.adapter), own: own)?.isOwn == true
        }
        if try await isOwn() {
            // bluetoothd reports the name when the kernel has it. The next run would mistake the alias.
            let isRemoved = try await connection.changeAdapter(adapter) {
                try await setAlias("", of: adapter) == nil
            } until: {
                try await !isOwn()
            }
            guard isRemoved else { return }
        }
        supervisor.keepAlias(nil)
    }

    /// Sets the alias; an empty one restores the name of the adapter.
    ///
    /// - Returns: The refusal of bluetoothd, or of the policy of the bus.
    private func setAlias(_ alias: String, of adapter: ObjectPath) async throws(BusError) -> String? {
        do throws(BusError) {
            try await set("Alias", .string(alias), of: adapter)
            return nil
        } catch .remote(let name, _) {
            return name
        }
    }
}

extension BusConnection {
    /// Changes an adapter, and waits until signals of the adapter lead to the end of the change.
    ///
    /// The wait is limited, because bluetoothd may hang.
    ///
    /// - Returns: Whether bluetoothd accepts the change.
    fileprivate func changeAdapter(
        _ adapter: ObjectPath,
        by change: @Sendable () async throws -> Bool,
        until isDone: @Sendable () async throws -> Bool
    ) async throws -> Bool {
        let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let rule = MatchRule(
            sender: BlueZ.name,
            path: adapter,
            interface: .properties,
            member: "PropertiesChanged",
            firstArgument: BlueZ.adapter.text
        )
        let subscription = try await subscribe(to: rule) { _ in signal.yield() }
        defer { unsubscribe(subscription) }
        let limit = loop.schedule(after: AdapterManagers.endTimeout) { signal.finish() }
        defer { limit.cancel() }
        guard try await change() else { return false }
        guard try await !isDone() else { return true }
        for await _ in signals where try await isDone() { break }
        return true
    }
}
