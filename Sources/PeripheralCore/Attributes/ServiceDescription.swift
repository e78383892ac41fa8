/// The description of a service in an attribute table, without values and without handlers.
public struct ServiceDescription: Hashable, Sendable {
    /// The service UUID.
    public var uuid: BluetoothUUID
    /// Whether the service is a primary service.
    ///
    /// A primary service represents one of the main functions of the device. A service that is not primary is
    /// a secondary service, which other services include.
    public var isPrimary: Bool
    /// The included services, as indices into the table's list of services.
    ///
    /// A service can include only services with a lower index.
    public var includedServices: [Int]
    /// The start handle of a pinned service, or `nil` for the next free handle.
    public var handle: AttributeHandle?
    /// The characteristics of the service, in the order of their handles.
    public var characteristics: [CharacteristicDescription]

    /// Creates the description of a service.
    public init(
        uuid: BluetoothUUID,
        isPrimary: Bool = true,
        includedServices: [Int] = [],
        handle: AttributeHandle? = nil,
        characteristics: [CharacteristicDescription] = []
    ) {
        self.uuid = uuid
        self.isPrimary = isPrimary
        self.includedServices = includedServices
        self.handle = handle
        self.characteristics = characteristics
    }
}

/// The description of a characteristic in an attribute table.
public struct CharacteristicDescription: Hashable, Sendable {
    /// The characteristic UUID.
    public var uuid: BluetoothUUID
    /// The operations that a central can perform on the characteristic value.
    public var properties: CharacteristicProperties
    /// The link security that is required for operations on the characteristic value.
    public var security: AttributeSecurity
    /// Whether the program must authorize each read and each write.
    ///
    /// See Core Specification Vol 3, Part F, 3.2.5.
    public var requiresAuthorization: Bool
    /// The descriptors that the program declares, in the order of their handles.
    ///
    /// The list does not contain the Client Characteristic Configuration descriptor or the Characteristic
    /// Extended Properties descriptor, because the Bluetooth stack adds both descriptors automatically.
    public var descriptors: [DescriptorDescription]

    /// Creates the description of a characteristic.
    public init(
        uuid: BluetoothUUID,
        properties: CharacteristicProperties,
        security: AttributeSecurity = .open,
        requiresAuthorization: Bool = false,
        descriptors: [DescriptorDescription] = []
    ) {
        self.uuid = uuid
        self.properties = properties
        self.security = security
        self.requiresAuthorization = requiresAuthorization
        self.descriptors = descriptors
    }
}

/// The description of a descriptor in an attribute table.
public struct DescriptorDescription: Hashable, Sendable {
    /// The descriptor UUID.
    public var uuid: BluetoothUUID
    /// The operations that a central can perform on the descriptor value.
    public var permissions: DescriptorPermissions
    /// The link security that is required for reads and writes of the descriptor.
    ///
    /// The attribute table ignores the security level for `notify`, because centrals cannot subscribe to a
    /// descriptor.
    public var security: AttributeSecurity

    /// Creates the description of a descriptor.
    public init(
        uuid: BluetoothUUID,
        permissions: DescriptorPermissions = .read,
        security: AttributeSecurity = .open
    ) {
        self.uuid = uuid
        self.permissions = permissions
        self.security = security
    }
}

/// The operations that centrals can perform on a descriptor.
public struct DescriptorPermissions: OptionSet, Hashable, Sendable {
    /// The bits of the set.
    ///
    /// Devices never transmit these bits.
    public let rawValue: UInt8

    /// Creates a set of permissions from the given bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Centrals can read the descriptor.
    public static let read = DescriptorPermissions(rawValue: 1)
    /// Centrals can write the descriptor.
    public static let write = DescriptorPermissions(rawValue: 2)
}
