package import PeripheralCore
package import PeripheralKit
internal import Synchronization

extension VirtualGATTServer {
    /// A function that receives the events of connections.
    ///
    /// The server calls it with its lock held, so that events are reported in order. The function must be
    /// quick and must not call the server.
    package typealias ConnectionObserver = @Sendable (ConnectionEvent) -> Void

    /// Replaces the observer of connections.
    package func observeConnections(_ observer: ConnectionObserver?) {
        state.withLock { $0.observer = observer }
    }

    /// The MTUs that bluetoothd accepts, in bytes.
    package static let mtus = 23...517

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
                    message: "No connectable advertisement is on the air."
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
            state.observer?(.connected(central))
            if security != .open { state.observer?(.secured(central, security)) }
            state.tell(resumed)
            deliver(missed, &state)
            return id
        }
    }

    /// Ends a connection with its prepared writes and pending requests.
    ///
    /// The subscriptions end as well, unless the central is bonded.
    package func disconnect(_ connection: ConnectionID) {
        let (inquiries, pairing) = changeAir { state in
            let central = state.att.connections[connection]?.central
            let isBonded = central.map { state.bonds[$0.linkAddress] != nil } ?? false
            if let central, isBonded {
                state.bonds[central.linkAddress]?.serviceChanged =
                    state.att.serviceChangedConfiguration(of: central.linkAddress)
            }
            state.tell(state.att.close(connection, isBonded: isBonded))
            var indications = state.indications.removeValue(forKey: connection)
            state.capabilities[connection] = nil
            state.links.removeValue(forKey: connection)?.disconnected()
            state.air.resume()
            if let central { state.observer?(.disconnected(central)) }
            // bluetoothd reports the end of the connection before it abandons the indications.
            for entry in indications?.takeAll() ?? [] { entry.completion(.disconnected) }
            state.tellSubscriptionsEnded()
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

extension Central {
    /// The address with which the central connects and by which the server identifies it.
    ///
    /// `Central.address` differs from it after the central has revealed its identity address.
    package var linkAddress: DeviceAddress { id.address }

    /// Returns the central as the stack knows it: with the identity address of the bond, or else a random
    /// address.
    func known(by bond: Bond?) -> Central {
        Central(
            address: bond?.central.address ?? linkAddress,
            addressKind: bond?.central.addressKind ?? .random,
            isBonded: bond != nil,
            mtu: mtu,
            id: id
        )
    }
}
