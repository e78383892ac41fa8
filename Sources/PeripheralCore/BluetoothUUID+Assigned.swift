/// UUIDs that the Bluetooth SIG has assigned (Assigned Numbers, 3.4 to 3.8), as far as this package uses them.
extension BluetoothUUID {
    // MARK: Services

    /// Generic Access; the Bluetooth stack's own.
    public static let genericAccess: BluetoothUUID = 0x1800
    /// Generic Attribute; the Bluetooth stack's own.
    public static let genericAttribute: BluetoothUUID = 0x1801
    /// Device Information.
    public static let deviceInformation: BluetoothUUID = 0x180A
    /// Heart Rate.
    public static let heartRate: BluetoothUUID = 0x180D
    /// Battery.
    public static let battery: BluetoothUUID = 0x180F

    // MARK: Declarations

    /// The declaration of a primary service.
    public static let primaryService: BluetoothUUID = 0x2800
    /// The declaration of a secondary service.
    public static let secondaryService: BluetoothUUID = 0x2801
    /// The declaration of an included service.
    public static let include: BluetoothUUID = 0x2802
    /// The declaration of a characteristic.
    public static let characteristic: BluetoothUUID = 0x2803

    // MARK: Descriptors

    /// Characteristic Extended Properties; the Bluetooth stack's own.
    public static let characteristicExtendedProperties: BluetoothUUID = 0x2900
    /// Characteristic User Description.
    public static let characteristicUserDescription: BluetoothUUID = 0x2901
    /// Client Characteristic Configuration; the Bluetooth stack's own.
    public static let clientCharacteristicConfiguration: BluetoothUUID = 0x2902
    /// Server Characteristic Configuration; the Bluetooth stack's own.
    public static let serverCharacteristicConfiguration: BluetoothUUID = 0x2903
    /// Characteristic Presentation Format.
    public static let characteristicPresentationFormat: BluetoothUUID = 0x2904
    /// Characteristic Aggregate Format.
    public static let characteristicAggregateFormat: BluetoothUUID = 0x2905
    /// Valid Range.
    public static let validRange: BluetoothUUID = 0x2906

    // MARK: Characteristics

    /// Device Name, in Generic Access.
    public static let deviceName: BluetoothUUID = 0x2A00
    /// Appearance, in Generic Access.
    public static let appearance: BluetoothUUID = 0x2A01
    /// Service Changed, in Generic Attribute.
    public static let serviceChanged: BluetoothUUID = 0x2A05
    /// Battery Level.
    public static let batteryLevel: BluetoothUUID = 0x2A19
    /// System ID.
    public static let systemID: BluetoothUUID = 0x2A23
    /// Model Number String.
    public static let modelNumber: BluetoothUUID = 0x2A24
    /// Serial Number String.
    public static let serialNumber: BluetoothUUID = 0x2A25
    /// Firmware Revision String.
    public static let firmwareRevision: BluetoothUUID = 0x2A26
    /// Hardware Revision String.
    public static let hardwareRevision: BluetoothUUID = 0x2A27
    /// Software Revision String.
    public static let softwareRevision: BluetoothUUID = 0x2A28
    /// Manufacturer Name String.
    public static let manufacturerName: BluetoothUUID = 0x2A29
    /// IEEE 11073-20601 Regulatory Certification Data List.
    public static let regulatoryCertificationData: BluetoothUUID = 0x2A2A
    /// Heart Rate Measurement.
    public static let heartRateMeasurement: BluetoothUUID = 0x2A37
    /// Body Sensor Location.
    public static let bodySensorLocation: BluetoothUUID = 0x2A38
    /// Heart Rate Control Point.
    public static let heartRateControlPoint: BluetoothUUID = 0x2A39
    /// PnP ID.
    public static let pnpID: BluetoothUUID = 0x2A50
    /// Central Address Resolution, in Generic Access.
    public static let centralAddressResolution: BluetoothUUID = 0x2AA6
    /// Client Supported Features, in Generic Attribute.
    public static let clientSupportedFeatures: BluetoothUUID = 0x2B29
    /// Database Hash, in Generic Attribute.
    public static let databaseHash: BluetoothUUID = 0x2B2A
    /// Server Supported Features, in Generic Attribute.
    public static let serverSupportedFeatures: BluetoothUUID = 0x2B3A
}
