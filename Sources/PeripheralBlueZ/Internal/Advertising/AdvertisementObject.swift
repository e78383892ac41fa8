internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit
private import Synchronization

/// An advertisement as bluetoothd finds it on the bus: an object with `org.bluez.LEAdvertisement1`.
final class AdvertisementObject: Sendable {
    private struct State {
        var advertisement: Advertisement
        var capabilities: AdvertisingCapabilities
        var properties: AdvertisementProperties
        var isRegistered = false
    }

    let path: ObjectPath
    /// What issues call it.
    let name: String
    private let time: AdvertisingTime
    private let state: Mutex<State>

    /// Describes an advertisement for an adapter that is not known yet.
    ///
    /// - Parameters:
    ///   - advertisement: The advertisement.
    ///   - name: What issues call it.
    ///   - path: Where bluetoothd finds it.
    ///   - time: How long it has been on the air.
    init(
        _ advertisement: Advertisement,
        named name: String,
        at path: ObjectPath,
        time: AdvertisingTime = AdvertisingTime()
    ) {
        self.path = path
        self.name = name
        self.time = time
        let capabilities = AdvertisingCapabilities.legacy(.v5_66)
        state = Mutex(
            State(
                advertisement: advertisement,
                capabilities: capabilities,
                properties: AdvertisementProperties(of: advertisement, for: capabilities)
            )
        )
    }

    /// What becomes of it on the adapter that it is prepared for.
    var plan: AdvertisingPlan {
        let (advertisement, capabilities) = state.withLock { ($0.advertisement, $0.capabilities) }
        return advertisement.plan(for: capabilities, named: name)
    }

    /// Makes the properties what this adapter can take.
    func prepare(for capabilities: AdvertisingCapabilities) {
        state.withLock { state in
            state.capabilities = capabilities
            // bluetoothd counts anew when it is registered again.
            var advertisement = state.advertisement
            advertisement.timeout = advertisement.timeout.map { max($0 - time.elapsed, .seconds(1)) }
            state.properties = AdvertisementProperties(of: advertisement, for: capabilities)
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

    /// Changes what is advertised.
    ///
    /// - Returns: The properties that have another value now, and those that are gone, for `PropertiesChanged`.
    func change(to advertisement: Advertisement) -> (changed: [(String, BusValue)], gone: [String]) {
        let (former, present) = state.withLock { state in
            let former = state.properties.values
            state.advertisement = advertisement
            state.properties = AdvertisementProperties(of: advertisement, for: state.capabilities)
            return (former, state.properties.values)
        }
        var changed: [(String, BusValue)] = []
        var gone: [String] = []
        for (name, _) in AdvertisementProperties.all where former[name] != present[name] {
            if let value = present[name] {
                changed.append((name.text, value))
            } else {
                gone.append(name.text)
            }
        }
        return (changed, gone)
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
                    throw MethodError(.unknownProperty, "the advertisement has none")
                }
                return value
            },
            set: name == "TxPower" ? Self.takeNoteOfPower : nil
        )
    }
}
