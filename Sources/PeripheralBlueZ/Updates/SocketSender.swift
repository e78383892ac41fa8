internal import PeripheralCore
internal import PeripheralDBus
internal import PeripheralKit

/// The sockets through which updates of a characteristic reach the same recipients.
///
/// The value is valid until the current work on the loop ends. The type is a class, because copying a value
/// of this size takes longer than its use.
final class SocketRun {
    struct Route {
        let socket: SubscriptionTable.Socket
        /// The open socket; `nil` if the socket is closed.
        let packets: PacketSocket?
    }

    let characteristic: AttributeHandle
    let recipients: BackendUpdate.Recipients
    /// Whether the sent updates may be confirmed.
    let isConfirmed: Bool
    let routes: [Route]
    /// The reason why some subscribers that must confirm are not reached.
    let failure: PeripheralError?

    init(
        of update: BackendUpdate,
        isConfirmed: Bool,
        routes: [Route],
        lacking failure: PeripheralError?
    ) {
        (characteristic, recipients) = (update.characteristic, update.recipients)
        (self.isConfirmed, self.routes, self.failure) = (isConfirmed, routes, failure)
    }

    /// Returns whether an update uses the same sockets.
    func covers(_ update: BackendUpdate) -> Bool {
        update.characteristic == characteristic && update.recipients == recipients && !update.value.isEmpty
            && !update.awaitsConfirmation && update.isForAllSubscribers
    }
}

/// The owner of a ``SocketSender``.
protocol SocketSenderDelegate: AnyObject {
    /// Keeps an update that a socket has not accepted, until the routes are known again.
    func holdBack(_ update: BackendUpdate)

    /// Sends the updates that have waited until bluetoothd reads the bus again.
    func pauseEnded()
}

/// Sends updates through sockets.
///
/// The sender belongs to the event loop.
final class SocketSender {
    /// An update that some full sockets have not accepted yet.
    private struct WaitingPackets {
        let update: BackendUpdate
        let run: SocketRun
        /// The number of sockets for which the update waits.
        var count: Int
        var isLost: Bool
    }

    private let context: CentralsContext
    private let sockets: SubscriberSockets
    private let confirmations: ConfirmationTracker
    private let completion: UpdateCompletion
    private let reporter: EventReporter
    private let turns: DaemonTurns
    private weak var delegate: (any SocketSenderDelegate)?
    private var waiting: [BackendUpdate.ID: WaitingPackets] = [:]
    private var fairness = BusFairness()

    init(
        in context: CentralsContext,
        sockets: SubscriberSockets,
        confirmations: ConfirmationTracker,
        completion: UpdateCompletion,
        reporter: EventReporter,
        turns: DaemonTurns
    ) {
        (self.context, self.sockets) = (context, sockets)
        (self.confirmations, self.completion) = (confirmations, completion)
        (self.reporter, self.turns) = (reporter, turns)
    }

    func setDelegate(_ delegate: any SocketSenderDelegate) {
        self.delegate = delegate
    }

    /// Whether the sender must not send until bluetoothd has read the bus.
    var isPaused: Bool { fairness.isAwaited }

    /// Returns the run of an update through sockets.
    func run(
        of update: BackendUpdate,
        by sockets: [SubscriptionTable.Socket],
        lacking failure: PeripheralError?
    ) -> SocketRun {
        SocketRun(
            of: update,
            isConfirmed: context.abilities.confirmsOnSockets && context.isIndicated(update.characteristic),
            routes: sockets.map { SocketRun.Route(socket: $0, packets: self.sockets.packets(for: $0)) },
            lacking: failure
        )
    }

    /// Sends an update through sockets.
    ///
    /// - Returns: The same run; `nil` if one of the sockets did not accept the update at once.
    func send(_ update: BackendUpdate, by run: SocketRun) -> SocketRun? {
        if run.isConfirmed {
            var sources: [Confirmations.Source: Int] = [:]
            for route in run.routes { sources[.socket(route.socket)] = 1 }
            confirmations.expect(update, from: sources, lacking: run.failure)
        }
        completion.willSend(update, by: run.routes)
        countPackets(run.routes.count)
        guard !update.awaitsConfirmation else {
            for case let packets? in run.routes.map(\.packets) where packets.send(update.value) == nil {
                packets.sendLater(update.value) { _ in }
            }
            return nil
        }
        var (isLost, waitingCount) = (false, 0)
        for index in run.routes.indices {
            guard let packets = run.routes[index].packets else {
                isLost = true
                continue
            }
            guard let isTaken = packets.send(update.value) else {
                sendLater(update, by: packets)
                waitingCount += 1
                continue
            }
            isLost = isLost || !isTaken
        }
        guard waitingCount == 0 else {
            waiting[update.id] = WaitingPackets(update: update, run: run, count: waitingCount, isLost: isLost)
            return nil
        }
        taken(update, by: run, isLost: isLost)
        return isLost ? nil : run
    }

    private func sendLater(_ update: BackendUpdate, by packets: PacketSocket) {
        packets.sendLater(update.value) { [weak self, id = update.id] isTaken in self?.taken(id, isTaken) }
    }

    /// Records that a socket that was full has accepted a packet or is closed.
    private func taken(_ update: BackendUpdate.ID, _ isTaken: Bool) {
        guard var packets = waiting.removeValue(forKey: update) else { return }
        packets.count -= 1
        packets.isLost = packets.isLost || !isTaken
        guard packets.count == 0 else { return waiting[update] = packets }
        // As soon as the socket has room for one packet, it has room for many packets.
        reporter.gatherEndsInThisTurn()
        taken(packets.update, by: packets.run, isLost: packets.isLost)
    }

    private func taken(_ update: BackendUpdate, by run: SocketRun, isLost: Bool) {
        guard isLost else { return completion.taken(update.id, .completed) }
        guard update.recipients != .subscribers else {
            let outcome: BackendUpdateOutcome =
                update.isForAllSubscribers ? .completed : .failed(.subscriptionEnded)
            return completion.taken(update.id, outcome)
        }
        // bluetoothd has closed the socket, but the backend has not processed its end yet. The end of the
        // socket decides how the update ends.
        let isClosing = run.routes.contains { route in
            route.packets != nil && sockets.packets(for: route.socket) === route.packets
        }
        guard isClosing else { return completion.taken(update.id, .failed(.subscriptionEnded)) }
        completion.withdraw(update.id)
        delegate?.holdBack(update)
    }

    private func countPackets(_ count: Int) {
        guard fairness.sent(count, at: .now) else { return }
        turns.afterAnswer { [weak self] in
            self?.fairness.answered(at: .now)
            self?.delegate?.pauseEnded()
        }
    }
}

extension PeripheralError {
    static let subscriptionEnded = PeripheralError(
        code: .notSubscribed,
        message: "The central has unsubscribed or disconnected."
    )
}
