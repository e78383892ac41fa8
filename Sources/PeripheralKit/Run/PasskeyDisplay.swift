/// Observes the passkeys that the handlers of a peripheral show, for tests of the peripheral.
///
/// All copies of a peripheral share this object.
package final class PasskeyDisplay: Sendable {
    private struct Event: Sendable {
        var passkey: UInt32
        /// Whether the handler has returned.
        var isComplete: Bool
    }

    /// The time after which a person enters a passkey while its handler still shows the passkey.
    private static let readingTime: Duration = .seconds(1)

    private let events = Broadcast<Event>(capacity: 64)

    /// Returns a function that waits until a handler has shown a passkey.
    ///
    /// Call this method before the pairing begins. The function waits until the handler has returned. A
    /// handler can also show the passkey until its task is cancelled. The function therefore waits at most
    /// 1 second after the call of the handler. It returns `nil` if its task is cancelled.
    package func reader() -> @Sendable (_ passkey: UInt32) async -> UInt32? {
        let (calls, returns) = (events.listen(), events.listen())
        return { passkey in
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    for await event in returns where event.passkey == passkey && event.isComplete { return }
                }
                group.addTask {
                    for await event in calls where event.passkey == passkey {
                        try? await ContinuousClock().sleep(for: Self.readingTime)
                        return
                    }
                }
                await group.next()
                group.cancelAll()
            }
            return Task.isCancelled ? nil : passkey
        }
    }

    /// Returns a pairing whose handlers report the passkeys that they show.
    func observing(_ pairing: Pairing) -> Pairing {
        let kinds = pairing.kinds.map { kind in
            guard case .displayPasskey(let show) = kind else { return kind }
            return .displayPasskey { [self] passkey, central in
                events.send(Event(passkey: passkey, isComplete: false))
                try await show(passkey, central)
                events.send(Event(passkey: passkey, isComplete: true))
            }
        }
        return Pairing(kinds: kinds, policy: pairing.policy)
    }
}
