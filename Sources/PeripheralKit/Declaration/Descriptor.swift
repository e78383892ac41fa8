public import PeripheralCore

/// A descriptor of a characteristic, besides those that the Bluetooth stack adds.
///
/// ```swift
/// Characteristic<UInt8>("5c3a0003-7e3c-4b6e-9d29-b3f1c0a1d001", [.read, .write]) {
///     Read { await lamp.brightness }
///     Write { brightness in try await lamp.dim(to: brightness) }
///     UserDescription("Brightness in percent")
///     Descriptor<[UInt8]>("5c3a0004-7e3c-4b6e-9d29-b3f1c0a1d001", value: [0, 100])
/// }
/// ```
///
/// The Bluetooth stack adds the client characteristic configuration and the extended properties. They cannot
/// be declared. See Core Specification, Vol 3, Part G, 3.3.3.
public struct Descriptor<Value: GATTValue>: Sendable {
    let declaration: DescriptorDeclaration

    /// Declares a descriptor that handlers serve.
    ///
    /// Centrals can read it if there is a ``Read``, and write it if there is a ``Write``.
    ///
    /// - Parameters:
    ///   - uuid: The type of the descriptor.
    ///   - security: The security of the link that reading and writing require.
    ///   - content: A ``Read``, a ``Write`` or both.
    public init(
        _ uuid: BluetoothUUID,
        security: AttributeSecurity = .open,
        @DescriptorBuilder<Value> _ content: () -> [DescriptorElement<Value>]
    ) {
        var access = AttributeAccess()
        for element in content() {
            switch element.part {
            case .read(let source): access.readSources.append(source)
            case .write(let handler): access.writeTargets.append(.handler(handler))
            }
        }
        declaration = DescriptorDeclaration(uuid: uuid, security: security, access: access)
    }

    /// Declares a descriptor with a constant value that centrals can read.
    ///
    /// - Parameters:
    ///   - uuid: The type of the descriptor.
    ///   - value: The value; at most 512 bytes when encoded.
    ///   - security: The security of the link that reading requires.
    public init(_ uuid: BluetoothUUID, value: Value, security: AttributeSecurity = .open) {
        declaration = DescriptorDeclaration(
            uuid: uuid,
            security: security,
            access: AttributeAccess(readSources: [.value(value.gattBytes)])
        )
    }
}

/// A text that describes the value to people.
///
/// It is the characteristic user description (Core Specification, Vol 3, Part G, 3.3.3.2).
public struct UserDescription: Sendable {
    let declaration: DescriptorDeclaration

    /// Describes the characteristic.
    ///
    /// - Parameter text: At most 512 bytes of UTF-8.
    public init(_ text: String) {
        declaration = Descriptor(.characteristicUserDescription, value: text).declaration
    }
}

/// A declared descriptor, without the type of its value.
package struct DescriptorDeclaration: Sendable {
    package var identity = DeclarationIdentity()
    package var uuid: BluetoothUUID
    package var security = AttributeSecurity.open
    package var access: AttributeAccess

    package var permissions: DescriptorPermissions {
        var permissions: DescriptorPermissions = []
        if !access.readSources.isEmpty { permissions.insert(.read) }
        if !access.writeTargets.isEmpty { permissions.insert(.write) }
        return permissions
    }
}
