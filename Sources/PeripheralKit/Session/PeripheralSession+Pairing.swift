// MARK: - Pairing

extension PeripheralSession {
    /// Whether centrals may pair now.
    ///
    /// With ``Pairing/onlyWhenAllowed(disconnectingUnbonded:)``, the property is `true` while a pairing
    /// window is open. Without it, the property is always `true`, and the declared methods decide.
    public var isPairingAllowed: Bool { runtime.pairingControl.isAllowed }

    /// Opens a pairing window: centrals may pair for a time.
    ///
    /// ```swift
    /// for await _ in button.presses { try await session.allowPairing(for: .seconds(60)) }
    /// ```
    ///
    /// If a window is open, its time begins again, even if this makes the window shorter. The function
    /// returns when the Bluetooth stack lets centrals pair. It does not wait for the end of the window, which
    /// ``SessionEvent/pairingWindowClosed`` reports. A central that is pairing when the window closes can
    /// complete the attempt. To end the window after the first central, call ``disallowPairing()`` when the
    /// session reports ``SessionEvent/paired(_:)``.
    ///
    /// The window continues while the peripheral is off the air, and ends with the session. If the calling
    /// task is cancelled, the function throws `CancellationError`, and the window is open nevertheless.
    ///
    /// - Parameter duration: The duration of the window. If it is not positive, the window closes.
    /// - Throws: One of these errors:
    ///   - ``PeripheralError`` with the code ``PeripheralError/Code/notDeclared`` if the pairing is not
    ///     declared with ``Pairing/onlyWhenAllowed(disconnectingUnbonded:)``.
    ///   - ``PeripheralError`` with the code ``PeripheralError/Code/stopped`` if the session has ended.
    ///   - An error that the Bluetooth stack reports. The window is open nevertheless, and the framework
    ///     tries again with the next publication.
    public func allowPairing(for duration: Duration) async throws {
        try runtime.checkIsRunning()
        guard duration > .zero else { return try await runtime.pairingControl.disallow() }
        try await runtime.pairingControl.allow(for: duration)
    }

    /// Closes the pairing window.
    ///
    /// The function has no effect if no window is open.
    ///
    /// - Throws: The same errors as ``allowPairing(for:)``.
    public func disallowPairing() async throws {
        try runtime.checkIsRunning()
        try await runtime.pairingControl.disallow()
    }
}
