package import PeripheralCore
package import PeripheralKit
internal import Synchronization

extension VirtualGATTServer {
    /// A function that receives the events of connections.
    ///
    /// The server calls it with its lock held, so that events are reported in order. The function must be
    /// quick and must not call the server.
    package typealias ConnectionObserver = @Sendable (ConnectionEvent) -> Void

    /// Adds an observer of connections.
    ///
    /// The observer first receives each central that is connected already.
    ///
    /// - Returns: The identifier with which the observer is removed.
    package func observeConnections(_ observer: @escaping ConnectionObserver) -> ConnectionObserverID {
        state.withLock { state in
            let id = ConnectionObserverID(number: state.makeNumber())
            state.observers.append((id, observer))
            for (_, connection) in state.att.connections.sorted(by: { $0.key < $1.key }) {
                observer(.connected(connection.central))
            }
            return id
        }
    }

    /// Removes an observer of connections.
    package func stopObserving(_ id: ConnectionObserverID) {
        state.withLock { state in state.observers.removeAll { $0.id == id } }
    }

    /// The MTUs that bluetoothd accepts, in bytes.
    package static let mtus = 23...517

    /// - Throws: ``TestCentralError`` with the code `invalidArgument` if no connection can have this MTU.
    package static func check(mtu: Int) throws(TestCentralError) {
        guard !mtus.contains(mtu) else { return }
        throw TestCentralError(
            code: .invalidArgument,
            message: "No connection has an MTU of \(mtu) bytes. Use an MTU from 23 to 517 bytes."
        )
    }

    /// Returns an address that no other central of this server has.
    package func makeCentralAddress() -> DeviceAddress {
        .virtualCentral(number: state.withLock { $0.makeNumber() })
    }

    /// Connects a central if a connectable advertisement is on the air.
    ///
    /// - Parameters:
    ///   - central: The central.
    ///   - security: The initial security of the link.
    ///   - key: The central's half of a bond; it encrypts the link if the server has the other half.
    ///   - link: The central's end of the connection.
    /// - Returns: The identifier of the connection.
    /// - Throws: ``TestCentralError`` with the code `notFound` when no connectable advertisement is on the
    ///   air.
    package func connect(
        _ central: Central,
        security: SecurityLevel = .open,
        key: BondKey? = nil,
        over link: any VirtualLink
    ) throws(TestCentralError) -> ConnectionID {
        try state.withLock { state throws(TestCentralError) in
            guard state.air.isConnectable else {
                throw TestCentralError(
                    code: .notFound,
                    message: absence ?? "No connectable advertisement is on the air."
                )
            }
            let id = ConnectionID(number: state.makeNumber())
            let bond = state.bonds[central.linkAddress].flatMap { key != nil && $0.key == key ? $0 : nil }
            let security = bond?.level ?? security
            state.links[id] = link
            state.capabilities[id] = state.capability
            if connectionsInterruptAdvertising { state.air.interrupt() }
            let central = central.known(by: state.bonds[central.linkAddress])
            let (resumed, missed) = state.att.open(id, central: central, security: security)
            state.report(.connected(central))
            if security != .open { state.report(.secured(central, security)) }
            state.report(resumed)
            deliver(missed, &state)
            return id
        }
    }

    /// Ends a connection with its prepared writes and pending requests.
    ///
    /// The subscriptions end as well, unless the central is bonded.
    package func disconnect(_ connection: ConnectionID, because reason: DisconnectionReason = .byThisDevice) {
        let (inquiries, pairing) = changeAir { state in
            let central = state.att.connections[connection]?.central
            let isBonded = central.map { state.bonds[$0.linkAddress] != nil } ?? false
            if let central, isBonded {
                state.bonds[central.linkAddress]?.serviceChanged =
                    state.att.serviceChangedConfiguration(of: central.linkAddress)
            }
            state.report(state.att.close(connection, isBonded: isBonded))
            var indications = state.indications.removeValue(forKey: connection)
            state.capabilities[connection] = nil
            for channel in state.channels.removeValue(forKey: connection) ?? [] { channel.end() }
            state.links.removeValue(forKey: connection)?.disconnected()
            state.air.resume()
            if let central { state.report(.disconnected(central, reason)) }
            // bluetoothd reports the end of the connection before it abandons the indications.
            for entry in indications?.takeAll() ?? [] { entry.completion(.disconnected) }
            state.reportSubscriptionsEnded()
            return (
                state.inquiries.values.filter { $0.connection == connection }.map(\.task),
                state.pairings.removeValue(forKey: connection)
            )
        }
        for task in inquiries {
            task.cancel()
        }
        pairing?.cancel()
    }

    /// Ends the connection of a central, if it is connected.
    package func disconnect(_ central: DeviceAddress) {
        let connection = state.withLock { state in
            state.att.connections.first { $0.value.central.linkAddress == central }?.key
        }
        if let connection { disconnect(connection) }
    }

    /// Ends all connections, like an adapter that is powered off.
    package func disconnectAll() {
        for connection in state.withLock({ $0.att.connections.keys.sorted() }) {
            disconnect(connection)
        }
    }

    /// The connected centrals.
    package var centrals: [Central] {
        state.withLock { state in
            state.att.connections.sorted { $0.key < $1.key }.map(\.value.central)
        }
    }

    /// The security of a central's link; `open` when there is none.
    package func security(of central: DeviceAddress) -> SecurityLevel {
        state.withLock { state in
            state.att.connections.values.first { $0.central.linkAddress == central }?.security ?? .open
        }
    }
}

extension DisconnectionReason {
    /// The reason that a controller reports after its host has disconnected.
    package static let byThisDevice = DisconnectionReason(code: 0x16)
}

extension Central {
    /// The Bluetooth address that the central uses for its connections.
    ///
    /// The server identifies the central by this address. `Central.address` can differ from this address
    /// after the central has revealed its identity address.
    package var linkAddress: DeviceAddress { id.address }

    /// Returns the central as the stack knows it: with the identity address of the bond, or else a random
    /// address.
    func known(by bond: Bond?) -> Central {
        Central(
            address: bond?.central.address ?? linkAddress,
            addressKind: bond?.central.addressKind ?? .random,
            isBonded: bond != nil,
            mtu: mtu,
            connectionParameters: connectionParameters,
            id: id
        )
    }
}

// MARK: - Links

extension VirtualGATTServer {
    /// The parameters with which a link begins.
    package static let firstParameters = ConnectionParameters(interval: .milliseconds(30))

    /// Asks a central for other parameters of its link.
    ///
    /// A central that agrees chooses the longest interval.
    ///
    /// - Returns: The parameters, or `nil` if the central refuses.
    /// - Throws: `PeripheralError` with the code `disconnected`.
    package func prefer(
        _ units: ConnectionPreference.Units,
        for central: Central.ID
    ) throws(PeripheralError) -> ConnectionParameters? {
        try state.withLock { state throws(PeripheralError) in
            let id = try state.connection(of: central)
            guard state.att.connections[id]?.isFlexible == true else { return nil }
            let parameters = ConnectionParameters(
                interval: .microseconds(1250) * Int(units.interval.upperBound),
                latency: Int(units.latency),
                supervisionTimeout: .milliseconds(10) * Int(units.supervisionTimeout)
            )
            state.change(id, to: parameters)
            return parameters
        }
    }

    /// The strength of a central's signal in dBm.
    ///
    /// - Throws: `PeripheralError` with the code `disconnected`.
    package func signalStrength(of central: Central.ID) throws(PeripheralError) -> Int {
        try state.withLock { state throws(PeripheralError) in
            state.att.connections[try state.connection(of: central)]?.signalStrength ?? 0
        }
    }

    /// Changes the parameters of a link, as its central decides.
    package func change(_ connection: ConnectionID, to parameters: ConnectionParameters) {
        state.withLock { $0.change(connection, to: parameters) }
    }

    /// Sets the strength of the central's signal in dBm.
    package func setSignalStrength(_ strength: Int, on connection: ConnectionID) {
        state.withLock { $0.att.connections[connection]?.signalStrength = strength }
    }

    /// Sets whether the central accepts other parameters of its link.
    package func setFlexible(_ isFlexible: Bool, on connection: ConnectionID) {
        state.withLock { $0.att.connections[connection]?.isFlexible = isFlexible }
    }
}

extension VirtualGATTServer.State {
    fileprivate func connection(of central: Central.ID) throws(PeripheralError) -> ConnectionID {
        guard let id = att.connections.first(where: { $0.value.central.id == central })?.key else {
            throw PeripheralError(code: .disconnected, message: "Central \(central) is not connected.")
        }
        return id
    }

    fileprivate mutating func change(_ id: ConnectionID, to parameters: ConnectionParameters) {
        guard var central = att.connections[id]?.central else { return }
        central.connectionParameters = parameters
        att.connections[id]?.central = central
        report(.changed(central))
    }
}

// MARK: - Pairing

extension VirtualGATTServer {
    /// How long a pairing waits for an answer (Core Specification, Vol 3, Part H, 3.4).
    static let pairingLimit: Duration = .seconds(30)

    /// Replaces the pairing agent; without an agent, centrals cannot pair.
    ///
    /// The agent's IO capability applies to connections made from now on, even after the agent is removed.
    /// Linux also copies it into each connection.
    package func setPairingAgent(_ agent: (any VirtualPairingAgent)?) {
        state.withLock { state in
            state.agent = agent
            if let agent { state.capability = agent.capability }
        }
    }

    /// Whether centrals may bond.
    package var isPairable: Bool {
        get { state.withLock { $0.isPairable } }
        set { state.withLock { $0.isPairable = newValue } }
    }

    /// Whether a central may prepare writes without the authorization that others need.
    package func isTrusted(_ central: DeviceAddress) -> Bool {
        state.withLock { $0.att.trusted.contains(central) }
    }

    /// Sets whether a central may prepare writes without the authorization that others need.
    package func setTrusted(_ central: DeviceAddress, _ isTrusted: Bool) {
        state.withLock { state in
            if isTrusted { state.att.trusted.insert(central) } else { state.att.trusted.remove(central) }
        }
    }

    /// The bonded centrals, in the order of their addresses.
    package var bondedCentrals: [Central] {
        state.withLock { state in
            state.bonds.sorted { $0.key < $1.key }.map(\.value.central)
        }
    }

    /// Deletes the bond with a central and ends its connection and its subscriptions.
    ///
    /// - Parameters:
    ///   - central: The central.
    ///   - leavesSubscriptions: Whether the subscriptions of a disconnected central remain, as on bluetoothd.
    package func forget(_ central: DeviceAddress, leavingSubscriptions leavesSubscriptions: Bool = false) {
        let bond = state.withLock { $0.bonds.removeValue(forKey: central) }
        let isAway = !centrals.contains { $0.linkAddress == central }
        disconnect(central)
        state.withLock { state in
            state.att.trusted.remove(central)
            if !isAway || !leavesSubscriptions {
                state.report(state.att.removeDevice(Central(address: central)))
                state.reportSubscriptionsEnded()
            }
            if let bond { state.report(.forgotten(bond.central)) }
        }
    }

    /// The value handles of the characteristics that cause updates for a central, or `nil` after the
    /// connection has ended.
    package func subscribedHandles(on connection: ConnectionID) -> Set<AttributeHandle>? {
        state.withLock { state in
            guard let central = state.att.connections[connection]?.central else { return nil }
            let configurations = state.att.devices[central.linkAddress]?.configurations ?? [:]
            return Set(configurations.filter { $0.value & 0b11 != 0 }.keys)
        }
    }

    /// Removes the subscriptions of centrals that were forgotten while they were disconnected.
    ///
    /// bluetoothd does this when it would send them a value.
    ///
    /// - Parameters:
    ///   - characteristic: The value handle in the application's own table.
    ///   - application: The application.
    package func dropForgottenSubscribers(of characteristic: AttributeHandle, in application: ApplicationID) {
        state.withLock { state in
            guard let handle = state.att.database.handle(of: characteristic, in: application) else { return }
            let connected = Set(state.att.connections.values.map(\.central.linkAddress))
            for address in state.att.devices.keys.sorted()
            where state.bonds[address] == nil && !connected.contains(address)
                && state.att.devices[address]?.configurations[handle] != nil
            {
                state.report(state.att.removeDevice(Central(address: address)))
                state.reportSubscriptionsEnded()
            }
        }
    }

    /// Deletes the bond with a central, cancels its pairing and ends its connection.
    ///
    /// It has no effect on a central that neither pairs nor is bonded.
    package func cancelPairing(of central: DeviceAddress) {
        let (connection, isBonded) = state.withLock { state in
            let connection = state.pairings.keys.first {
                state.att.connections[$0]?.central.linkAddress == central
            }
            return (connection, state.bonds[central] != nil)
        }
        if isBonded {
            forget(central)
        } else if let connection {
            disconnect(connection)
        }
    }

    /// Encrypts a connection with the keys of a bond.
    ///
    /// - Parameters:
    ///   - connection: The connection.
    ///   - key: The central's half of the bond.
    /// - Throws: ``TestCentralError`` with the code `pairingFailed` when either side has no such key, or with
    ///   `disconnected`.
    package func encrypt(_ connection: ConnectionID, with key: BondKey?) throws(TestCentralError) {
        try state.withLock { state throws(TestCentralError) in
            guard let central = state.att.connections[connection]?.central else { throw .connectionEnded }
            guard let bond = state.bonds[central.linkAddress], bond.key == key else {
                throw .pairingFailed("The two sides have no keys in common. Pair them again.")
            }
            state.att.connections[connection]?.security = bond.level
            state.report(.secured(central, bond.level))
        }
    }

    /// Pairs a central, which starts the pairing.
    ///
    /// - Parameters:
    ///   - connection: The connection of the central, which is encrypted afterwards.
    ///   - user: The user of the central.
    ///   - identity: The identity address that the central reveals, unless the user has another.
    /// - Returns: The central's half of the bond, if both sides bond.
    /// - Throws: ``TestCentralError`` with the code `pairingFailed` or `disconnected`; `CancellationError`
    ///   when the task is cancelled.
    package func pair(
        _ connection: ConnectionID,
        as user: PairingUser,
        identity: DeviceAddress
    ) async throws -> BondKey? {
        let (pairing, task) = try state.withLock { state throws(TestCentralError) in
            guard let central = state.att.connections[connection]?.central,
                let capability = state.capabilities[connection]
            else { throw .connectionEnded }
            guard state.pairings[connection] == nil else {
                throw .pairingFailed("The central is already pairing.")
            }
            let pairing = VirtualPairing(
                central: central,
                user: user,
                identity: identity,
                agent: state.agent,
                capability: capability,
                isPairable: state.isPairable,
                isBonded: state.bonds[central.linkAddress] != nil,
                asksBeforeRepairing: asksBeforeRepairing
            )
            let task = Task { [clock] in try await pairing.run(within: Self.pairingLimit, on: clock) }
            state.pairings[connection] = task
            return (pairing, task)
        }
        let result = await withTaskCancellationHandler {
            await task.result
        } onCancel: {
            task.cancel()
        }
        do {
            return try finish(pairing, on: connection, with: result)
        } catch let failure as VirtualPairing.Failure {
            if failure.endsLink { disconnect(connection) }
            throw TestCentralError.pairingFailed(failure.message)
        }
    }

    private func finish(
        _ pairing: VirtualPairing,
        on connection: ConnectionID,
        with result: Result<Void, any Error>
    ) throws -> BondKey? {
        try state.withLock { state in
            state.pairings[connection] = nil
            guard state.links[connection] != nil else { throw TestCentralError.connectionEnded }
            let central = pairing.central
            if case .failure(let error) = result {
                state.report(.pairingFailed(central))
                throw error
            }
            state.att.connections[connection]?.security = pairing.level
            state.report(.secured(central, pairing.level))
            guard pairing.user.isBonding else {
                // For legacy pairing without keys to store, the kernel reports only encryption to bluetoothd.
                if pairing.user.secureConnections { state.report(.paired(central, isBonded: false)) }
                return nil
            }
            let key = BondKey(number: state.makeNumber())
            let bond = Bond(key: key, level: pairing.level, central: pairing.bondedCentral)
            let known = central.known(by: bond)
            state.bonds[central.linkAddress] = bond
            if findsSubscribersByAddress, known.address != central.linkAddress { state.att.identify(known) }
            state.att.connections[connection]?.central = known
            state.report(.paired(known, isBonded: true))
            return key
        }
    }
}

extension TestCentralError {
    static func pairingFailed(_ message: String) -> TestCentralError {
        TestCentralError(code: .pairingFailed, message: message)
    }
}
