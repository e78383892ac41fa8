internal import CPeripheralDBus

/// The handle of a subscription, which ``BusConnection/subscribe(to:_:)`` returns.
///
/// ``BusConnection/unsubscribe(_:)`` ends the subscription.
package struct SignalSubscription: Sendable, Hashable {
    let identifier: UInt64
}

/// Handles a signal.
///
/// Called on the loop, in message order.
package typealias SignalHandler = @Sendable (borrowing IncomingMessage) -> Void

struct Subscription {
    let rule: MatchRule
    let handler: SignalHandler
}

// MARK: - Receiving

extension BusConnection {
    /// Subscribes to the signals that match a rule and passes them to `handler`.
    ///
    /// If the rule names a sender by a well-known name, only signals of the name's current owner match.
    ///
    /// - Returns: The handle for ``unsubscribe(_:)``. The subscription also ends with the connection.
    package func subscribe(
        to rule: MatchRule,
        _ handler: @escaping SignalHandler
    ) async throws(BusError) -> SignalSubscription {
        let subscription = SignalSubscription(identifier: nextIdentifier())
        if let sender = rule.wellKnownSender { try await retainName(sender) }
        subscriptions[subscription] = Subscription(rule: rule, handler: handler)
        do {
            _ = try await call(.bus, Self.busPath, Self.busInterface, "AddMatch", [.string(rule.text)])
        } catch {
            subscriptions[subscription] = nil
            if let sender = rule.wellKnownSender { releaseName(sender) }
            throw error
        }
        return subscription
    }

    /// Ends a subscription.
    ///
    /// Its handler does not run again.
    ///
    /// A second call has no effect.
    package func unsubscribe(_ subscription: SignalSubscription) {
        guard let ended = subscriptions.removeValue(forKey: subscription) else { return }
        if let sender = ended.rule.wellKnownSender { releaseName(sender) }
        // If the connection has ended, the bus has removed the rule.
        try? callWithoutReply(
            .bus,
            Self.busPath,
            Self.busInterface,
            "RemoveMatch",
            [.string(ended.rule.text)]
        )
    }

    func receiveSignal(_ signal: borrowing IncomingMessage) {
        followOwner(signal)
        // There are few subscriptions, and a handler may end any of them.
        for (identifier, subscription) in subscriptions where subscriptions[identifier] != nil {
            if matches(subscription.rule, signal) { subscription.handler(signal) }
        }
    }

    private func matches(_ rule: MatchRule, _ signal: borrowing IncomingMessage) -> Bool {
        guard rule.matchesExceptSender(signal) else { return false }
        guard let sender = rule.sender else { return true }
        guard rule.wellKnownSender != nil else { return signal.sender.equals(sender.text) }
        guard let owner = watchedNames[sender]?.owner else { return false }
        return signal.sender.equals(owner.text)
    }
}

extension MatchRule {
    /// The sender, if it is a name that can change its owner.
    ///
    /// The bus sends under its own well-known name.
    fileprivate var wellKnownSender: BusName? {
        guard let sender, !sender.isUnique, sender != .bus else { return nil }
        return sender
    }
}

// MARK: - Sending

extension BusConnection {
    /// Sends a signal to `destination`, or to all its subscribers if that is `nil`.
    package func emit(
        _ path: ObjectPath,
        _ interface: InterfaceName,
        _ member: MemberName,
        to destination: BusName? = nil,
        _ body: (inout MessageWriter) -> Void = { _ in }
    ) throws(BusError) {
        let message = try OutgoingMessage.signal(path, interface, member)
        if let destination { unsafe dbus_message_set_destination(message.pointer, destination.text) }
        try message.write(body)
        guard unsafe transport.send(message.pointer) != nil else { throw .disconnected }
    }

    /// Announces the new value of a property that contains bytes.
    ///
    /// Optimized for frequent use: the bytes are written into the message without conversion.
    package func emitPropertyChanged(
        _ path: ObjectPath,
        _ interface: InterfaceName,
        _ property: String,
        bytes: [UInt8]
    ) throws(BusError) {
        try emit(path, .properties, .propertiesChanged) { writer in
            writer.append(interface.text)
            writer.appendProperties { changed in
                changed.appendProperty(property, .bytes) { $0.append(bytes: bytes) }
            }
            writer.appendArray(of: .string) { _ in }
        }
    }

    /// Announces new values of properties.
    package func emitPropertiesChanged(
        _ path: ObjectPath,
        _ interface: InterfaceName,
        _ changed: [(String, BusValue)],
        invalidated: [String] = []
    ) throws(BusError) {
        try emit(path, .properties, .propertiesChanged) { writer in
            writer.append(interface.text)
            writer.append(.properties(changed))
            writer.append(.strings(invalidated))
        }
    }
}
