internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

/// The sockets that updates of a characteristic take to the same recipients, as long as nothing else happens on the loop.
///
/// A class, since the code that copies a value of all this takes longer than what uses it.
final class SocketRun {
    struct Way {
        let socket: SubscriptionTable.Socket
        /// `nil` when it is closed.
        let packets: PacketSocket?
    }

    let characteristic: AttributeHandle
    let recipients: Update.Recipients
    /// Whether what is sent may be confirmed.
    let isConfirmed: Bool
    let ways: [Way]
    /// What keeps it from others who are to confirm it.
    let failure: PeripheralError?

    init(
        of update: Update,
        isConfirmed: Bool,
        ways: [Way],
        lacking failure: PeripheralError?
    ) {
        (characteristic, recipients) = (update.characteristic, update.recipients)
        (self.isConfirmed, self.ways, self.failure) = (isConfirmed, ways, failure)
    }

    /// Whether an update takes the same way.
    func covers(_ update: Update) -> Bool {
        update.characteristic == characteristic && update.recipients == recipients && !update.value.isEmpty
            && !update.awaitsConfirmation && update.isForWhoeverIsThere
    }
}

/// An update that some of its sockets have not taken yet, since they are full.
struct WaitingPackets {
    let update: Update
    let run: SocketRun
    /// For how many sockets.
    var count: Int
    var isLost: Bool
}

extension Centrals {
    func run(
        of update: Update,
        by sockets: [SubscriptionTable.Socket],
        lacking failure: PeripheralError?
    ) -> SocketRun {
        SocketRun(
            of: update,
            isConfirmed: abilities.confirmsOnSockets
                && characteristics[update.characteristic]?.isIndicated == true,
            ways: sockets.map { SocketRun.Way(socket: $0, packets: self.sockets[$0]) },
            lacking: failure
        )
    }

    /// Sends an update by sockets.
    ///
    /// - Returns: The same, unless one of the sockets did not take it at once.
    func send(_ update: Update, by run: SocketRun) -> SocketRun? {
        if run.isConfirmed {
            var sources: [Confirmations.Source: Int] = [:]
            for way in run.ways { sources[.socket(way.socket)] = 1 }
            expectConfirmation(of: update, from: sources, lacking: run.failure)
        }
        willDepart(update, for: run.ways)
        sent(packets: run.ways.count)
        guard !update.awaitsConfirmation else {
            for case let packets? in run.ways.map(\.packets) where packets.send(update.value) == nil {
                packets.sendLater(update.value) { _ in }
            }
            return nil
        }
        var (isLost, waiting) = (false, 0)
        for index in run.ways.indices {
            guard let packets = run.ways[index].packets else {
                isLost = true
                continue
            }
            guard let isTaken = packets.send(update.value) else {
                sendLater(update, by: packets)
                waiting += 1
                continue
            }
            isLost = isLost || !isTaken
        }
        guard waiting == 0 else {
            let packets = WaitingPackets(update: update, run: run, count: waiting, isLost: isLost)
            waitingPackets[update.id] = packets
            return nil
        }
        passed(update, by: run, isLost: isLost)
        return isLost ? nil : run
    }

    private func sendLater(_ update: Update, by packets: PacketSocket) {
        packets.sendLater(update.value) { [weak self, id = update.id] isTaken in
            self?.assumeIsolated { $0.passed(id, isTaken) }
        }
    }

    /// Takes note that a socket that was full has taken a packet, or is closed.
    private func passed(_ update: Update.ID, _ isTaken: Bool) {
        guard var packets = waitingPackets.removeValue(forKey: update) else { return }
        packets.count -= 1
        packets.isLost = packets.isLost || !isTaken
        guard packets.count == 0 else { return waitingPackets[update] = packets }
        // The socket has room for many more as soon as it has for one.
        tellEndsTogether()
        passed(packets.update, by: packets.run, isLost: packets.isLost)
    }

    private func passed(_ update: Update, by run: SocketRun, isLost: Bool) {
        guard isLost else { return taken(update, .delivered) }
        guard update.recipients != .subscribers else {
            return taken(update, update.isForWhoeverIsThere ? .delivered : .failed(.subscriptionEnded))
        }
        // bluetoothd has closed it, and its end is not heard of yet: that tells what becomes of the update.
        let isClosing = run.ways.contains { $0.packets != nil && sockets[$0.socket] === $0.packets }
        if isClosing { holdBack(update) } else { taken(update, .failed(.subscriptionEnded)) }
    }
}

extension PeripheralError {
    static let subscriptionEnded = PeripheralError(
        code: .notSubscribed,
        message: "The central has ended its subscription, or is gone."
    )
}
