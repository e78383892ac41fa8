package import PeripheralKit
internal import PeripheralTesting

/// The time that a scenario waits for an event.
///
/// The time is long enough for a slow machine. It is short enough to distinguish a failure from a scenario
/// that hangs.
private let patience = Duration.seconds(4)

/// Waits for the next matching event; fails the scenario if no such event occurs.
@discardableResult
package func next(
    of events: some AsyncSequence<SessionEvent, Never> & Sendable,
    _ subject: String,
    where isMeant: @escaping @Sendable (SessionEvent) -> Bool
) async throws -> SessionEvent {
    try await withThrowingTaskGroup(of: SessionEvent?.self) { group in
        group.addTask { await events.first(where: isMeant) }
        group.addTask {
            try await Task.sleep(for: patience)
            return nil
        }
        defer { group.cancelAll() }
        guard let event = try await group.next() ?? nil else {
            throw ConformanceFailure(description: "\(subject): the session did not report this event.")
        }
        return event
    }
}

extension SessionEvent {
    /// The event in one word; `nil` for events that only add information about a central.
    var kind: String? {
        switch self {
        case .connected: "connected"
        case .subscribed: "subscribed"
        case .unsubscribed: "unsubscribed"
        case .disconnected: "disconnected"
        case .changed, .paired, .pairingFailed, .bondRemoved, .pairingWindowOpened, .pairingWindowClosed,
            .advertisementEnded, .restoredSubscriberChanged, .handlesChanged, .restorationFailed:
            nil
        }
    }
}

extension TestCentral {
    /// Subscribes to a characteristic and waits until the program knows the subscription.
    ///
    /// Updates that the program sends before this time have no recipient.
    package func subscribe<Value>(
        to characteristic: Characteristic<Value>,
        for kind: UpdateKind? = nil,
        knownTo session: PeripheralSession
    ) async throws {
        let events = session.events
        try await subscribe(to: characteristic, for: kind)
        try await next(of: events, "subscription to \(characteristic.uuid)") { event in
            guard case .subscribed(let subscription) = event else { return false }
            return subscription.characteristic == characteristic.uuid
        }
    }
}

/// Waits until a program knows a connected central.
func untilConnected(_ session: PeripheralSession) async throws {
    let events = session.events
    if session.centrals.isEmpty { try await next(of: events, "connection") { $0.kind == "connected" } }
}
