internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

/// Handles bluetoothd's reports about devices, and the effects on connected centrals.
///
/// The object belongs to the event loop.
final class Connections {
    private let devices: DeviceRegister
    private let links: Links
    private let security: SubscriberSecurity
    private let subscriptions: Subscriptions
    private let completion: UpdateCompletion
    private let reporter: EventReporter
    private var countChanged: (@Sendable (Int) -> Void)?

    init(
        devices: DeviceRegister,
        links: Links,
        security: SubscriberSecurity,
        subscriptions: Subscriptions,
        completion: UpdateCompletion,
        reporter: EventReporter
    ) {
        self.devices = devices
        self.links = links
        self.security = security
        self.subscriptions = subscriptions
        self.completion = completion
        self.reporter = reporter
        links.onChange { [weak self, devices] central, parameters in
            self?.apply(devices.set(parameters, of: central))
        }
    }

    /// Calls the handler with the number of connected centrals whenever it changes.
    func onCountChange(_ handler: (@Sendable (Int) -> Void)?) {
        countChanged = handler
    }

    /// The central that makes a request.
    func central(_ address: DeviceAddress, mtu: Int) -> Central {
        let (central, changes) = devices.heard(from: address, mtu: mtu)
        apply(changes)
        subscriptions.resume(central.id)
        return devices.central(central.id) ?? central
    }

    /// The central of a device, as far as it is known; `nil` if the path is not the path of a device.
    ///
    /// A bond is known even before the connection is reported.
    func central(at device: ObjectPath) -> Central? {
        Central.ID(devicePath: device).map { devices.known($0) ?? Central(address: $0.address) }
    }

    /// Records all objects of bluetoothd.
    func devicesReported(_ objects: BusValue?, below adapter: ObjectPath) {
        for entry in objects?.dictionary?.entries ?? [] {
            guard let path = entry.key.objectPath, path.isBelow(adapter),
                let device = entry.value[BlueZ.device.text]
            else { continue }
            deviceChanged(path, device)
        }
    }

    func deviceChanged(_ path: ObjectPath, _ properties: BusValue) {
        apply(devices.update(path, properties))
        if properties["ServicesResolved"]?.bool == true, let id = Central.ID(devicePath: path) {
            subscriptions.resume(id)
        }
    }

    func deviceRemoved(_ path: ObjectPath) {
        apply(devices.remove(path))
    }

    /// Records the reason in bluetoothd's signal about a device.
    func deviceDisconnected(_ path: ObjectPath, because cause: DisconnectionReason.Cause) {
        if let id = Central.ID(devicePath: path) { links.ended(id, because: cause) }
    }

    private func apply(_ changes: [DeviceTable.Change]) {
        for change in changes {
            switch change {
            case .connected(var central):
                _ = devices.set(links.connected(central.id), of: central.id)
                central = devices.central(central.id) ?? central
                security.connected(central)
                reporter.report(.connected(central))
                completion.connected(central.id)
                subscriptions.connected(central)
                countChanged?(devices.connectedCount)
            case .changed(let central):
                security.connected(central)
                subscriptions.changed(central)
                reporter.report(.connected(central))
            case .identified(let central):
                subscriptions.identified(central)
            case .disconnected(let central):
                disconnected(central)
                countChanged?(devices.connectedCount)
            case .bondRemoved(let central):
                reporter.report(.bondRemoved(central))
            case .forgotten(let central):
                security.forgotten(central)
                subscriptions.forgotten(central)
                reporter.report(.forgotten(central))
            }
        }
    }

    private func disconnected(_ central: Central) {
        security.disconnected(central)
        let leaving = subscriptions.disconnected(central, because: links.disconnected(central.id))
        completion.disconnected(central.id)
        subscriptions.settleRoutes()
        subscriptions.settleLater(leaving)
    }
}
