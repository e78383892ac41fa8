// The versions in which bluetoothd has changed.

// MARK: - Connections

extension BlueZVersion {
    /// The first version that sends the signal `Disconnected`, which reports why a connection has ended.
    package static let disconnectionReasons = BlueZVersion(major: 5, minor: 83)
}

// MARK: - Settings

extension BlueZVersion {
    /// The first version that ignores an interval outside the valid range.
    ///
    /// Earlier versions move it to the limit.
    static let refusedIntervals = BlueZVersion(major: 5, minor: 67)
}

// MARK: - GATT

extension BlueZVersion {
    /// The first version that accepts written values of 511 and 512 bytes.
    static let longestWrites = BlueZVersion(major: 5, minor: 69)
    /// The first version with a separate socket for each subscriber.
    ///
    /// Before, one socket serves all subscribers.
    package static let socketPerSubscriber = BlueZVersion(major: 5, minor: 76)
    /// The first version that forwards confirmations of indications to the socket.
    ///
    /// Before, nothing shows the confirmation of an indication that was sent through the socket of one
    /// central.
    package static let confirmationsOnSockets = BlueZVersion(major: 5, minor: 80)

    /// Whether this version reports the handles that it has assigned.
    ///
    /// BlueZ 5.74 and 5.75 do not report handles. They refuse an application that requests this report
    /// (bluez/bluez issue 821).
    package var reportsHandles: Bool { self < "5.74" || self > "5.75" }
}

// MARK: - Advertising

extension BlueZVersion {
    /// The first version that shortens names to the capacity of the controller.
    ///
    /// Earlier versions shorten names to the capacity of legacy advertising.
    static let namesForController = BlueZVersion(major: 5, minor: 69)
    /// The first version that writes flags for an advertisement that is not discoverable.
    static let flagsOfUndiscoverable = BlueZVersion(major: 5, minor: 69)
    /// The first version that uses extended advertising automatically.
    static let automaticExtendedAdvertising = BlueZVersion(major: 5, minor: 76)
    /// The first version in which intervals, power and capabilities are not experimental.
    package static let stableAdvertisingProperties = BlueZVersion(major: 5, minor: 77)
    /// The first version that accepts more than a name in the scan response.
    package static let scanResponseProperties = BlueZVersion(major: 5, minor: 80)
}
