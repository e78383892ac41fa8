// Numbers from Assigned Numbers, 3, for the services and characteristics that this package uses.

// MARK: - Declarations

extension BluetoothUUID {
    /// Primary Service declaration.
    public static var primaryService: BluetoothUUID { 0x2800 }

    /// Secondary Service declaration.
    public static var secondaryService: BluetoothUUID { 0x2801 }

    /// Include declaration.
    public static var include: BluetoothUUID { 0x2802 }

    /// Characteristic declaration.
    public static var characteristic: BluetoothUUID { 0x2803 }
}

// MARK: - Descriptors

extension BluetoothUUID {
    /// Characteristic Extended Properties descriptor.
    public static var characteristicExtendedProperties: BluetoothUUID { 0x2900 }

    /// Characteristic User Description descriptor.
    public static var characteristicUserDescription: BluetoothUUID { 0x2901 }

    /// Client Characteristic Configuration descriptor.
    public static var clientCharacteristicConfiguration: BluetoothUUID { 0x2902 }

    /// Server Characteristic Configuration descriptor.
    public static var serverCharacteristicConfiguration: BluetoothUUID { 0x2903 }

    /// Characteristic Presentation Format descriptor.
    public static var characteristicPresentationFormat: BluetoothUUID { 0x2904 }

    /// Characteristic Aggregate Format descriptor.
    public static var characteristicAggregateFormat: BluetoothUUID { 0x2905 }

    /// Valid Range descriptor.
    public static var validRange: BluetoothUUID { 0x2906 }

    /// External Report Reference descriptor.
    public static var externalReportReference: BluetoothUUID { 0x2907 }

    /// Report Reference descriptor.
    public static var reportReference: BluetoothUUID { 0x2908 }

    /// Number of Digitals descriptor.
    public static var numberOfDigitals: BluetoothUUID { 0x2909 }

    /// Value Trigger Setting descriptor.
    public static var valueTriggerSetting: BluetoothUUID { 0x290A }

    /// Environmental Sensing Configuration descriptor.
    public static var environmentalSensingConfiguration: BluetoothUUID { 0x290B }

    /// Environmental Sensing Measurement descriptor.
    public static var environmentalSensingMeasurement: BluetoothUUID { 0x290C }

    /// Environmental Sensing Trigger Setting descriptor.
    public static var environmentalSensingTriggerSetting: BluetoothUUID { 0x290D }

    /// Time Trigger Setting descriptor.
    public static var timeTriggerSetting: BluetoothUUID { 0x290E }
}

// MARK: - Services

extension BluetoothUUID {
    /// Generic Access service, which the Bluetooth stack provides.
    public static var genericAccess: BluetoothUUID { 0x1800 }

    /// Generic Attribute service, which the Bluetooth stack provides.
    public static var genericAttribute: BluetoothUUID { 0x1801 }

    /// Device Information service.
    public static var deviceInformation: BluetoothUUID { 0x180A }

    /// Heart Rate service.
    public static var heartRate: BluetoothUUID { 0x180D }

    /// Battery service.
    public static var battery: BluetoothUUID { 0x180F }

    /// Immediate Alert service.
    public static var immediateAlert: BluetoothUUID { 0x1802 }

    /// Link Loss service.
    public static var linkLoss: BluetoothUUID { 0x1803 }

    /// Tx Power service.
    public static var txPower: BluetoothUUID { 0x1804 }

    /// Current Time service.
    public static var currentTime: BluetoothUUID { 0x1805 }

    /// Health Thermometer service.
    public static var healthThermometer: BluetoothUUID { 0x1809 }

    /// Blood Pressure service.
    public static var bloodPressure: BluetoothUUID { 0x1810 }

    /// Human Interface Device service.
    public static var humanInterfaceDevice: BluetoothUUID { 0x1812 }

    /// Automation IO service.
    public static var automationIO: BluetoothUUID { 0x1815 }

    /// Environmental Sensing service.
    public static var environmentalSensing: BluetoothUUID { 0x181A }

    /// Body Composition service.
    public static var bodyComposition: BluetoothUUID { 0x181B }

    /// Weight Scale service.
    public static var weightScale: BluetoothUUID { 0x181D }

    /// Glucose service.
    public static var glucose: BluetoothUUID { 0x1808 }

    /// User Data service.
    public static var userData: BluetoothUUID { 0x181C }

    /// Bond Management service.
    public static var bondManagement: BluetoothUUID { 0x181E }

    /// Pulse Oximeter service.
    public static var pulseOximeter: BluetoothUUID { 0x1822 }

    /// Running Speed and Cadence service.
    public static var runningSpeedAndCadence: BluetoothUUID { 0x1814 }

    /// Cycling Speed and Cadence service.
    public static var cyclingSpeedAndCadence: BluetoothUUID { 0x1816 }

    /// Cycling Power service.
    public static var cyclingPower: BluetoothUUID { 0x1818 }

    /// Fitness Machine service.
    public static var fitnessMachine: BluetoothUUID { 0x1826 }

    /// Phone Alert Status service.
    public static var phoneAlertStatus: BluetoothUUID { 0x180E }
}

// MARK: - Characteristics of the Generic Access and Generic Attribute services

extension BluetoothUUID {
    /// Device Name characteristic.
    public static var deviceName: BluetoothUUID { 0x2A00 }

    /// Appearance characteristic.
    public static var appearance: BluetoothUUID { 0x2A01 }

    /// Peripheral Preferred Connection Parameters characteristic.
    public static var peripheralPreferredConnectionParameters: BluetoothUUID { 0x2A04 }

    /// Central Address Resolution characteristic.
    public static var centralAddressResolution: BluetoothUUID { 0x2AA6 }

    /// Service Changed characteristic.
    public static var serviceChanged: BluetoothUUID { 0x2A05 }

    /// Client Supported Features characteristic.
    public static var clientSupportedFeatures: BluetoothUUID { 0x2B29 }

    /// Database Hash characteristic.
    public static var databaseHash: BluetoothUUID { 0x2B2A }

    /// Server Supported Features characteristic.
    public static var serverSupportedFeatures: BluetoothUUID { 0x2B3A }
}

// MARK: - Characteristics of the Heart Rate service

extension BluetoothUUID {
    /// Heart Rate Measurement characteristic.
    public static var heartRateMeasurement: BluetoothUUID { 0x2A37 }

    /// Body Sensor Location characteristic.
    public static var bodySensorLocation: BluetoothUUID { 0x2A38 }

    /// Heart Rate Control Point characteristic.
    public static var heartRateControlPoint: BluetoothUUID { 0x2A39 }
}

// MARK: - Characteristics of the Battery service

extension BluetoothUUID {
    /// Battery Level characteristic.
    public static var batteryLevel: BluetoothUUID { 0x2A19 }

    /// Battery Level Status characteristic.
    public static var batteryLevelStatus: BluetoothUUID { 0x2BED }
}

// MARK: - Characteristics of the Device Information service

extension BluetoothUUID {
    /// System ID characteristic.
    public static var systemID: BluetoothUUID { 0x2A23 }

    /// Model Number String characteristic.
    public static var modelNumber: BluetoothUUID { 0x2A24 }

    /// Serial Number String characteristic.
    public static var serialNumber: BluetoothUUID { 0x2A25 }

    /// Firmware Revision String characteristic.
    public static var firmwareRevision: BluetoothUUID { 0x2A26 }

    /// Hardware Revision String characteristic.
    public static var hardwareRevision: BluetoothUUID { 0x2A27 }

    /// Software Revision String characteristic.
    public static var softwareRevision: BluetoothUUID { 0x2A28 }

    /// Manufacturer Name String characteristic.
    public static var manufacturerName: BluetoothUUID { 0x2A29 }

    /// IEEE 11073-20601 Regulatory Certification Data List characteristic.
    public static var regulatoryCertificationData: BluetoothUUID { 0x2A2A }

    /// PnP ID characteristic.
    public static var pnpID: BluetoothUUID { 0x2A50 }
}

// MARK: - Characteristics of the proximity services

extension BluetoothUUID {
    /// Alert Level characteristic.
    public static var alertLevel: BluetoothUUID { 0x2A06 }

    /// Tx Power Level characteristic.
    public static var txPowerLevel: BluetoothUUID { 0x2A07 }
}

// MARK: - Characteristics of the Current Time service

extension BluetoothUUID {
    /// Current Time characteristic.
    public static var currentTimeValue: BluetoothUUID { 0x2A2B }

    /// Local Time Information characteristic.
    public static var localTimeInformation: BluetoothUUID { 0x2A0F }

    /// Reference Time Information characteristic.
    public static var referenceTimeInformation: BluetoothUUID { 0x2A14 }
}

// MARK: - Characteristics of the Human Interface Device service

extension BluetoothUUID {
    /// Protocol Mode characteristic.
    public static var protocolMode: BluetoothUUID { 0x2A4E }

    /// Report characteristic.
    public static var report: BluetoothUUID { 0x2A4D }

    /// Report Map characteristic.
    public static var reportMap: BluetoothUUID { 0x2A4B }

    /// Boot Keyboard Input Report characteristic.
    public static var bootKeyboardInputReport: BluetoothUUID { 0x2A22 }

    /// Boot Keyboard Output Report characteristic.
    public static var bootKeyboardOutputReport: BluetoothUUID { 0x2A32 }

    /// HID Information characteristic.
    public static var hidInformation: BluetoothUUID { 0x2A4A }

    /// HID Control Point characteristic.
    public static var hidControlPoint: BluetoothUUID { 0x2A4C }
}

// MARK: - Characteristics of the Health Thermometer service

extension BluetoothUUID {
    /// Temperature Measurement characteristic.
    public static var temperatureMeasurement: BluetoothUUID { 0x2A1C }

    /// Temperature Type characteristic.
    public static var temperatureType: BluetoothUUID { 0x2A1D }

    /// Intermediate Temperature characteristic.
    public static var intermediateTemperature: BluetoothUUID { 0x2A1E }

    /// Measurement Interval characteristic.
    public static var measurementInterval: BluetoothUUID { 0x2A21 }
}

// MARK: - Characteristics of the Blood Pressure service

extension BluetoothUUID {
    /// Blood Pressure Measurement characteristic.
    public static var bloodPressureMeasurement: BluetoothUUID { 0x2A35 }

    /// Intermediate Cuff Pressure characteristic.
    public static var intermediateCuffPressure: BluetoothUUID { 0x2A36 }

    /// Blood Pressure Feature characteristic.
    public static var bloodPressureFeature: BluetoothUUID { 0x2A49 }
}

// MARK: - Characteristics of the Weight Scale and Body Composition services

extension BluetoothUUID {
    /// Weight Scale Feature characteristic.
    public static var weightScaleFeature: BluetoothUUID { 0x2A9E }

    /// Weight Measurement characteristic.
    public static var weightMeasurement: BluetoothUUID { 0x2A9D }

    /// Body Composition Feature characteristic.
    public static var bodyCompositionFeature: BluetoothUUID { 0x2A9B }

    /// Body Composition Measurement characteristic.
    public static var bodyCompositionMeasurement: BluetoothUUID { 0x2A9C }
}

// MARK: - Characteristics of the Automation IO service

extension BluetoothUUID {
    /// Digital characteristic.
    public static var digital: BluetoothUUID { 0x2A56 }

    /// Analog characteristic.
    public static var analog: BluetoothUUID { 0x2A58 }

    /// Aggregate characteristic.
    public static var aggregate: BluetoothUUID { 0x2A5A }
}

// MARK: - Characteristics of the Glucose service, and of record access

extension BluetoothUUID {
    /// Glucose Measurement characteristic.
    public static var glucoseMeasurement: BluetoothUUID { 0x2A18 }

    /// Glucose Measurement Context characteristic.
    public static var glucoseMeasurementContext: BluetoothUUID { 0x2A34 }

    /// Glucose Feature characteristic.
    public static var glucoseFeature: BluetoothUUID { 0x2A51 }

    /// Record Access Control Point characteristic.
    public static var recordAccessControlPoint: BluetoothUUID { 0x2A52 }
}

// MARK: - Characteristics of the Pulse Oximeter service

extension BluetoothUUID {
    /// PLX Spot-Check Measurement characteristic.
    public static var plxSpotCheckMeasurement: BluetoothUUID { 0x2A5E }

    /// PLX Continuous Measurement characteristic.
    public static var plxContinuousMeasurement: BluetoothUUID { 0x2A5F }

    /// PLX Features characteristic.
    public static var plxFeatures: BluetoothUUID { 0x2A60 }
}

// MARK: - Characteristics of the Bond Management service

extension BluetoothUUID {
    /// Bond Management Control Point characteristic.
    public static var bondManagementControlPoint: BluetoothUUID { 0x2AA4 }

    /// Bond Management Feature characteristic.
    public static var bondManagementFeature: BluetoothUUID { 0x2AA5 }
}

// MARK: - Characteristics of the User Data service

extension BluetoothUUID {
    /// Database Change Increment characteristic.
    public static var databaseChangeIncrement: BluetoothUUID { 0x2A99 }

    /// User Index characteristic.
    public static var userIndex: BluetoothUUID { 0x2A9A }

    /// User Control Point characteristic.
    public static var userControlPoint: BluetoothUUID { 0x2A9F }

    /// Registered User characteristic.
    public static var registeredUser: BluetoothUUID { 0x2B37 }
}

// MARK: - Characteristics of the Fitness Machine service

extension BluetoothUUID {
    /// Fitness Machine Feature characteristic.
    public static var fitnessMachineFeature: BluetoothUUID { 0x2ACC }

    /// Treadmill Data characteristic.
    public static var treadmillData: BluetoothUUID { 0x2ACD }

    /// Cross Trainer Data characteristic.
    public static var crossTrainerData: BluetoothUUID { 0x2ACE }

    /// Step Climber Data characteristic.
    public static var stepClimberData: BluetoothUUID { 0x2ACF }

    /// Stair Climber Data characteristic.
    public static var stairClimberData: BluetoothUUID { 0x2AD0 }

    /// Rower Data characteristic.
    public static var rowerData: BluetoothUUID { 0x2AD1 }

    /// Indoor Bike Data characteristic.
    public static var indoorBikeData: BluetoothUUID { 0x2AD2 }

    /// Training Status characteristic.
    public static var trainingStatus: BluetoothUUID { 0x2AD3 }

    /// Supported Speed Range characteristic.
    public static var supportedSpeedRange: BluetoothUUID { 0x2AD4 }

    /// Supported Inclination Range characteristic.
    public static var supportedInclinationRange: BluetoothUUID { 0x2AD5 }

    /// Supported Resistance Level Range characteristic.
    public static var supportedResistanceLevelRange: BluetoothUUID { 0x2AD6 }

    /// Supported Heart Rate Range characteristic.
    public static var supportedHeartRateRange: BluetoothUUID { 0x2AD7 }

    /// Supported Power Range characteristic.
    public static var supportedPowerRange: BluetoothUUID { 0x2AD8 }

    /// Fitness Machine Control Point characteristic.
    public static var fitnessMachineControlPoint: BluetoothUUID { 0x2AD9 }

    /// Fitness Machine Status characteristic.
    public static var fitnessMachineStatus: BluetoothUUID { 0x2ADA }
}

// MARK: - Characteristics of the Environmental Sensing service

extension BluetoothUUID {
    /// Descriptor Value Changed characteristic.
    public static var descriptorValueChanged: BluetoothUUID { 0x2A7D }
}

// MARK: - Characteristics of the services of running and cycling

extension BluetoothUUID {
    /// RSC Measurement characteristic.
    public static var rscMeasurement: BluetoothUUID { 0x2A53 }

    /// RSC Feature characteristic.
    public static var rscFeature: BluetoothUUID { 0x2A54 }

    /// SC Control Point characteristic.
    public static var scControlPoint: BluetoothUUID { 0x2A55 }

    /// CSC Measurement characteristic.
    public static var cscMeasurement: BluetoothUUID { 0x2A5B }

    /// CSC Feature characteristic.
    public static var cscFeature: BluetoothUUID { 0x2A5C }

    /// Sensor Location characteristic.
    public static var sensorLocation: BluetoothUUID { 0x2A5D }

    /// Cycling Power Measurement characteristic.
    public static var cyclingPowerMeasurement: BluetoothUUID { 0x2A63 }

    /// Cycling Power Vector characteristic.
    public static var cyclingPowerVector: BluetoothUUID { 0x2A64 }

    /// Cycling Power Feature characteristic.
    public static var cyclingPowerFeature: BluetoothUUID { 0x2A65 }

    /// Cycling Power Control Point characteristic.
    public static var cyclingPowerControlPoint: BluetoothUUID { 0x2A66 }
}

// MARK: - Characteristics of the Phone Alert Status service

extension BluetoothUUID {
    /// Alert Status characteristic.
    public static var alertStatus: BluetoothUUID { 0x2A3F }

    /// Ringer Control Point characteristic.
    public static var ringerControlPoint: BluetoothUUID { 0x2A40 }

    /// Ringer Setting characteristic.
    public static var ringerSetting: BluetoothUUID { 0x2A41 }
}
