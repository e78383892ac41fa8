// Numbers from Assigned Numbers, 3: the services and characteristics that this package itself speaks of.

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
}

// MARK: - Services

extension BluetoothUUID {
    /// Generic Access service, which the Bluetooth stack itself provides.
    public static var genericAccess: BluetoothUUID { 0x1800 }

    /// Generic Attribute service, which the Bluetooth stack itself provides.
    public static var genericAttribute: BluetoothUUID { 0x1801 }

    /// Device Information service.
    public static var deviceInformation: BluetoothUUID { 0x180A }

    /// Heart Rate service.
    public static var heartRate: BluetoothUUID { 0x180D }

    /// Battery service.
    public static var battery: BluetoothUUID { 0x180F }
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
