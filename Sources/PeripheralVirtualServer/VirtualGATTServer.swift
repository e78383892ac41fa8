package import PeripheralBlueZModel
package import PeripheralCore
internal import PeripheralKit
internal import Synchronization

/// A virtual Bluetooth host as centrals see it: a GATT server like bluetoothd's, and the advertisements on
/// the air.
///
/// Any number of applications add and remove services at run time; a ``VirtualAttributeProvider`` serves each
/// of them. Centrals connect with a ``VirtualLink``. An operation takes as long as its provider; only pairing
/// and indications have time limits.
package final class VirtualGATTServer: Sendable {
    struct State {
        var att: ATTServerState
        var providers: [ApplicationID: any VirtualAttributeProvider] = [:]
        var links: [ConnectionID: any VirtualLink] = [:]
        var air = VirtualAir()
        /// The observers, in the order in which they began.
        var observers: [(id: ConnectionObserverID, report: ConnectionObserver)] = []
        var agent: (any VirtualPairingAgent)?
        /// The IO capability of the host.
        var capability = PairingUser.Capability.noInputNoOutput
        /// The IO capability of the host that each connection uses.
        var capabilities: [ConnectionID: PairingUser.Capability] = [:]
        var isPairable = true
        var bonds: [DeviceAddress: Bond] = [:]
        /// The running pairing of each connection, which is cancelled when the connection ends.
        var pairings: [ConnectionID: Task<Void, any Error>] = [:]
        var indications: [ConnectionID: IndicationQueue] = [:]
        /// The questions that providers have not answered yet.
        var inquiries: [Int: PendingInquiry] = [:]
        /// The listeners for L2CAP channels, by their PSMs.
        var listeners: [UInt16: VirtualListener] = [:]
        var channels: [ConnectionID: [VirtualChannel]] = [:]
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

    /// Whether a connection stops all advertisements until they are registered again or a connection ends.
    ///
    /// The extended advertising of Bluetooth 5 on BlueZ 5.66 behaves this way.
    package let connectionsInterruptAdvertising: Bool

    /// Whether the agent is asked when a bonded central pairs again by Just Works (`JustWorksRepairing =
    /// confirm`).
    ///
    /// If not, such a central is refused (`never`).
    package let asksBeforeRepairing: Bool

    /// Whether a central's subscriptions end with the connection in which it reveals its identity address.
    ///
    /// bluetoothd stores them under the previous address. If both addresses are random, the subscriptions
    /// cause no updates.
    package let findsSubscribersByAddress: Bool

    /// Why a central can never connect; `nil` if it can connect while there is an advertisement.
    let absence: String?

    private let deviceName: Mutex<String>
    private let version: BlueZVersion
    let clock: any Clock<Duration>
    let state: Mutex<State>

    /// Creates a host with only the stack's own services.
    ///
    /// - Parameters:
    ///   - deviceName: The device name of the Generic Access service.
    ///   - version: The version of bluetoothd to imitate.
    ///   - address: The address of the host.
    ///   - connectionsInterruptAdvertising: Whether a connection stops all advertisements.
    ///   - asksBeforeRepairing: Whether the agent is asked when a bonded central pairs again by Just Works.
    ///   - findsSubscribersByAddress: Whether subscriptions end with the connection in which the central
    ///     reveals its identity address.
    ///   - clock: The clock that measures the limit of 30 seconds for a pairing or a confirmation.
    ///   - absence: Why a central can never connect; `nil` if the host exists.
    package init(
        deviceName: String,
        version: BlueZVersion = .v5_66,
        address: DeviceAddress = .virtualHost,
        connectionsInterruptAdvertising: Bool = false,
        asksBeforeRepairing: Bool = false,
        findsSubscribersByAddress: Bool = false,
        clock: any Clock<Duration> = ContinuousClock(),
        absence: String? = nil
    ) {
        self.absence = absence
        self.address = address
        self.deviceName = Mutex(deviceName)
        self.version = version
        self.connectionsInterruptAdvertising = connectionsInterruptAdvertising
        self.asksBeforeRepairing = asksBeforeRepairing
        self.findsSubscribersByAddress = findsSubscribersByAddress
        self.clock = clock
        state = Mutex(State(att: ATTServerState(deviceName: deviceName, version: version)))
    }

    /// Changes the device name of the Generic Access service.
    ///
    /// - Parameters:
    ///   - name: The new name.
    ///   - former: The name that the server must have, or `nil` for any name.
    /// - Returns: Whether the name was changed.
    @discardableResult
    package func rename(_ name: String, from former: String? = nil) -> Bool {
        let isRenamed = deviceName.withLock { present in
            guard former == nil || former == present else { return false }
            present = name
            return true
        }
        if isRenamed { state.withLock { $0.att.database.rename(name) } }
        return isRenamed
    }

    /// Resets the host like a restart of the stack: no connections, no advertisements, only the stack's own
    /// services.
    ///
    /// Bonds persist, and so do their configurations of Service Changed. All other configurations and the
    /// agent are removed. Providers are informed only that subscriptions end.
    package func reset() {
        disconnectAll()
        let pending = state.withLock { state in
            let trusted = state.att.trusted
            state.att = ATTServerState(deviceName: deviceName.withLock(\.self), version: version)
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

    /// Adds the services of an application.
    ///
    /// Pinned services get their pinned handles. The other services follow all handles that were ever
    /// assigned.
    ///
    /// Centrals that have subscribed to Service Changed are informed.
    ///
    /// - Parameters:
    ///   - table: The services.
    ///   - provider: The provider that serves them.
    ///   - attributes: The attributes whose prepared writes the provider has to authorize, unless the central
    ///     is trusted.
    ///   - starts: Returns the requested handles of services that are not pinned, by the index of the
    ///     service. It receives the handles of all present services, which do not change meanwhile. It must
    ///     not use the server.
    ///   - asBluetoothd: Whether collisions of pinned services with those of other applications are handled
    ///     as in bluetoothd.
    /// - Returns: The identifier of the application.
    /// - Throws: `AttributeTableError` when the handles are used up or taken.
    package func add(
        _ table: AttributeTable,
        servedBy provider: any VirtualAttributeProvider,
        authorizing attributes: Set<AttributeHandle> = [],
        at starts: (_ occupied: [ClosedRange<AttributeHandle>]) throws(AttributeTableError) ->
            [Int: AttributeHandle] = { _ in [:] },
        asBluetoothd: Bool = false
    ) throws(AttributeTableError) -> ApplicationID {
        let id = ApplicationID(number: state.withLock { $0.makeNumber() })
        try state.withLock { state throws(AttributeTableError) in
            let starts = try starts(state.att.database.discovered.services.map(\.handles))
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

    /// Whether a service of the application was confused with an equal one of another application and
    /// removed.
    package func hasLostServices(_ application: ApplicationID) -> Bool {
        state.withLock { $0.att.database.robbed.contains(application) }
    }

    /// Removes an application and its services, and does not wait for pending questions.
    ///
    /// Its handles become invalid at once. Subscriptions end without a report to the provider.
    ///
    /// - Returns: The questions that the provider has not answered yet.
    @discardableResult
    package func removeAtOnce(_ application: ApplicationID) -> [Task<Result<[UInt8], ATTError>, Never>] {
        state.withLock { state in
            let services = state.att.remove(application)
            state.providers[application] = nil
            indicateServiceChanges(services, &state)
            return state.inquiries.values.filter { $0.application == application }.map(\.task)
        }
    }

    /// Removes one service of an application, and does not wait for pending questions.
    ///
    /// Centrals that have subscribed to Service Changed are informed. Subscriptions end without a report to
    /// the provider.
    ///
    /// - Parameters:
    ///   - start: The first handle of the service in the application's own table.
    ///   - application: The application.
    /// - Returns: Whether there was such a service.
    @discardableResult
    package func removeServiceAtOnce(at start: AttributeHandle, of application: ApplicationID) -> Bool {
        state.withLock { state in
            guard let service = state.att.removeService(at: start, of: application) else { return false }
            indicateServiceChanges([service], &state)
            return true
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

    /// The handles on the air of an application's attributes, by the handles in its own table.
    package func handles(of application: ApplicationID) -> [AttributeHandle: AttributeHandle] {
        state.withLock { $0.att.database.handles(of: application) }
    }

    /// The handles on the air of all services except those of some applications.
    package func occupiedHandles(besides applications: [ApplicationID]) -> [ClosedRange<AttributeHandle>] {
        state.withLock { state in
            let database = state.att.database
            let own = Set(applications.flatMap(database.serviceHandles))
            return database.discovered.services.map(\.handles).filter { !own.contains($0) }
        }
    }

    /// The handles on the air of an application's services, in order.
    package func serviceHandles(of application: ApplicationID) -> [ClosedRange<AttributeHandle>] {
        state.withLock { $0.att.database.serviceHandles(of: application) }
    }
}

extension VirtualGATTServer.State {
    /// Reports an event to all observers of connections.
    func report(_ event: ConnectionEvent) {
        for observer in observers { observer.report(event) }
    }

    /// Reports changed subscriptions to the applications.
    mutating func report(_ changes: [ATTServerState.ReportedChange]) {
        for (application, change) in changes {
            providers[application]?.subscriptionChanged(change)
        }
    }

    /// Reports that all changes caused by the end of a connection or a bond have been reported.
    func reportSubscriptionsEnded() {
        for provider in providers.values { provider.subscriptionsEnded() }
    }
}

extension TestCentralError {
    package static var connectionEnded: TestCentralError {
        TestCentralError(code: .disconnected, message: "The connection has ended.")
    }
}

// MARK: - Advertising

extension VirtualGATTServer {
    /// Puts an additional advertisement on the air.
    package func advertise(_ advertisement: VirtualAdvertisement) -> AdvertisementID {
        changeAir { state in
            let id = AdvertisementID(number: state.makeNumber())
            state.air[id] = advertisement
            return id
        }
    }

    /// Changes an advertisement in place; has no effect on a withdrawn one.
    package func update(_ id: AdvertisementID, to advertisement: VirtualAdvertisement) {
        changeAir { state in
            if state.air[id] != nil { state.air[id] = advertisement }
        }
    }

    /// Takes an advertisement off the air.
    package func withdraw(_ id: AdvertisementID) {
        changeAir { $0.air[id] = nil }
    }

    /// The advertisements on the air, in the order in which they were added.
    package var advertisements: [VirtualAdvertisement] {
        state.withLock { $0.air.audible }
    }

    /// Waits until a connectable advertisement is on the air.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    package func waitUntilConnectable() async throws {
        let id = state.withLock { $0.makeNumber() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome: Result<Void, any Error>? = state.withLock { state in
                    // The cancellation handler may have run before the scanner was added.
                    if Task.isCancelled { return .failure(CancellationError()) }
                    if state.air.isConnectable { return .success(()) }
                    state.air.addScanner(continuation, id: id)
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            state.withLock { $0.air.removeScanner(id) }?.resume(throwing: CancellationError())
        }
    }

    /// Changes the advertisements and wakes the centrals that wait for one.
    func changeAir<Output: Sendable>(_ change: (inout State) -> Output) -> Output {
        let (output, scanners) = state.withLock { state in
            (change(&state), state.air.takeServedScanners())
        }
        for scanner in scanners {
            scanner.resume()
        }
        return output
    }
}
