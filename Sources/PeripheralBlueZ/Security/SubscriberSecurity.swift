internal import Logging
internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

/// Decides which subscribers may receive values that require a secure link.
///
/// bluetoothd does not check this, see ``SecuredSubscribers``. The check runs when the backend passes an
/// update to bluetoothd. If a central reconnects in the instant before bluetoothd sends the update, the
/// check does not detect the central.
///
/// The object belongs to the event loop.
final class SubscriberSecurity {
    private let context: CentralsContext
    private let kernelLinks: any KernelLinks
    private let log: RunLog
    private var subscribers = SecuredSubscribers()

    init(in context: CentralsContext, kernelLinks: any KernelLinks, log: RunLog) {
        self.context = context
        self.kernelLinks = kernelLinks
        self.log = log
    }

    /// Logs how links are judged, unless the kernel reports which links are encrypted.
    func logJudgement(of adapter: ObjectPath) {
        guard context.characteristics.values.contains(where: { $0.security > .open }) else { return }
        guard kernelLinks.links(of: adapter) == nil else { return log.forget(.unknownLinkSecurity) }
        log.report(
            .unknownLinkSecurity,
            .notice,
            """
            The kernel does not report which links are encrypted, perhaps because this program may not open \
            Bluetooth sockets. A central that returns gets values that demand a secure link only after it has \
            used an attribute that demands the same security.
            """
        )
    }

    /// Logs once for each characteristic that updates cannot reach secure subscribers alone.
    func logWithheld(_ characteristic: AttributeHandle) {
        guard let uuid = context.characteristics[characteristic]?.uuid else { return }
        log.report(
            .withheldValues(of: characteristic),
            .notice,
            """
            Values are withheld from all subscribers while the link of one of them is not secure, because \
            bluetoothd reaches them only together.
            """,
            metadata: ["peripheral.characteristic": .bounded("\(uuid)")]
        )
    }

    /// Returns the subscribers that must not receive a value of a characteristic now; `nil` if all may
    /// receive it.
    func insecureSubscribers(of characteristic: AttributeHandle) -> SecuredSubscribers.Insecure? {
        guard let level = context.notifySecurity(of: characteristic) else { return nil }
        let links = context.adapter.flatMap { kernelLinks.links(of: $0) }
        let insecure = subscribers.insecure(for: characteristic, at: level, links: links)
        return insecure.isEmpty ? nil : insecure
    }

    /// Records that bluetoothd has permitted a request of a central that requires a security level.
    func served(_ central: Central, at level: SecurityLevel) {
        subscribers.served(central, at: level)
    }

    /// Records that a central pairs, which can change its keys.
    func mayPair(_ central: Central.ID, at level: SecurityLevel) {
        subscribers.mayPair(central, at: level)
    }

    func subscribed(_ central: Central, to characteristic: AttributeHandle) {
        guard let level = context.notifySecurity(of: characteristic) else { return }
        subscribers.subscribed(central, to: characteristic, at: level)
    }

    func strangerSubscribed(to characteristic: AttributeHandle) {
        subscribers.strangerSubscribed(to: characteristic)
    }

    func strangersUnsubscribed(from characteristic: AttributeHandle) {
        subscribers.strangersUnsubscribed(from: characteristic)
    }

    func removed(_ characteristic: AttributeHandle) {
        subscribers.removed(characteristic)
    }

    func connected(_ central: Central) { subscribers.connected(central) }

    func disconnected(_ central: Central) { subscribers.disconnected(central) }

    func forgotten(_ central: Central.ID) { subscribers.forgotten(central) }
}
