/// A service without its behaviour: what there is to register and to discover.
public struct ServiceDescription: Hashable, Sendable {
    /// The type of the service.
    public var uuid: BluetoothUUID
    /// Whether the service can be discovered by itself, and not only as a part of another.
    public var isPrimary: Bool
    /// The characteristics in their order.
    public var characteristics: [CharacteristicDescription]

    /// Describes a service.
    public init(
        uuid: BluetoothUUID,
        isPrimary: Bool = true,
        characteristics: [CharacteristicDescription] = []
    ) {
        self.uuid = uuid
        self.isPrimary = isPrimary
        self.characteristics = characteristics
    }
}

/// A characteristic without its behaviour.
public struct CharacteristicDescription: Hashable, Sendable {
    /// The type of the characteristic.
    public var uuid: BluetoothUUID
    /// What centrals may do with the value.
    public var properties: CharacteristicProperties
    /// What each use demands of the link.
    public var security: AttributeSecurity
    /// The descriptors in their order, without those that follow from the properties.
    public var descriptors: [DescriptorDescription]

    /// Describes a characteristic.
    public init(
        uuid: BluetoothUUID,
        properties: CharacteristicProperties,
        security: AttributeSecurity = .open,
        descriptors: [DescriptorDescription] = []
    ) {
        self.uuid = uuid
        self.properties = properties
        self.security = security
        self.descriptors = descriptors
    }
}

/// What centrals may do with a descriptor.
public struct DescriptorPermissions: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt8

    /// Makes permissions from their bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The descriptor can be read.
    public static let read = DescriptorPermissions(rawValue: 1)
    /// The descriptor can be written.
    public static let write = DescriptorPermissions(rawValue: 2)
}

/// A descriptor without its behaviour.
public struct DescriptorDescription: Hashable, Sendable {
    /// The type of the descriptor.
    public var uuid: BluetoothUUID
    /// What centrals may do with the value.
    public var permissions: DescriptorPermissions
    /// What each use demands of the link.
    public var security: AttributeSecurity

    /// Describes a descriptor.
    public init(
        uuid: BluetoothUUID,
        permissions: DescriptorPermissions,
        security: AttributeSecurity = .open
    ) {
        self.uuid = uuid
        self.permissions = permissions
        self.security = security
    }
}
