extension PeripheralSession {
    /// Returns the PSM of a listener.
    ///
    /// ``L2CAPListener/psm`` publishes the PSM to centrals. This function is for a program that publishes it
    /// in another way. The PSM can change when the peripheral returns after it was off the air, unless it is
    /// fixed.
    ///
    /// - Throws: ``PeripheralError`` with one of these codes:
    ///   - ``PeripheralError/Code/notDeclared`` if the peripheral does not declare the listener.
    ///   - ``PeripheralError/Code/connectionLost`` if the peripheral is not published.
    ///   - ``PeripheralError/Code/stopped`` when the session has ended.
    public func psm(of listener: L2CAPListener) throws(PeripheralError) -> UInt16 {
        try runtime.checkIsRunning()
        return try runtime.channels.psm(of: listener.identity)
    }
}
