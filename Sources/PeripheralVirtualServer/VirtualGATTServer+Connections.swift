package import PeripheralCore
package import PeripheralKit
internal import Synchronization

extension VirtualGATTServer {
    /// Told what happens to connections.
    ///
    /// Called with the server's lock held, so that all happens in its order: it must be quick, and must not call
    /// the server.
    package typealias ConnectionObserver = @Sendable (ConnectionEvent) -> Void

    /// Has an observer told of connections, in place of the one before.
    package func observeConnections(_ observer: ConnectionObserver?) {
        state.withLock { $0.observer = observer }
    }

    /// The MTUs that bluetoothd agrees on.
    package static let mtus = 23...517

    /// An address that no other central of this server has.
    package func makeCentralAddress() -> DeviceAddress {
        .virtualCentral(number: state.withLock { $0.makeNumber() })
    }

    /// Connects a central, when there is a connectable advertisement on the air.
    ///
    /// - Parameters:
    ///   - central: The central.
    ///   - security: What the link offers at once.
    ///   - key: The central's half of a bond: encrypts the link if the server has the other half.
    ///   - link: The central's end of the connection.
    /// - Returns: The name of the connection.
    /// - Throws: ``TestCentralError`` with the code `notFound`.
    package func connect(
        _ central: Central,
        security: SecurityLevel = .open,
        key: BondKey? = nil,
        over link: any VirtualLink
    ) throws(TestCentralError) -> ConnectionID {
        try state.withLock { state throws(TestCentralError) in
            guard state.air.isConnectable else {
                throw TestCentralError(code: .notFound, message: "Nothing connectable is on the air.")
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

    /// Ends a connection, with its prepared writes and requests in progress, and with its subscriptions unless the
    /// central is bonded.
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
            // bluetoothd announces the end of the connection before it gives up on its indications.
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

    /// Ends the connection of a central, when it has one.
    package func disconnect(_ central: DeviceAddress) {
        let connection = state.withLock { state in
            state.att.connections.first { $0.value.central.linkAddress == central }?.key
        }
        if let connection { disconnect(connection) }
    }

    /// Ends all connections, as an adapter that is powered off does.
    package func disconnectAll() {
        for connection in state.withLock({ $0.att.connections.keys.sorted() }) {
            disconnect(connection)
        }
    }

    /// The centrals that are connected.
    package var centrals: [Central] {
        state.withLock { state in
            state.att.connections.sorted { $0.key < $1.key }.map(\.value.central)
        }
    }

    /// What the link of a central offers; `open` when there is none.
    package func security(of central: DeviceAddress) -> SecurityLevel {
        state.withLock { state in
            state.att.connections.values.first { $0.central.linkAddress == central }?.security ?? .open
        }
    }
}

extension Central {
    /// The address with which the central comes, and by which the server tells it from others.
    ///
    /// ``Central/address`` is another one once a central has shown its lasting address.
    package var linkAddress: DeviceAddress { id.address }

    /// The same central as the stack knows it: with the lasting address of a bonded one, or else a random address.
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
