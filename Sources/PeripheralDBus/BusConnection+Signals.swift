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
    /// - Parameters:
    ///   - rule: The rule.
    ///   - waitsForBus: Whether the function waits until the bus has added the rule. Of several
    ///     subscriptions, only the last one needs to wait. The bus adds rules in order, and refuses a rule
    ///     only if the connection has too many.
    ///   - handler: Receives the signals.
    /// - Returns: The handle for ``unsubscribe(_:)``. The subscription also ends with the connection.
    /// - Throws: The errors of a call.
    @discardableResult
    package func subscribe(
        to rule: MatchRule,
        waitsForBus: Bool = true,
        _ handler: @escaping SignalHandler
    ) async throws(BusError) -> SignalSubscription {
        let subscription = SignalSubscription(identifier: nextIdentifier())
        if let sender = rule.wellKnownSender { try await retainName(sender) }
        subscriptions[subscription] = Subscription(rule: rule, handler: handler)
        let argument: [BusValue] = [.string(rule.text)]
        do {
            if waitsForBus {
                _ = try await call(.bus, Self.busPath, Self.busInterface, "AddMatch", argument)
            } else {
                try callWithoutReply(.bus, Self.busPath, Self.busInterface, "AddMatch", argument)
            }
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

// MARK: - Watching names

extension BusConnection {
    /// Calls `handler` with the owner of a name: once before this method returns, and at each change.
    package func watchName(
        _ name: BusName,
        _ handler: @escaping NameHandler
    ) async throws(BusError) -> NameWatch {
        try await retainName(name)
        let watch = NameWatch(name: name, identifier: nextIdentifier())
        handler(watchedNames[name]?.owner)
        watchedNames[name]?.handlers.append((watch.identifier, handler))
        return watch
    }

    /// Returns whether a watched name has an owner.
    package func hasOwner(_ name: BusName) -> Bool {
        watchedNames[name]?.owner != nil
    }

    /// Returns the owner of a watched name, or `nil` if it has none.
    package func owner(of name: BusName) -> BusName? {
        watchedNames[name]?.owner
    }

    /// Asks the bus whether a name has an owner.
    ///
    /// The name does not have to be watched. The bus does not start a program for it.
    package func findOwner(of name: BusName) async throws(BusError) -> Bool {
        let answer = try await call(
            .bus,
            Self.busPath,
            Self.busInterface,
            "NameHasOwner",
            [.string(name.text)],
            timeout: .seconds(5)
        )
        return answer.first?.bool == true
    }

    /// Ends a watch.
    ///
    /// Its handler does not run again.
    ///
    /// A second call has no effect.
    package func unwatch(_ watch: NameWatch) {
        guard
            let index = watchedNames[watch.name]?.handlers.firstIndex(where: {
                $0.identifier == watch.identifier
            })
        else { return }
        watchedNames[watch.name]?.handlers.remove(at: index)
        releaseName(watch.name)
    }

    /// Watches a name and returns when its owner is known.
    func retainName(_ name: BusName) async throws(BusError) {
        watchedNames[name, default: WatchedName()].references += 1
        do {
            if watchedNames[name]?.references == 1 { try addOwnerMatch(name) }
            if watchedNames[name]?.isOwnerKnown != true { try await askOwner(of: name) }
        } catch {
            releaseName(name)
            throw error
        }
    }

    func releaseName(_ name: BusName) {
        watchedNames[name]?.references -= 1
        guard watchedNames[name]?.references == 0 else { return }
        watchedNames[name] = nil
        tree.owner(of: name).set(nil)
        // If the connection has ended, the bus has removed the rule.
        try? callWithoutReply(
            .bus,
            Self.busPath,
            Self.busInterface,
            "RemoveMatch",
            [.string(ownerRule(name).text)]
        )
    }

    private func addOwnerMatch(_ name: BusName) throws(BusError) {
        try callWithoutReply(
            .bus,
            Self.busPath,
            Self.busInterface,
            "AddMatch",
            [.string(ownerRule(name).text)]
        )
    }

    /// Asks the bus for the owner of a name.
    ///
    /// The reply is handled in order with the signals, so that the latest owner counts.
    private func askOwner(of name: BusName) async throws(BusError) {
        let result: Result<Void, BusError> = await withCheckedContinuation { continuation in
            let completion: PendingCall.Completion = { [self] answer in
                takeOwner(of: name, from: answer)
                switch answer {
                case .success, .failure(.remote): continuation.resume(returning: .success(()))
                case .failure(let error): continuation.resume(returning: .failure(error))
                }
            }
            do throws(BusError) {
                try callBus("GetNameOwner", name.text, completion: completion)
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }
        try result.get()
    }

    private static let noOwner = "org.freedesktop.DBus.Error.NameHasNoOwner"

    private func takeOwner(of name: BusName, from answer: Result<[BusValue], BusError>) {
        switch answer {
        case .success(let answer):
            setOwner(of: name, to: answer.first?.string ?? "")
        case .failure(.remote(let error, _)):
            setOwner(of: name, to: "")
            // After another error, the next watch asks again.
            if error != Self.noOwner { watchedNames[name]?.isOwnerKnown = false }
        case .failure:
            break
        }
    }

    func followOwner(_ signal: borrowing IncomingMessage) {
        guard signal.member == "NameOwnerChanged", signal.sender == "org.freedesktop.DBus" else { return }
        var arguments = signal.arguments
        guard let text = try? arguments.readString(), let name = try? BusName(text),
            (try? arguments.readBorrowedString()) != nil, let owner = try? arguments.readString()
        else { return }
        setOwner(of: name, to: owner)
    }

    private func setOwner(of name: BusName, to owner: String) {
        watchedNames[name]?.isOwnerKnown = true
        let owner = try? BusName(owner)
        guard let watched = watchedNames[name], watched.owner != owner else { return }
        watchedNames[name]?.owner = owner
        tree.owner(of: name).set(owner)
        for (_, handler) in watched.handlers { handler(owner) }
    }

    private func ownerRule(_ name: BusName) -> MatchRule {
        MatchRule(
            sender: .bus,
            path: Self.busPath,
            interface: Self.busInterface,
            member: "NameOwnerChanged",
            firstArgument: name.text
        )
    }
}

// MARK: - Owning names

extension BusConnection {
    /// Makes this connection the owner of a well-known name.
    ///
    /// - Throws: ``BusError/invalidValue(_:)`` when another program owns the name.
    package func requestName(_ name: BusName) async throws(BusError) {
        let doNotQueue: UInt32 = 4
        let answer = try await call(
            .bus,
            Self.busPath,
            Self.busInterface,
            "RequestName",
            [.string(name.text), .uint32(doNotQueue)]
        )
        let (isOwner, wasOwner): (UInt32, UInt32) = (1, 4)
        let result: UInt32? = answer.first?.integer()
        guard result == isOwner || result == wasOwner else {
            throw .invalidValue("the bus name \(name) belongs to another program")
        }
    }

    /// Releases a well-known name.
    package func releaseOwnName(_ name: BusName) async throws(BusError) {
        _ = try await call(.bus, Self.busPath, Self.busInterface, "ReleaseName", [.string(name.text)])
    }
}
