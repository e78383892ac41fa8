internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit
private import Synchronization

/// An advertisement on the bus: an object with `org.bluez.LEAdvertisement1`.
final class AdvertisementObject: Sendable {
    private struct State {
        var advertisement = Advertisement()
        var capabilities = AdvertisingCapabilities.legacy(.v5_66)
        var properties = AdvertisementProperties()
        var isRegistered = false
        var lastChange: ContinuousClock.Instant?
        /// Whether bluetoothd has refused the default interval.
        var lacksInterval = false
    }

    let path: ObjectPath
    private let time: AdvertisingTime
    private let state = Mutex(State())

    /// Creates an object that advertises nothing yet.
    ///
    /// - Parameters:
    ///   - path: The path of the object on the bus.
    ///   - time: The time that the advertisement has been on the air.
    init(at path: ObjectPath, time: AdvertisingTime = AdvertisingTime()) {
        self.path = path
        self.time = time
    }

    /// Returns the plan of the advertisement on its adapter.
    ///
    /// - Parameter name: The name of the advertisement in the issues.
    /// - Returns: The plan.
    func plan(named name: String) -> AdvertisingPlan {
        let (advertisement, capabilities) = state.withLock { ($0.advertisement, $0.capabilities) }
        return advertisement.plan(for: capabilities, named: name)
    }

    /// Sets the advertisement and the capabilities of the adapter, before it is registered.
    func set(_ advertisement: Advertisement, for capabilities: AdvertisingCapabilities) {
        state.withLock { state in
            (state.advertisement, state.capabilities) = (advertisement, capabilities)
            // bluetoothd counts from the beginning when the advertisement is registered again.
            var rest = advertisement
            rest.timeout = rest.timeout.map(time.rest)
            state.properties = AdvertisementProperties(of: rest, for: capabilities)
            state.lacksInterval = false
        }
    }

    /// Removes the interval, unless the program has chosen it.
    ///
    /// - Returns: Whether the object had an interval.
    func removeDefaultInterval() -> Bool {
        state.withLock { state in
            guard state.advertisement.interval == nil, state.properties.removeInterval() else { return false }
            state.lacksInterval = true
            return true
        }
    }

    /// Whether bluetoothd may have the advertisement, which is possible even after a refusal that arrived too
    /// late.
    var isRegistered: Bool {
        get { state.withLock { $0.isRegistered } }
        set { state.withLock { $0.isRegistered = newValue } }
    }

    /// The time of the last change of the registered advertisement; `nil` if it has not changed.
    var lastChange: ContinuousClock.Instant? {
        get { state.withLock { $0.lastChange } }
        set { state.withLock { $0.lastChange = newValue } }
    }

    /// Records that bluetoothd has accepted the advertisement.
    func noteOnTheAir(by clock: any Clock<Duration>) {
        time.start(by: clock)
    }

    /// Changes the advertisement while it is registered, if bluetoothd supports the change.
    ///
    /// - Returns: The properties with new values, for `PropertiesChanged`. `nil` if the advertisement must be
    ///   registered again. In that case, the advertisement is unchanged.
    func change(to new: Advertisement) -> [(String, BusValue)]? {
        state.withLock { state in
            let plans = (state.advertisement.plan(for: state.capabilities), new.plan(for: state.capabilities))
            // bluetoothd continues to count the timeout.
            guard plans.0.isExtended == plans.1.isExtended, state.advertisement.timeout == new.timeout else {
                return nil
            }
            var properties = AdvertisementProperties(of: new, for: state.capabilities)
            properties.keepTimeout(of: state.properties)
            if state.lacksInterval { _ = properties.removeInterval() }
            guard let changes = properties.changes(from: state.properties) else { return nil }
            (state.advertisement, state.properties) = (new, properties)
            return changes
        }
    }

    /// Returns the object to export.
    ///
    /// - Parameter released: Called when bluetoothd has taken the advertisement off the air.
    /// - Returns: The object, which always has the current properties.
    func exported(released: @escaping @Sendable () -> Void) -> ExportedObject {
        ExportedObject(
            path,
            [
                ExportedInterface(
                    BlueZ.advertisement,
                    callers: BlueZ.name,
                    methods: [
                        ExportedMethod("Release", "", "") { [self] _, reply in
                            reply.send()
                            isRegistered = false
                            released()
                        }
                    ],
                    properties: AdvertisementProperties.all.map { property($0.name, $0.signature) }
                )
            ]
        )
    }

    /// Accepts the power that bluetoothd reports on adapters with extended advertising, and ignores this
    /// power.
    ///
    /// If the property had this value at the next registration, bluetoothd would treat the value as a
    /// requested power.
    private static let takeNoteOfPower: ExportedProperty.Setter = { _ in }

    private func property(_ name: MemberName, _ signature: Signature) -> ExportedProperty {
        ExportedProperty(
            name,
            signature,
            get: { [self] () throws(MethodError) in
                guard let value = state.withLock({ $0.properties.values[name] }) else {
                    throw MethodError(.unknownProperty, "the advertisement does not have this property")
                }
                return value
            },
            set: name == "TxPower" ? Self.takeNoteOfPower : nil
        )
    }
}
