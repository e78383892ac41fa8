public import PeripheralConformance
internal import PeripheralTesting

/// The behavior that each ready-made service must have on every backend.
///
/// Run the scenarios of the services in the same way as the scenarios of `ConformanceSuite`:
///
/// ```swift
/// for scenario in ServiceConformance.scenarios {
///     try await scenario.run(on: .bluez) { peripheral in makeCentral(of: peripheral) }
/// }
/// ```
///
/// The name of each scenario begins with the name of its service. Write a new scenario in the file of its
/// service, and add the scenario to the list at the top of that file.
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
