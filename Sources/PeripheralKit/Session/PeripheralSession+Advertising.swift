extension PeripheralSession {
    /// The advertisements that the program has declared or set last; empty after ``stopAdvertising()``.
    ///
    /// An advertisement whose time is over stays in the list. ``SessionEvent/advertisementEnded(_:)`` reports
    /// its end.
    public var advertisements: [Advertisement] { runtime.advertising.advertisements }

    /// Replaces the advertisements.
    ///
    /// ```swift
    /// try await session.advertise(Advertisement(localName: "Lamp", manufacturerData: [0x0059: [1, 2]]))
    /// ```
    ///
    /// Each advertisement replaces the one at the same place. An advertisement that does not change stays on
    /// the air without a gap. If its time was over, it is put on the air again. Fields that an advertisement
    /// leaves open get defaults as in a declaration. Connected centrals stay connected. The change lasts
    /// until the next change or the end of the run, even if the Bluetooth stack restarts meanwhile.
    /// ``Advertisement/plan(for:)`` reports what is possible.
    ///
    /// The call returns when the stack has accepted all advertisements. Changes are therefore applied one
    /// after the other, no faster than the stack can follow. While the peripheral is off the air, the call
    /// returns at once. The new advertisements go on the air when the peripheral is published again. An
    /// advertisement that pauses while a central is connected starts when that central disconnects; the call
    /// does not wait for that. Cancelling the call does not undo a change that has begun.
    ///
    /// It depends on the Bluetooth stack whether a changed advertisement stays on the air. Usually:
    ///
    /// - A change of content happens in place, if the content still fits into the same kind of advertising.
    ///   Content is services, manufacturer data, service data, raw data, the local name and the appearance.
    /// - Any other change, and removing a name or an appearance, takes that advertisement off the air for a
    ///   few milliseconds. The others stay on the air.
    ///
    /// The `timeout` starts again when it is changed, or when it was over.
    ///
    /// - Parameter advertisements: What to advertise. Without arguments, the peripheral's declared
    ///   advertisements.
    /// - Throws: One of these errors:
    ///   - ``DeclarationError`` when an advertisement is invalid or does not fit on this adapter. Nothing has
    ///     changed then.
    ///   - ``PeripheralError`` with the code ``PeripheralError/Code/rejected`` when the stack refuses an
    ///     advertisement, for example because the adapter has no room for another. The earlier advertisements
    ///     are in place again then.
    ///   - ``PeripheralError`` with the code ``PeripheralError/Code/stopped``.
    ///   - `CancellationError` when the task is cancelled before the change begins.
    public func advertise(_ advertisements: Advertisement...) async throws {
        try await advertise(advertisements)
    }

    /// Replaces the advertisements with those of an array.
    ///
    /// See ``advertise(_:)-(Advertisement...)``.
    ///
    /// - Parameter advertisements: What to advertise. If it is empty, the peripheral's declared
    ///   advertisements.
    /// - Throws: The same errors.
    public func advertise(_ advertisements: [Advertisement]) async throws {
        try await runtime.advertising.change { present, declared in
            present = advertisements.isEmpty ? declared : advertisements
            return Set(present.indices)
        }
    }

    /// Changes one of the advertisements and leaves the others as they are.
    ///
    /// ```swift
    /// try await session.changeAdvertisement { $0.manufacturerData[0x0059] = [level] }
    /// ```
    ///
    /// It follows the rules of ``advertise(_:)-(Advertisement...)``. Changes that several tasks make at the
    /// same time do not undo each other.
    ///
    /// - Parameters:
    ///   - index: The index of the advertisement in ``advertisements``.
    ///   - change: A closure that changes the advertisement. It is called once.
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
    /// New centrals can no longer find the peripheral. Connected centrals are still served. A central that
    /// was connected before cannot connect again either, because advertising is what makes a connection
    /// possible. ``advertise(_:)-(Advertisement...)`` starts advertising again.
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
