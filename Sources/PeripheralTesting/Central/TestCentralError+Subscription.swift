internal import PeripheralCore

extension TestCentralError {
    /// The error of a central that waits for an update without a subscription.
    ///
    /// - Parameters:
    ///   - handle: The value handle of the characteristic, or `nil` for any characteristic.
    ///   - database: The database of the peripheral.
    /// - Returns: The error, which names the characteristic and the remedy.
    static func notSubscribed(
        to handle: AttributeHandle?,
        in database: DiscoveredDatabase
    ) -> TestCentralError {
        guard let handle else {
            return TestCentralError(
                code: .notSubscribed,
                message: "The central has no subscription, so no update can arrive. "
                    + "Call subscribe(to:) before nextUpdate()."
            )
        }
        let allowsSubscription =
            database.characteristic(at: handle)?.properties.allowsSubscription ?? true
        return TestCentralError(
            code: .notSubscribed,
            message: "The central has not subscribed to \(database.name(ofCharacteristicAt: handle)), "
                + "so no update can arrive. "
                + (allowsSubscription
                    ? "Call subscribe(to:) before nextUpdate(of:), in each connection of an unbonded central."
                    : "Declare the characteristic with the property .notify or .indicate.")
        )
    }
}

extension DiscoveredDatabase {
    /// Names a characteristic in messages, such as `characteristic 2a19 (handle 0x0012)`.
    func name(ofCharacteristicAt handle: AttributeHandle) -> String {
        guard let characteristic = characteristic(at: handle) else {
            return "the characteristic at handle \(handle)"
        }
        return "characteristic \(characteristic.uuid) (handle \(handle))"
    }
}
