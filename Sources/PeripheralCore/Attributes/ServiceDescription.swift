/// A service as it stands in an attribute table: what centrals discover, without values or handlers.
public struct ServiceDescription: Hashable, Sendable {
    /// What the service is.
    public var uuid: BluetoothUUID
    /// Whether the service is one of the device's main functions, not merely included by another.
    public var isPrimary: Bool
    /// The services that this one includes: their indices in the table, each below this service's own.
    public var includedServices: [Int]
    /// The handle of the service's declaration; `nil` for the next that is free.
    public var handle: AttributeHandle?
    /// The characteristics, in the order of their handles.
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

/// A characteristic as it stands in an attribute table.
public struct CharacteristicDescription: Hashable, Sendable {
    /// What the characteristic is.
    public var uuid: BluetoothUUID
    /// What a central may do with the value.
    public var properties: CharacteristicProperties
    /// What a link must offer for that.
    public var security: AttributeSecurity
    /// Whether the application decides about each read and write who may (Core Specification Vol 3, Part F, 3.2.5).
    public var requiresAuthorization: Bool
    /// The declared descriptors, in the order of their handles.
    ///
    /// Without those that the stack adds: Client Characteristic Configuration and Characteristic Extended
    /// Properties.
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

/// A descriptor as it stands in an attribute table.
public struct DescriptorDescription: Hashable, Sendable {
    /// What the descriptor is.
    public var uuid: BluetoothUUID
    /// What a central may do with the value.
    public var permissions: DescriptorPermissions
    /// What a link must offer for that; its `notify` has no meaning here.
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

/// What a central may do with a descriptor's value.
public struct DescriptorPermissions: OptionSet, Hashable, Sendable {
    /// The options' bits, which never go on the air.
    public let rawValue: UInt8

    /// Creates a set of its bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The value can be read.
    public static let read = DescriptorPermissions(rawValue: 1)
    /// The value can be written.
    public static let write = DescriptorPermissions(rawValue: 2)
}
