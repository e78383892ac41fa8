internal import PeripheralCore
internal import PeripheralKit

extension ATTServerState {
    /// A change of a subscription, and the application to which it is reported.
    typealias ReportedChange = (ApplicationID, SubscriptionChange)

    /// Adds a connection.
    ///
    /// - Returns: The subscriptions of a bonded central that resume, and the Service Changed indication that
    ///   it missed.
    mutating func open(_ id: ConnectionID, central: Central, security: SecurityLevel) -> (
        [ReportedChange], [Delivery]
    ) {
        connections[id] = Connection(central: central, security: security)
        let missed = devices[central.linkAddress, default: Device()].missedChange
        devices[central.linkAddress, default: Device()].missedChange = nil
        let resumed = changes(of: central) { configuration in (0, configuration, .resumed) }
        return (resumed, missed.map { serviceChanges(of: $0).filter { $0.connection == id } } ?? [])
    }

    /// Removes a connection.
    ///
    /// - Parameters:
    ///   - id: The connection.
    ///   - isBonded: Whether the central is bonded, so its configurations persist.
    /// - Returns: The subscriptions that end with it, or are suspended.
    mutating func close(_ id: ConnectionID, isBonded: Bool) -> [ReportedChange] {
        guard let connection = connections.removeValue(forKey: id) else { return [] }
        let lost = changes(of: connection.central, \.lostConfigurations) { configuration in
            (configuration, 0, .ended)
        }
        devices[connection.central.linkAddress]?.lostConfigurations = [:]
        guard isBonded else { return lost + removeDevice(connection.central) }
        let address = connection.central.linkAddress
        for handle in devices[address]?.movedConfigurations ?? [] {
            devices[address]?.configurations[handle] = nil
        }
        devices[address]?.movedConfigurations = []
        return lost + changes(of: connection.central) { configuration in (configuration, 0, .suspended) }
    }

    /// Limits the configurations of a connected central to its connection, because it has revealed its
    /// identity address.
    ///
    /// If the identity address is random, they cause no updates any more.
    mutating func identify(_ central: Central) {
        guard let configurations = devices[central.linkAddress]?.configurations else { return }
        if central.addressKind == .random {
            devices[central.linkAddress]?.lostConfigurations = configurations
            devices[central.linkAddress]?.configurations = [:]
        } else {
            devices[central.linkAddress]?.movedConfigurations = Set(configurations.keys)
        }
    }

    /// Removes the configurations of a central that is not connected.
    ///
    /// - Returns: The subscriptions that end.
    mutating func removeDevice(_ central: Central) -> [ReportedChange] {
        let ended = changes(of: central) { configuration in (configuration, 0, .ended) }
        devices[central.linkAddress] = nil
        return ended
    }

    /// The changes to report for all configurations of a central, in the order of the handles.
    private func changes(
        of central: Central,
        _ configurations: (Device) -> [AttributeHandle: UInt16] = \.configurations,
        _ change: (UInt16) -> (from: UInt16, to: UInt16, cause: SubscriptionChange.Cause)
    ) -> [ReportedChange] {
        let configurations = devices[central.linkAddress].map(configurations) ?? [:]
        return configurations.sorted { $0.key < $1.key }.compactMap { handle, configuration in
            guard let (application, local) = database.application(of: handle) else { return nil }
            let (from, to, cause) = change(configuration)
            return (
                application,
                SubscriptionChange(characteristic: local, central: central, from: from, to: to, cause: cause)
            )
        }
    }

    // MARK: Bonds

    /// The Service Changed configuration of a central, which survives a restart of bluetoothd for a bonded
    /// central.
    func serviceChangedConfiguration(of address: DeviceAddress) -> UInt16 {
        devices[address]?.configurations[database.serviceChanged] ?? 0
    }

    /// Restores the Service Changed configuration and records that all services may have changed.
    mutating func restoreServiceChanged(_ configuration: UInt16, of address: DeviceAddress) {
        guard configuration != 0 else { return }
        let everything = AttributeHandle(rawValue: 0x0001)...AttributeHandle(rawValue: 0xFFFF)
        devices[address] = Device(
            configurations: [database.serviceChanged: configuration],
            missedChange: everything
        )
    }

    // MARK: Services

    /// - Returns: The handles of the added services.
    mutating func add(
        _ table: AttributeTable,
        of application: ApplicationID,
        authorizing attributes: Set<AttributeHandle>,
        at starts: [Int: AttributeHandle],
        asBluetoothd: Bool
    ) throws(AttributeTableError) -> [ClosedRange<AttributeHandle>] {
        try database.add(
            table,
            of: application,
            authorizing: attributes,
            at: starts,
            asBluetoothd: asBluetoothd
        )
    }

    /// - Returns: The handles of the removed services.
    mutating func remove(_ application: ApplicationID) -> [ClosedRange<AttributeHandle>] {
        let removed = database.remove(application)
        forget(removed)
        return removed
    }

    /// Removes the service of an application that begins at a handle of the application's own table.
    ///
    /// - Returns: The handles of the service; `nil` if there is no such service.
    mutating func removeService(
        at local: AttributeHandle,
        of application: ApplicationID
    ) -> ClosedRange<AttributeHandle>? {
        let removed = database.removeService(at: local, of: application)
        if let removed { forget([removed]) }
        return removed
    }

    /// Removes the configurations and authorizations of attributes that no longer exist.
    private mutating func forget(_ removed: [ClosedRange<AttributeHandle>]) {
        devices = devices.mapValues { device in
            var device = device
            device.configurations = device.configurations.filter { handle, _ in
                !removed.contains { $0.contains(handle) }
            }
            return device
        }
        authorized = authorized.filter { handle in !removed.contains { $0.contains(handle) } }
    }
}
