import PeripheralCore
import Testing

@Suite(.timeLimit(.minutes(1)))
struct BluetoothUUIDAssignedTests {
    @Test(
        arguments: [
            (.genericAccess, "1800"), (.genericAttribute, "1801"), (.deviceInformation, "180a"),
            (.heartRate, "180d"), (.battery, "180f"),
            (.glucose, "1808"), (.userData, "181c"), (.bondManagement, "181e"), (.pulseOximeter, "1822"),
            (.glucoseMeasurement, "2a18"), (.glucoseMeasurementContext, "2a34"), (.glucoseFeature, "2a51"),
            (.recordAccessControlPoint, "2a52"), (.plxSpotCheckMeasurement, "2a5e"),
            (.plxContinuousMeasurement, "2a5f"), (.plxFeatures, "2a60"), (.databaseChangeIncrement, "2a99"),
            (.userIndex, "2a9a"), (.userControlPoint, "2a9f"), (.bondManagementControlPoint, "2aa4"),
            (.bondManagementFeature, "2aa5"), (.registeredUser, "2b37"),
            (.phoneAlertStatus, "180e"), (.alertStatus, "2a3f"), (.ringerControlPoint, "2a40"),
            (.ringerSetting, "2a41"),
            (.primaryService, "2800"), (.secondaryService, "2801"), (.include, "2802"),
            (.characteristic, "2803"),
            (.characteristicExtendedProperties, "2900"), (.characteristicUserDescription, "2901"),
            (.clientCharacteristicConfiguration, "2902"), (.serverCharacteristicConfiguration, "2903"),
            (.characteristicPresentationFormat, "2904"), (.characteristicAggregateFormat, "2905"),
            (.validRange, "2906"), (.externalReportReference, "2907"), (.reportReference, "2908"),
            (.deviceName, "2a00"), (.appearance, "2a01"), (.peripheralPreferredConnectionParameters, "2a04"),
            (.serviceChanged, "2a05"), (.batteryLevel, "2a19"), (.systemID, "2a23"), (.modelNumber, "2a24"),
            (.serialNumber, "2a25"), (.firmwareRevision, "2a26"), (.hardwareRevision, "2a27"),
            (.softwareRevision, "2a28"), (.manufacturerName, "2a29"), (.regulatoryCertificationData, "2a2a"),
            (.heartRateMeasurement, "2a37"), (.bodySensorLocation, "2a38"), (.heartRateControlPoint, "2a39"),
            (.pnpID, "2a50"), (.centralAddressResolution, "2aa6"), (.clientSupportedFeatures, "2b29"),
            (.databaseHash, "2b2a"), (.serverSupportedFeatures, "2b3a"), (.batteryLevelStatus, "2bed"),
        ] as [(BluetoothUUID, String)]
    )
    func namesStandForTheirNumbers(uuid: BluetoothUUID, number: String) {
        #expect(uuid.description == number)
    }
}
