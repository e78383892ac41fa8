extension PeripheralSession {
    /// The current advertisements of the program.
    ///
    /// The list contains the advertisements that the peripheral declares, or the advertisements that the
    /// program last set. The list of advertisements is empty after ``stopAdvertising()``.
    ///
    /// The list also contains advertisements whose timeout has passed.
    /// ``SessionEvent/advertisementEnded(_:)`` reports the end of an advertisement.
    public var advertisements: [Advertisement] { runtime.advertising.advertisements }

    /// Replaces the advertisements.
    ///
    /// ```swift
    /// try await session.advertise(Advertisement(localName: "Lamp", manufacturerData: [0x0059: [1, 2]]))
    /// ```
    ///
    /// A new advertisement replaces the earlier advertisement at the same index. The adapter continues to
    /// send an unchanged advertisement without interruption. If the timeout of an unchanged advertisement has
    /// passed, the adapter sends the advertisement again. A field that the program does not set has the same
    /// default as in the declaration of a peripheral. Connected centrals stay connected while the
    /// advertisements change.
    ///
    /// The new advertisements remain active until the next change or the end of the run. A restart of the
    /// Bluetooth stack does not change the advertisements. `Advertisement.plan(for:)` reports whether an
    /// advertisement is possible on an adapter.
    ///
    /// The function returns when the Bluetooth stack has accepted all advertisements. If several tasks change
    /// the advertisements, the session applies one change after the other. Cancellation of the calling task
    /// does not undo a change that has begun.
    ///
    /// While the peripheral is not published, the function returns immediately. The new advertisements start
    /// when the peripheral is published again. If a new advertisement is declared to pause while a central is
    /// connected, the advertisement starts when the central disconnects. The function does not wait for the
    /// disconnection of the central.
    ///
    /// The Bluetooth stack determines whether a change interrupts an advertisement. In most cases, a change
    /// to an advertisement has one of these effects:
    ///
    /// - A change to only the content does not interrupt the advertisement if the kind of advertising (legacy
    ///   or extended) stays the same. The content of an advertisement consists of services, manufacturer
    ///   data, service data, raw data, the local name and the appearance.
    /// - Any other change interrupts the changed advertisement for a few milliseconds. The removal of a name
    ///   or an appearance also interrupts the advertisement. The adapter sends all other advertisements
    ///   without interruption.
    ///
    /// The `timeout` starts again if the new advertisement has a different timeout, or if the earlier timeout
    /// has passed.
    ///
    /// - Parameter advertisements: The new advertisements. Without arguments, the function uses the
    ///   advertisements that the peripheral declares.
    /// - Throws: The function throws one of these errors:
    ///   - ``DeclarationError`` when an advertisement is invalid or is not possible on the adapter. A
    ///     ``DeclarationError`` leaves all advertisements unchanged.
    ///   - ``PeripheralError`` with the code ``PeripheralError/Code/rejected`` when the Bluetooth stack
    ///     refuses an advertisement. For example, the adapter might not have room for another advertisement.
    ///     After a refused advertisement, the earlier advertisements are active again.
    ///   - ``PeripheralError`` with the code ``PeripheralError/Code/stopped`` when the session has ended.
    ///   - `CancellationError` when the task is cancelled before the change begins.
    public func advertise(_ advertisements: Advertisement...) async throws {
        try await advertise(advertisements)
    }

    /// Replaces the advertisements with the advertisements in an array.
    ///
    /// See ``advertise(_:)-(Advertisement...)``.
    ///
    /// - Parameter advertisements: The new advertisements. If the array is empty, the function uses the
    ///   advertisements that the peripheral declares.
    /// - Throws: The function throws the same errors as ``advertise(_:)-(Advertisement...)``.
    public func advertise(_ advertisements: [Advertisement]) async throws {
        try await runtime.advertising.change { present, declared in
            present = advertisements.isEmpty ? declared : advertisements
            return Set(present.indices)
        }
    }

    /// Changes one advertisement without changing the other advertisements.
    ///
    /// ```swift
    /// try await session.changeAdvertisement { $0.manufacturerData[0x0059] = [level] }
    /// ```
    ///
    /// The change follows the rules of ``advertise(_:)-(Advertisement...)``. Several tasks can change
    /// advertisements at the same time. A change in one task preserves the changes of the other tasks.
    ///
    /// - Parameters:
    ///   - index: The index in ``advertisements`` of the advertisement to change.
    ///   - change: A closure that changes the advertisement. The function calls the closure exactly once.
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/notDeclared`` when there is no
    ///   advertisement at the index, for example after ``stopAdvertising()``. The function also throws any
    ///   error that `change` throws, and the errors of ``advertise(_:)-(Advertisement...)``.
    public func changeAdvertisement(
        at index: Int = 0,
        _ change: (inout Advertisement) throws -> Void
    ) async throws {
        try await runtime.advertising.change { present, _ in
            guard present.indices.contains(index) else {
                throw PeripheralError(
                    code: .notDeclared,
                    message: "There is no advertisement at index \(index). The number of advertisements "
                        + "is \(present.count). "
                        + "Add an advertisement with advertise(_:)."
                )
            }
            try change(&present[index])
            return [index]
        }
    }

    /// Stops all advertising.
    ///
    /// Without advertising, no central can discover the peripheral or connect to the peripheral. Without
    /// advertising, even a central that was connected earlier cannot reconnect. Connected centrals can still
    /// use the peripheral. ``advertise(_:)-(Advertisement...)`` starts advertising again.
    ///
    /// - Throws: ``PeripheralError`` with the code ``PeripheralError/Code/stopped`` if the session has ended,
    ///   or with another code if the Bluetooth stack reports an error. `CancellationError` when the task is
    ///   cancelled before the change begins.
    public func stopAdvertising() async throws {
        try await runtime.advertising.change { present, _ in
            present = []
            return []
        }
    }
}
