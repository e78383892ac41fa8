internal import PeripheralCore

/// The scenarios that every backend must pass.
///
/// The suite runs on the in-memory backend, on an emulated Bluetooth stack, and on a real Bluetooth stack.
///
/// Each file in the folder `Scenarios` contains the scenarios for one topic, such as pairing. To add a
/// scenario, write a ``Scenario`` in the file for the topic. Then add the scenario to the list in the same
/// file.
public enum ConformanceSuite: Sendable {
    /// All scenarios.
    public static let scenarios: [Scenario] =
        advertising + discovery + reading + writing + writeStreaming + longWriting
        + reliableWriting + securedWriting + updating + handlers + sessionInHandlers + centrals
        + size
        + pairing + pairingByOneOfSeveral + unansweredPairing + pairingWindow + subscribing
        + bondedSubscribing
        + securedUpdating + targeted
        + indicating + transferring + confirmedTransferring + controlPoints + connections + structure
        + channels + channelLimiting + permitting + restoring + privateAddresses + changingServices
        + removingServices + endingDuringRemoval + serviceCaching + usingAddedServices

    /// The scenarios whose updates take different paths in different versions of BlueZ.
    package static let scenariosOfUpdates: [Scenario] =
        updating + subscribing + bondedSubscribing + securedUpdating + targeted + indicating + transferring
        + confirmedTransferring + controlPoints

    /// The slow scenarios, which are not part of ``scenarios``.
    public static let longScenarios: [Scenario] = [manyUpdatesOfOne(rounds: 1000)]
}

/// The types of the attributes of the scenarios' peripherals.
enum ScenarioUUID {
    static let service: BluetoothUUID = "c0f00001-7e3c-4b6e-9d29-b3f1c0a1d001"
    static let value: BluetoothUUID = "c0f00002-7e3c-4b6e-9d29-b3f1c0a1d001"
    static let otherValue: BluetoothUUID = "c0f00003-7e3c-4b6e-9d29-b3f1c0a1d001"
    static let thirdValue: BluetoothUUID = "c0f00004-7e3c-4b6e-9d29-b3f1c0a1d001"
    static let descriptor: BluetoothUUID = "c0f00005-7e3c-4b6e-9d29-b3f1c0a1d001"
}

/// Returns bytes in which no two parts are equal.
func pattern(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 ^ ($0 >> 8) &* 0x5D) }
}
