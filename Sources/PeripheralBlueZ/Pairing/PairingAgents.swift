internal import PeripheralDBus
internal import PeripheralKit
internal import Synchronization

/// The pairing agents of the runs in this process.
///
/// bluetoothd asks the default agent about the devices of all adapters. If one process has runs on several
/// adapters, the default agent passes a question to the agent of the device's adapter.
final class PairingAgents: Sendable {
    static let shared = PairingAgents()

    struct Entry {
        let agent: PairingAgent
        let method: PairingMethod
        let adapter: ObjectPath
        /// The identifier of the bus; `nil` if it is not known.
        let bus: String?
    }

    /// The agents in the order of their registration.
    private let entries = Mutex<[Entry]>([])

    func add(_ entry: Entry) {
        entries.withLock { entries in
            entries.removeAll { $0.agent === entry.agent }
            entries.append(entry)
        }
    }

    func remove(_ agent: PairingAgent) {
        entries.withLock { entries in entries.removeAll { $0.agent === agent } }
    }

    /// The agents for the other adapters of the same bluetoothd, in the order of their registration.
    func others(besides agent: PairingAgent) -> [Entry] {
        entries.withLock { entries in
            guard let own = entries.first(where: { $0.agent === agent }) else { return [] }
            return entries.filter { $0.bus == own.bus && $0.adapter != own.adapter }
        }
    }
}
