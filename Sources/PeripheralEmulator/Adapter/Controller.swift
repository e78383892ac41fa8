internal import PeripheralTesting
private import Synchronization

/// The controller of an adapter, which survives a restart of bluetoothd.
///
/// Centrals belong to a controller, so they find the same peripheral after the restart.
final class Controller: Sendable {
    let adapter: EmulatedAdapter
    let server: VirtualGATTServer
    let sockets = ControllerSockets()
    private let blocked = Mutex(false)
    /// The alias that bluetoothd has stored.
    private let storedAlias = Mutex<String?>(nil)

    /// Whether rfkill blocks the controller.
    var isBlocked: Bool {
        get { blocked.withLock(\.self) }
        set { blocked.withLock { $0 = newValue } }
    }

    var alias: String? {
        get { storedAlias.withLock(\.self) }
        set { storedAlias.withLock { $0 = newValue } }
    }

    init(_ adapter: EmulatedAdapter, _ configuration: EmulatedBlueZ.Configuration) {
        self.adapter = adapter
        server = VirtualGATTServer(
            deviceName: configuration.deviceName,
            version: configuration.version,
            address: adapter.address,
            connectionsInterruptAdvertising: adapter.kind == .extended,
            asksBeforeRepairing: configuration.asksBeforeRepairing,
            findsSubscribersByAddress: true,
            clock: configuration.clock
        )
        server.isPairable = false
    }
}

/// The controllers that are plugged in, or were plugged in earlier.
struct Hardware: Sendable {
    private var known: [Controller] = []
    private(set) var pluggedIn: [Controller] = []

    init(_ configuration: EmulatedBlueZ.Configuration) {
        for adapter in configuration.adapters {
            _ = plugIn(adapter, configuration)
        }
    }

    /// Returns the controller of the adapter with this name, even if unplugged; for `nil`, the first
    /// controller.
    func controller(named name: String?) -> Controller? {
        (pluggedIn + known).first { name == nil || $0.adapter.name == name }
    }

    /// Returns the message for a central near an adapter that was never plugged in.
    func absence(of name: String?) -> String {
        guard let name else { return "The emulated machine has no adapter." }
        let names = (pluggedIn + known).map(\.adapter.name)
        return "The emulated machine has no adapter \(name). Its adapters are: "
            + "\(names.isEmpty ? "none" : Array(Set(names)).sorted().joined(separator: ", "))."
    }

    mutating func plugIn(
        _ adapter: EmulatedAdapter,
        _ configuration: EmulatedBlueZ.Configuration
    ) -> Controller {
        let controller: Controller
        if let former = known.first(where: { $0.adapter == adapter }) {
            controller = former
        } else {
            controller = Controller(adapter, configuration)
            known.removeAll { $0.adapter.name == adapter.name }
            known.append(controller)
        }
        pluggedIn.append(controller)
        return controller
    }

    mutating func unplug(_ name: String) {
        pluggedIn.removeAll { $0.adapter.name == name }
    }
}
