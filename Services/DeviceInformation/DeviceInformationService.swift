public import PeripheralKit

/// The Device Information service, 0x180A.
///
/// The service implements the Device Information Service specification, versions 1.1 and 1.2. The service
/// does not implement the unique device identifier of version 1.2. The service declares a characteristic only
/// if the program passes a value for it.
///
/// ```swift
/// import PeripheralBlueZ
/// import PeripheralDeviceInformation
/// import PeripheralKit
///
/// let peripheral = Peripheral("Sensor") {
///     DeviceInformationService(
///         manufacturerName: "Example Works", modelNumber: "S-1", firmwareRevision: "1.0.2"
///     )
/// }
/// try await peripheral.run(on: .bluez)
/// ```
///
/// Every central that reads the serial number can identify the device.
public struct DeviceInformationService: GATTServiceDeclaration {
    /// The Manufacturer Name String characteristic, 0x2A29.
    public let manufacturerName: Characteristic<String>?
    /// The Model Number String characteristic, 0x2A24.
    public let modelNumber: Characteristic<String>?
    /// The Serial Number String characteristic, 0x2A25.
    public let serialNumber: Characteristic<String>?
    /// The Hardware Revision String characteristic, 0x2A27.
    public let hardwareRevision: Characteristic<String>?
    /// The Firmware Revision String characteristic, 0x2A26.
    public let firmwareRevision: Characteristic<String>?
    /// The Software Revision String characteristic, 0x2A28.
    public let softwareRevision: Characteristic<String>?
    /// The System ID characteristic, 0x2A23.
    public let systemID: Characteristic<SystemID>?
    /// The IEEE 11073-20601 Regulatory Certification Data List characteristic, 0x2A2A.
    public let regulatoryCertificationData: Characteristic<[UInt8]>?
    /// The PnP ID characteristic, 0x2A50.
    public let pnpID: Characteristic<PnPID>?

    /// Declares the service.
    ///
    /// - Parameters:
    ///   - manufacturerName: The name of the manufacturer.
    ///   - modelNumber: The model number assigned by the manufacturer.
    ///   - serialNumber: The serial number of this device.
    ///   - hardwareRevision: The revision of the hardware.
    ///   - firmwareRevision: The revision of the firmware.
    ///   - softwareRevision: The revision of the software.
    ///   - systemID: The System ID, which identifies this device.
    ///   - regulatoryCertificationData: The list of regulatory certifications, encoded according to IEEE
    ///     11073-20601.
    ///   - pnpID: The PnP ID, which identifies the vendor, the product and the version of the product.
    ///   - security: The link security that a central needs to read the characteristics of the service.
    public init(
        manufacturerName: String? = nil,
        modelNumber: String? = nil,
        serialNumber: String? = nil,
        hardwareRevision: String? = nil,
        firmwareRevision: String? = nil,
        softwareRevision: String? = nil,
        systemID: SystemID? = nil,
        regulatoryCertificationData: [UInt8]? = nil,
        pnpID: PnPID? = nil,
        security: AttributeSecurity = .open
    ) {
        self.manufacturerName = manufacturerName.map {
            Characteristic(.manufacturerName, value: $0, security: security)
        }
        self.modelNumber = modelNumber.map {
            Characteristic(.modelNumber, value: $0, security: security)
        }
        self.serialNumber = serialNumber.map {
            Characteristic(.serialNumber, value: $0, security: security)
        }
        self.hardwareRevision = hardwareRevision.map {
            Characteristic(.hardwareRevision, value: $0, security: security)
        }
        self.firmwareRevision = firmwareRevision.map {
            Characteristic(.firmwareRevision, value: $0, security: security)
        }
        self.softwareRevision = softwareRevision.map {
            Characteristic(.softwareRevision, value: $0, security: security)
        }
        self.systemID = systemID.map {
            Characteristic(.systemID, value: $0, security: security)
        }
        self.regulatoryCertificationData = regulatoryCertificationData.map {
            Characteristic(.regulatoryCertificationData, value: $0, security: security)
        }
        self.pnpID = pnpID.map {
            Characteristic(.pnpID, value: $0, security: security)
        }
    }

    /// The GATT service that the peripheral publishes.
    public var service: GATTService {
        GATTService(.deviceInformation) {
            if let manufacturerName { manufacturerName }
            if let modelNumber { modelNumber }
            if let serialNumber { serialNumber }
            if let hardwareRevision { hardwareRevision }
            if let firmwareRevision { firmwareRevision }
            if let softwareRevision { softwareRevision }
            if let systemID { systemID }
            if let regulatoryCertificationData { regulatoryCertificationData }
            if let pnpID { pnpID }
        }
    }
}
