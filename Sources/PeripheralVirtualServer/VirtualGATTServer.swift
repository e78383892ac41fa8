package import PeripheralBlueZModel
package import PeripheralCore
internal import PeripheralKit
internal import Synchronization

/// The half of a virtual Bluetooth host that centrals talk to: a GATT server as bluetoothd has it, and the
/// advertisements on the air.
///
/// Applications add their services with a ``VirtualAttributeProvider`` that serves them; several can, at run
/// time. Centrals connect with a ``VirtualLink``. An operation takes as long as the provider does; the time
/// limits are those of pairing and of indications.
package final class VirtualGATTServer: Sendable {
    struct State {
        var att: ATTServerState
        var providers: [ApplicationID: any VirtualAttributeProvider] = [:]
        var links: [ConnectionID: any VirtualLink] = [:]
        var air = VirtualAir()
        var observer: ConnectionObserver?
        var agent: (any VirtualPairingAgent)?
        /// What the host has for a person to see and to touch.
        var capability = PairingUser.Capability.noInputNoOutput
        /// The same, as each connection knows it.
        var capabilities: [ConnectionID: PairingUser.Capability] = [:]
        var isPairable = true
        var bonds: [DeviceAddress: Bond] = [:]
        /// What is under way in each connection, to be cancelled when that ends.
        var pairings: [ConnectionID: Task<Void, any Error>] = [:]
        var indications: [ConnectionID: IndicationQueue] = [:]
        /// The questions that providers have not answered yet.
        var inquiries: [Int: PendingInquiry] = [:]
        var lastNumber = 0

        mutating func makeNumber() -> Int {
            lastNumber += 1
            return lastNumber
        }
    }

    struct PendingInquiry {
        var connection: ConnectionID
        var application: ApplicationID
        var task: Task<Result<[UInt8], ATTError>, Never>
    }

    /// The address of the host.
    package let address: DeviceAddress

    /// Whether a connection stops all advertisements, until they are registered again or a connection ends.
    ///
    /// So it is with the extended advertising of Bluetooth 5 on BlueZ 5.66.
    package let connectionsInterruptAdvertising: Bool

    /// Whether the agent is asked when a bonded central pairs again by Just Works, as with
    /// `JustWorksRepairing = confirm`; without, such a central is refused, as with `never`.
    package let asksBeforeRepairing: Bool

    /// Whether the subscriptions of a central do not outlast the connection in which it shows its lasting address.
    ///
    /// bluetoothd has them under the address of before. Where both are random, it sends nothing because of them.
    package let findsSubscribersByAddress: Bool

    private let deviceName: String
    private let version: BlueZVersion
    let clock: any Clock<Duration>
    let state: Mutex<State>

    /// Makes a host that serves nothing but the stack's own services.
    ///
    /// - Parameters:
    ///   - deviceName: The device name of the Generic Access service.
    ///   - version: The version of bluetoothd to behave as.
    ///   - address: The address of the host.
    ///   - connectionsInterruptAdvertising: Whether a connection stops all advertisements.
    ///   - asksBeforeRepairing: Whether the agent is asked when a bonded central pairs again by Just Works.
    ///   - findsSubscribersByAddress: Whether the subscriptions of a central end that shows its lasting address.
    ///   - clock: What measures the 30 seconds that a pairing or a confirmation can take.
    package init(
        deviceName: String,
        version: BlueZVersion = .v5_66,
        address: DeviceAddress = .virtualHost,
        connectionsInterruptAdvertising: Bool = false,
        asksBeforeRepairing: Bool = false,
        findsSubscribersByAddress: Bool = false,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.address = address
        self.deviceName = deviceName
        self.version = version
        self.connectionsInterruptAdvertising = connectionsInterruptAdvertising
        self.asksBeforeRepairing = asksBeforeRepairing
        self.findsSubscribersByAddress = findsSubscribersByAddress
        self.clock = clock
        state = Mutex(State(att: ATTServerState(deviceName: deviceName, version: version)))
    }

    /// Begins anew, as a stack does that is restarted: with nobody connected, nothing on the air, and the handles
    /// of the stack's own services only.
    ///
    /// Bonds stay, without the configurations but that of Service Changed, and without the agent. Providers are
    /// told that subscriptions end, and of nothing else.
    package func reset() {
        disconnectAll()
        let pending = state.withLock { state in
            let trusted = state.att.trusted
            state.att = ATTServerState(deviceName: deviceName, version: version)
            state.att.trusted = trusted.filter { state.bonds[$0] != nil }
            for (address, bond) in state.bonds {
                state.att.restoreServiceChanged(bond.serviceChanged, of: address)
            }
            state.providers = [:]
            state.agent = nil
            state.air.clear()
            return state.inquiries.values.map(\.task)
        }
        for task in pending {
            task.cancel()
        }
    }

    // MARK: Applications

    /// Adds the services of an application: those that are pinned where they want to be, the others behind all
    /// handles that were ever given.
    ///
    /// Centrals that have subscribed to Service Changed are told.
    ///
    /// - Parameters:
    ///   - table: The services.
    ///   - provider: Who serves them.
    ///   - attributes: The attributes that a central may prepare to write only when the provider says so, unless it
    ///     is trusted.
    ///   - starts: Where services want to be that are not pinned, by their place.
    ///   - asBluetoothd: Whether services that are pinned meet those of other applications as in bluetoothd.
    /// - Returns: The name of the application.
    /// - Throws: `AttributeTableError` when the handles are used up, or taken.
    package func add(
        _ table: AttributeTable,
        servedBy provider: any VirtualAttributeProvider,
        authorizing attributes: Set<AttributeHandle> = [],
        at starts: [Int: AttributeHandle] = [:],
        asBluetoothd: Bool = false
    ) throws(AttributeTableError) -> ApplicationID {
        let id = ApplicationID(number: state.withLock { $0.makeNumber() })
        try state.withLock { state throws(AttributeTableError) in
            let services = try state.att.add(
                table,
                of: id,
                authorizing: attributes,
                at: starts,
                asBluetoothd: asBluetoothd
            )
            state.providers[id] = provider
            indicateServiceChanges(services, &state)
        }
        return id
    }

    /// Removes an application and its services.
    ///
    /// Its handles are invalid at once. Subscriptions end without the provider being told. The call returns
    /// when the provider has answered all that it has been asked; when the calling task is cancelled, so are
    /// those questions.
    package func remove(_ application: ApplicationID) async {
        let pending = removeAtOnce(application)
        await withTaskCancellationHandler {
            for task in pending {
                _ = await task.value
            }
        } onCancel: {
            for task in pending {
                task.cancel()
            }
        }
    }

    /// Whether a service of the application was taken for an equal one of another application, and removed.
    package func hasLostServices(_ application: ApplicationID) -> Bool {
        state.withLock { $0.att.database.robbed.contains(application) }
    }

    /// Removes an application as ``remove(_:)`` does, without waiting for what it has been asked.
    ///
    /// - Returns: The questions that it has not answered yet.
    @discardableResult
    package func removeAtOnce(_ application: ApplicationID) -> [Task<Result<[UInt8], ATTError>, Never>] {
        state.withLock { state in
            let services = state.att.remove(application)
            state.providers[application] = nil
            indicateServiceChanges(services, &state)
            return state.inquiries.values.filter { $0.application == application }.map(\.task)
        }
    }

    private func indicateServiceChanges(
        _ services: [ClosedRange<AttributeHandle>],
        _ state: inout State
    ) {
        for service in services {
            state.att.noteServiceChange(of: service)
            deliver(state.att.serviceChanges(of: service), &state)
        }
    }

    /// The handles on the air of an application's attributes, by those in its own table.
    package func handles(of application: ApplicationID) -> [AttributeHandle: AttributeHandle] {
        state.withLock { $0.att.database.handles(of: application) }
    }

    /// The handles on the air of an application's services, in their order.
    package func serviceHandles(of application: ApplicationID) -> [ClosedRange<AttributeHandle>] {
        state.withLock { $0.att.database.serviceHandles(of: application) }
    }
}

extension VirtualGATTServer.State {
    /// Tells the applications of subscriptions that have changed.
    mutating func tell(_ changes: [ATTServerState.ToldChange]) {
        for (application, change) in changes {
            providers[application]?.subscriptionChanged(change)
        }
    }

    /// Tells that all is told that the end of a connection, or of a bond, has brought about.
    func tellSubscriptionsEnded() {
        for provider in providers.values { provider.subscriptionsEnded() }
    }
}

extension TestCentralError {
    package static var connectionEnded: TestCentralError {
        TestCentralError(code: .disconnected, message: "The connection has ended.")
    }
}
