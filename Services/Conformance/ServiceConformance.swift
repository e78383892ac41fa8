public import PeripheralConformance
public import PeripheralTesting

/// What each ready-made service has to do in the same way on every backend.
///
/// The scenarios are run as those of `ConformanceSuite` are:
///
/// ```swift
/// for scenario in ServiceConformance.scenarios {
///     try await scenario.run(on: .bluez) { peripheral in makeCentral(of: peripheral) }
/// }
/// ```
///
/// Each begins with the name of its service. To add one, write it in the file of its service, and name it in the list
/// there.
public enum ServiceConformance: Sendable {
    /// All scenarios.
    public static let scenarios: [Scenario] = [
        automationIO,
        battery,
        bondManagement,
        currentTime,
        cyclingPower,
        deviceInformation,
        environmentalSensing,
        fitnessMachine,
        glucose,
        health,
        heartRate,
        hid,
        nordicUART,
        phoneAlertStatus,
        proximity,
        pulseOximeter,
        speedAndCadence,
        userData,
    ].flatMap(\.self)
}
