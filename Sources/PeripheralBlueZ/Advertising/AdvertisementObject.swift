internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit
private import Synchronization

/// An advertisement as bluetoothd finds it on the bus: an object with `org.bluez.LEAdvertisement1`.
final class AdvertisementObject: Sendable {
    private struct State {
        var advertisement = Advertisement()
        var capabilities = AdvertisingCapabilities.legacy(.v5_66)
        var properties = AdvertisementProperties()
        var isRegistered = false
    }

    let path: ObjectPath
    private let time: AdvertisingTime
    private let state = Mutex(State())

    /// Makes an object that advertises nothing yet.
    ///
    /// - Parameters:
    ///   - path: Where bluetoothd finds it.
    ///   - time: How long it has been on the air.
    init(at path: ObjectPath, time: AdvertisingTime = AdvertisingTime()) {
        self.path = path
        self.time = time
    }

    /// What becomes of it on its adapter.
    ///
    /// - Parameter name: What issues call it.
    /// - Returns: The plan.
    func plan(named name: String) -> AdvertisingPlan {
        let (advertisement, capabilities) = state.withLock { ($0.advertisement, $0.capabilities) }
        return advertisement.plan(for: capabilities, named: name)
    }

    /// Makes it this advertisement, as this adapter can take it, before it is registered.
    func set(_ advertisement: Advertisement, for capabilities: AdvertisingCapabilities) {
        state.withLock { state in
            (state.advertisement, state.capabilities) = (advertisement, capabilities)
            // bluetoothd counts anew when it is registered again.
            var rest = advertisement
            rest.timeout = rest.timeout.map(time.rest)
            state.properties = AdvertisementProperties(of: rest, for: capabilities)
        }
    }

    /// Whether bluetoothd may have it: also after a refusal, which may have come too late.
    var isRegistered: Bool {
        get { state.withLock { $0.isRegistered } }
        set { state.withLock { $0.isRegistered = newValue } }
    }

    /// Takes note that bluetoothd has taken it.
    func noteOnTheAir(by clock: any Clock<Duration>) {
        time.start(by: clock)
    }

    /// Makes it another advertisement while it is registered, if bluetoothd can follow.
    ///
    /// - Returns: The properties that have another value now, for `PropertiesChanged`; `nil` when it has to be registered
    ///   anew, and is as it was.
    func change(to new: Advertisement) -> [(String, BusValue)]? {
        state.withLock { state in
            let plans = (state.advertisement.plan(for: state.capabilities), new.plan(for: state.capabilities))
            // The timeout goes on as bluetoothd counts it.
            guard plans.0.isExtended == plans.1.isExtended, state.advertisement.timeout == new.timeout else {
                return nil
            }
            var properties = AdvertisementProperties(of: new, for: state.capabilities)
            properties.keepTimeout(of: state.properties)
            guard let changes = properties.changes(from: state.properties) else { return nil }
            (state.advertisement, state.properties) = (new, properties)
            return changes
        }
    }

    /// The object to export.
    ///
    /// - Parameter released: Called when bluetoothd has taken the advertisement off the air by itself.
    /// - Returns: The object, which follows what this one is changed to.
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

    /// Where bluetoothd tells the power that it has chosen, as it does on adapters with extended advertising.
    ///
    /// It must not find that here the next time, when it would take it for a demand.
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
