/// The handle of a watch that ``BusConnection/watchName(_:_:)`` returns and ``BusConnection/unwatch(_:)``
/// ends.
package struct NameWatch: Sendable, Hashable {
    let name: BusName
    let identifier: UInt64
}

/// A name whose owner is watched.
struct WatchedName {
    var owner: BusName?
    /// The number of watches, and of subscriptions with a rule that names this sender.
    var references = 0
    var handlers: [(identifier: UInt64, handler: NameHandler)] = []
}

/// Receives the owner of a name, or `nil` for none, on the loop in message order.
package typealias NameHandler = @Sendable (BusName?) -> Void

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
            try await askOwner(of: name)
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

    private func takeOwner(of name: BusName, from answer: Result<[BusValue], BusError>) {
        switch answer {
        case .success(let answer):
            setOwner(of: name, to: answer.first?.string ?? "")
        case .failure(.remote):
            setOwner(of: name, to: "")
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
