/// A service in an attribute table, without values and handlers.
public struct ServiceDescription: Hashable, Sendable {
    /// The service UUID.
    public var uuid: BluetoothUUID
    /// Whether the service is primary.
    ///
    /// A primary service is one of the main functions of the device. A service that is not primary is
    /// secondary. Other services include a secondary service.
    public var isPrimary: Bool
    /// The indices of the included services in the table.
    ///
    /// Each index is lower than the index of this service.
    public var includedServices: [Int]
    /// The handle of the service's declaration, or `nil` for the next free handle.
    public var handle: AttributeHandle?
    /// The characteristics, in handle order.
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

/// A characteristic in an attribute table.
public struct CharacteristicDescription: Hashable, Sendable {
    /// The characteristic UUID.
    public var uuid: BluetoothUUID
    /// The operations that a central can use on the value.
    public var properties: CharacteristicProperties
    /// The link security that the operations on the value require.
    public var security: AttributeSecurity
    /// Whether the program authorizes each read and write (Core Specification Vol 3, Part F, 3.2.5).
    public var requiresAuthorization: Bool
    /// The declared descriptors, in handle order.
    ///
    /// This list does not contain the descriptors that the stack adds, which are Client Characteristic
    /// Configuration and Characteristic Extended Properties.
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

/// A descriptor in an attribute table.
public struct DescriptorDescription: Hashable, Sendable {
    /// The descriptor UUID.
    public var uuid: BluetoothUUID
    /// The operations that a central can use on the value.
    public var permissions: DescriptorPermissions
    /// The link security that reads and writes require.
    ///
    /// The level of `notify` is ignored.
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

/// The operations that a descriptor offers to centrals.
public struct DescriptorPermissions: OptionSet, Hashable, Sendable {
    /// The bits of the options, which are never sent on the air.
    public let rawValue: UInt8

    /// Creates a set from its bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The value can be read.
    public static let read = DescriptorPermissions(rawValue: 1)
    /// The value can be written.
    public static let write = DescriptorPermissions(rawValue: 2)
}
