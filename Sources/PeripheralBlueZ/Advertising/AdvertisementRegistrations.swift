internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit
private import Synchronization

/// The advertisements of a peripheral on one bus connection, by number, and their registrations.
final class AdvertisementRegistrations: Sendable {
    typealias Failure = RegistrationStateMachine.Failure

    private struct State {
        var objects: [Int: AdvertisementObject] = [:]
        var capabilities: AdvertisingCapabilities?
    }

    /// The pause after a change of a registered advertisement.
    ///
    /// bluetoothd passes a change to the kernel for each property, and does not report the completion. The
    /// change takes a few milliseconds.
    static let timeForChange = Duration.milliseconds(50)

    /// The shortest time from a change of an advertisement to its withdrawal.
    ///
    /// If the advertisement were withdrawn during the change, bluetoothd would crash (5.66 to 5.87). The
    /// cause is the kernel's reply for an advertisement that bluetoothd has already dropped. On a busy
    /// machine, 58 ms were not enough.
    static let timeToWithdrawal = Duration.milliseconds(500)

    private let connection: BusConnection
    private let times: AdvertisingTimes
    private let released: @Sendable (Int) -> Void
    private let state = Mutex(State())

    /// Creates registrations.
    ///
    /// - Parameters:
    ///   - connection: The connection that exports the objects.
    ///   - times: The time that each advertisement has been on the air.
    ///   - released: Called with the number of an advertisement that bluetoothd has taken off the air.
    init(
        on connection: BusConnection,
        times: AdvertisingTimes,
        released: @escaping @Sendable (Int) -> Void
    ) {
        self.connection = connection
        self.times = times
        self.released = released
    }

    /// Returns the capabilities of the adapter, and requests them only once.
    func capabilities(
        by managers: AdapterManagers,
        version: BlueZVersion
    ) async throws -> AdvertisingCapabilities {
        if let known = state.withLock({ $0.capabilities }) { return known }
        let capabilities = AdvertisingCapabilities(
            ofManager: try await managers.properties(of: BlueZ.advertisingManager),
            adapter: try await managers.properties(of: BlueZ.adapter),
            version: version
        )
        state.withLock { $0.capabilities = capabilities }
        return capabilities
    }

    /// Registers the advertisements one after the other.
    ///
    /// - Returns: The refused advertisements, with the likely reasons.
    /// - Throws: The error that follows from the end of bluetoothd.
    func register(
        _ advertisements: [Int: Advertisement],
        for capabilities: AdvertisingCapabilities,
        by managers: AdapterManagers,
        _ clock: any Clock<Duration>
    ) async throws -> [Int: Failure] {
        var objects: [(number: Int, object: AdvertisementObject)] = []
        for (number, advertisement) in advertisements.inOrder(by: { $0.key < $1.key }) {
            let object = try await object(number)
            object.set(advertisement, for: capabilities)
            objects.append((number, object))
        }
        // Some advertisements crash bluetoothd instead of being refused. Therefore no advertisement is
        // registered before all advertisements are known to be possible.
        let errors = objects.flatMap { plan(of: $0.object, $0.number).issues }.filter {
            $0.severity == .error
        }
        guard errors.isEmpty else { throw Failure(errors) }
        var refused: [Int: Failure] = [:]
        for (number, object) in objects {
            refused[number] = try await register(object, number, by: managers, clock)
        }
        return refused
    }

    /// Changes the advertisements one after the other.
    ///
    /// If bluetoothd cannot change a registered advertisement, the function withdraws it and registers it
    /// again.
    ///
    /// - Returns: The refused advertisements, which are off the air now, with the likely reasons.
    /// - Throws: The error that follows from the end of bluetoothd.
    func change(
        _ advertisements: [Int: Advertisement],
        for capabilities: AdvertisingCapabilities,
        by managers: AdapterManagers,
        _ clock: any Clock<Duration>
    ) async throws -> [Int: Failure] {
        var refused: [Int: Failure] = [:]
        for (number, advertisement) in advertisements.inOrder(by: { $0.key < $1.key }) {
            let object = try await object(number)
            if let properties = object.change(to: advertisement) {
                guard !properties.isEmpty else { continue }
                object.lastChange = .now
                try await connection.emitPropertiesChanged(object.path, BlueZ.advertisement, properties)
                // bluetoothd needs real time, regardless of the program's clock.
                try? await ContinuousClock().sleep(for: Self.timeForChange)
            } else {
                try await withdraw(object, by: managers)
                let failures = try await register(
                    [number: advertisement],
                    for: capabilities,
                    by: managers,
                    clock
                )
                refused.merge(failures) { $1 }
            }
        }
        return refused
    }

    /// Withdraws the advertisements, even if bluetoothd has already dropped one of these advertisements.
    func withdraw(_ numbers: Set<Int>, by managers: AdapterManagers) async throws(BusError) {
        let objects = state.withLock { state in numbers.inOrder().compactMap { state.objects[$0] } }
        for object in objects { try await withdraw(object, by: managers) }
    }
}

extension AdvertisementRegistrations {
    /// Returns the object with a number, and exports the object at its first use.
    private func object(_ number: Int) async throws -> AdvertisementObject {
        if let object = state.withLock({ $0.objects[number] }) { return object }
        let object = AdvertisementObject(
            at: try ObjectPath("/advertisement\(number)"),
            time: times.time(of: number)
        )
        try await connection.export(object.exported { [released] in released(number) })
        state.withLock { $0.objects[number] = object }
        return object
    }

    private func plan(of object: AdvertisementObject, _ number: Int) -> AdvertisingPlan {
        let isOnly = state.withLock { $0.objects.count == 1 }
        return object.plan(named: isOnly ? "advertisement" : "advertisement \(number + 1)")
    }

    private func register(
        _ object: AdvertisementObject,
        _ number: Int,
        by managers: AdapterManagers,
        _ clock: any Clock<Duration>
    ) async throws -> Failure? {
        // bluetoothd may have the advertisement even after a refusal that arrived too late.
        try await withdraw(object, by: managers)
        do throws(BusError) {
            object.isRegistered = true
            try await managers.registerAdvertisement(object.path)
            object.noteOnTheAir(by: clock)
            return nil
        } catch {
            // The default must not take an advertisement off the air that the controller accepts without it.
            if case .remote("org.bluez.Error.Failed", _) = error, object.removeDefaultInterval() {
                return try await register(object, number, by: managers, clock)
            }
            let isPowered = try await managers.properties(of: BlueZ.adapter)["Powered"]?.bool ?? true
            let failure = Failure(
                refusedAdvertisement: error,
                plan(of: object, number),
                isPowered: isPowered
            )
            guard failure.leavesDaemon else { throw failure }
            return failure
        }
    }

    private func withdraw(_ object: AdvertisementObject, by managers: AdapterManagers) async throws(BusError)
    {
        guard object.isRegistered else { return }
        // bluetoothd needs real time, regardless of the program's clock.
        if let change = object.lastChange {
            try? await ContinuousClock().sleep(until: change + Self.timeToWithdrawal)
        }
        object.isRegistered = false
        do throws(BusError) {
            try await managers.withdrawAdvertisement(object.path)
        } catch .remote("org.bluez.Error.DoesNotExist", _) {
            // bluetoothd has already dropped the advertisement.
        }
    }
}
