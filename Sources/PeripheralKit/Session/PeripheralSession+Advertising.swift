extension PeripheralSession {
    /// What is advertised, as the program has declared or demanded it; empty after ``stopAdvertising()``.
    ///
    /// An advertisement whose time is over is among them: ``SessionEvent/advertisementEnded(_:)`` tells.
    public var advertisements: [Advertisement] { runtime.advertising.advertisements }

    /// Advertises these instead of what has been advertised so far.
    ///
    /// ```swift
    /// try await session.advertise(Advertisement(localName: "Lamp", manufacturerData: [0x0059: [1, 2]]))
    /// ```
    ///
    /// Each takes the place of the one that stood there before: what stays as it is stays on the air without a gap, or is
    /// put there again when its time was over. What an advertisement leaves open is filled in as in a declaration. Centrals
    /// that are connected stay so. The change lasts until the next, or the end of the run, whatever happens to the Bluetooth
    /// stack meanwhile. What is possible is told by ``Advertisement/plan(for:)``.
    ///
    /// The call returns when the stack has taken all that is to be on the air; changes thus come one after the other, and no
    /// faster than a stack can follow. While the peripheral is off the air, it returns at once, and what is demanded is
    /// advertised when the peripheral comes back. An advertisement that is pausing while a central is connected waits for that
    /// central to leave, not so the call. To cancel the call does not take back what it has begun.
    ///
    /// With BlueZ, an advertisement is changed where it is as long as only its content changes: services, manufacturer and
    /// service data, raw data, the local name or the appearance, in as many bytes as one kind of advertising takes. Any
    /// other change, and leaving out a name or an appearance, takes that advertisement off the air for the few milliseconds
    /// that it takes to register it anew; the others stay. `timeout` counts anew when it is changed, or was over.
    ///
    /// - Parameter advertisements: What to advertise; without any, what the peripheral declares.
    /// - Throws: ``DeclarationError`` when an advertisement is invalid or does not fit on this adapter, before anything is
    ///   changed. ``PeripheralError`` with the code ``PeripheralError/Code/rejected`` when the stack refuses one, such as
    ///   when the adapter has no room for another: all is as it was before the call then. With the code
    ///   ``PeripheralError/Code/stopped``. `CancellationError` when cancelled before it begins.
    public func advertise(_ advertisements: Advertisement...) async throws {
        try await advertise(advertisements)
    }

    /// Advertises these instead of what has been advertised so far, as ``advertise(_:)-(Advertisement...)`` does.
    ///
    /// - Parameter advertisements: What to advertise; when empty, what the peripheral declares.
    /// - Throws: The same.
    public func advertise(_ advertisements: [Advertisement]) async throws {
        try await runtime.advertising.change { present, declared in
            present = advertisements.isEmpty ? declared : advertisements
            return Set(present.indices)
        }
    }

    /// Changes one of the advertisements, and leaves the others as they are.
    ///
    /// ```swift
    /// try await session.changeAdvertisement { $0.manufacturerData[0x0059] = [level] }
    /// ```
    ///
    /// Otherwise as ``advertise(_:)-(Advertisement...)``. Changes that are made at the same time by several tasks do not
    /// undo each other.
    ///
    /// - Parameters:
    ///   - index: Its place in ``advertisements``.
    ///   - change: Changes it; called once.
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/notDeclared`` when there is none at this place, such
    ///   as after ``stopAdvertising()``; what `change` throws; otherwise the same.
    public func changeAdvertisement(
        at index: Int = 0,
        _ change: (inout Advertisement) throws -> Void
    ) async throws {
        try await runtime.advertising.change { present, _ in
            guard present.indices.contains(index) else {
                throw PeripheralError(
                    code: .notDeclared,
                    message: "There is no advertisement at place \(index), but \(present.count) of them; "
                        + "use advertise(_:) to begin with another."
                )
            }
            try change(&present[index])
            return [index]
        }
    }

    /// Advertises nothing any more: nobody new finds the peripheral, while centrals that are connected are served.
    ///
    /// ``advertise(_:)-(Advertisement...)`` begins again. On the air nothing tells a central that has connected before from
    /// a new one: neither can connect meanwhile.
    ///
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/stopped``, or with the reason of the stack.
    ///   `CancellationError` when cancelled before it begins.
    public func stopAdvertising() async throws {
        try await runtime.advertising.change { present, _ in
            present = []
            return []
        }
    }
}
