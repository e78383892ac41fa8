extension PeripheralSession {
    /// The advertisements that the program declared or last set; empty after ``stopAdvertising()``.
    ///
    /// An advertisement whose timeout has passed stays in the list. ``SessionEvent/advertisementEnded(_:)``
    /// reports the end of the advertisement.
    public var advertisements: [Advertisement] { runtime.advertising.advertisements }

    /// Replaces the advertisements.
    ///
    /// ```swift
    /// try await session.advertise(Advertisement(localName: "Lamp", manufacturerData: [0x0059: [1, 2]]))
    /// ```
    ///
    /// Each advertisement replaces the earlier advertisement at the same index. An advertisement that does
    /// not change stays on the air without a gap. An unchanged advertisement whose timeout has passed goes on
    /// the air again. Fields that an advertisement does not set have the same defaults as in a declaration.
    /// Connected centrals stay connected.
    ///
    /// The new advertisements last until the next change or the end of the run, even if the Bluetooth stack
    /// restarts meanwhile. `Advertisement.plan(for:)` reports which advertisements are possible.
    ///
    /// The call returns when the stack has accepted all advertisements. Several changes are applied one after
    /// the other. Cancelling the call does not undo a change that has begun.
    ///
    /// While the peripheral is off the air, the call returns at once. The new advertisements go on the air
    /// when the peripheral is published again. An advertisement that pauses while a central is connected
    /// starts when that central disconnects. The call does not wait for that disconnection.
    ///
    /// The Bluetooth stack determines whether a changed advertisement stays on the air. These rules usually
    /// apply:
    ///
    /// - A changed advertisement stays on the air if only its content changes and the new content fits into
    ///   the same kind of advertising. The content consists of services, manufacturer data, service data, raw
    ///   data, the local name and the appearance.
    /// - Any other change takes that advertisement off the air for a few milliseconds. Removing a name or an
    ///   appearance has the same effect. All other advertisements stay on the air.
    ///
    /// The `timeout` of an advertisement starts again if the new advertisement changes it, or if it has
    /// passed.
    ///
    /// - Parameter advertisements: The new advertisements. Without arguments, the peripheral's declared
    ///   advertisements are used.
    /// - Throws: One of these errors:
    ///   - ``DeclarationError`` when an advertisement is invalid or does not fit on this adapter. In this
    ///     case, no advertisement has changed.
    ///   - ``PeripheralError`` with the code ``PeripheralError/Code/rejected`` when the stack refuses an
    ///     advertisement, for example because the adapter has no room for another advertisement. In this
    ///     case, the earlier advertisements are on the air again.
    ///   - ``PeripheralError`` with the code ``PeripheralError/Code/stopped``.
    ///   - `CancellationError` when the task is cancelled before the change begins.
    public func advertise(_ advertisements: Advertisement...) async throws {
        try await advertise(advertisements)
    }

    /// Replaces the advertisements with those of an array.
    ///
    /// See ``advertise(_:)-(Advertisement...)``.
    ///
    /// - Parameter advertisements: The new advertisements. If the array is empty, the peripheral's declared
    ///   advertisements are used.
    /// - Throws: The errors of ``advertise(_:)-(Advertisement...)``.
    public func advertise(_ advertisements: [Advertisement]) async throws {
        try await runtime.advertising.change { present, declared in
            present = advertisements.isEmpty ? declared : advertisements
            return Set(present.indices)
        }
    }

    /// Changes one of the advertisements and keeps all others.
    ///
    /// ```swift
    /// try await session.changeAdvertisement { $0.manufacturerData[0x0059] = [level] }
    /// ```
    ///
    /// The change follows the rules of ``advertise(_:)-(Advertisement...)``. Several tasks can change
    /// advertisements at the same time without undoing each other's changes.
    ///
    /// - Parameters:
    ///   - index: The index of the advertisement in ``advertisements``.
    ///   - change: A closure that changes the advertisement. The function calls this closure once.
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/notDeclared`` when there is no
    ///   advertisement at this index, for example after ``stopAdvertising()``; any error that `change`
    ///   throws; the errors of ``advertise(_:)-(Advertisement...)``.
    public func changeAdvertisement(
        at index: Int = 0,
        _ change: (inout Advertisement) throws -> Void
    ) async throws {
        try await runtime.advertising.change { present, _ in
            guard present.indices.contains(index) else {
                throw PeripheralError(
                    code: .notDeclared,
                    message: "There is no advertisement at index \(index); there are \(present.count). "
                        + "Add an advertisement with advertise(_:)."
                )
            }
            try change(&present[index])
            return [index]
        }
    }

    /// Stops all advertising.
    ///
    /// No central can find the peripheral or connect to it, not even a central that was connected before.
    /// Connected centrals are still served. ``advertise(_:)-(Advertisement...)`` starts advertising again.
    ///
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/stopped``, or with the error of the
    ///   stack. `CancellationError` when the task is cancelled before the change begins.
    public func stopAdvertising() async throws {
        try await runtime.advertising.change { present, _ in
            present = []
            return []
        }
    }
}
