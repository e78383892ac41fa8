internal import PeripheralDBus
internal import PeripheralKit

extension RegistrationStateMachine.Failure {
    /// Creates the likely reason why bluetoothd has refused an advertisement.
    ///
    /// bluetoothd reports only two reasons for all refusals.
    ///
    /// - Parameters:
    ///   - error: The error that bluetoothd returned.
    ///   - plan: The plan of the advertisement on the adapter.
    ///   - isPowered: Whether the adapter is powered on.
    init(refusedAdvertisement error: BusError, _ plan: AdvertisingPlan, isPowered: Bool) {
        guard case .remote(let name, let message) = error, name.hasPrefix("org.bluez.Error.") else {
            self.init(error, step: .registeringAdvertisement)
            return
        }
        let said = "\(name): \(message)"
        if name == "org.bluez.Error.NotPermitted" {
            self.init(
                code: .rejected,
                message:
                    "The adapter has no room for another advertisement (\(said)); stop another program that "
                    + "advertises."
            )
            return
        }
        let reason = Self.likelyReason(message, plan, isPowered: isPowered)
        self.init(
            code: .rejected,
            message: "bluetoothd refused the advertisement (\(said)). Reason: \(reason)."
        )
    }

    private static func likelyReason(_ message: String, _ plan: AdvertisingPlan, isPowered: Bool) -> String {
        guard isPowered else {
            return "the adapter is powered off: power it on with 'bluetoothctl power on'"
        }
        if let issue = plan.issues.first(where: { $0.severity == .error }) ?? plan.issues.first {
            return "likely because of this issue: \(issue.message)"
        }
        if message.hasPrefix("Failed to parse") {
            return "bluetoothd does not accept a property. The log of bluetoothd names the property"
        }
        return
            "the advertisement uses \(plan.advertisingData.byteCount) of \(plan.advertisingDataCapacity) bytes, and "
            + "\(plan.scanResponse.byteCount) of \(plan.scanResponseCapacity) in the scan response. The kernel or the "
            + "controller refuses it. See bluetoothd's log for the reason"
    }
}
