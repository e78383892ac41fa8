public import PeripheralCore

/// A descriptor that the program declares for a characteristic.
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
/// The Bluetooth stack adds the Client Characteristic Configuration descriptor and the Characteristic
/// Extended Properties descriptor. A program cannot declare a Client Characteristic Configuration or
/// Characteristic Extended Properties descriptor. The Core Specification defines descriptors in Vol 3, Part
/// G, 3.3.3.
public struct Descriptor<Value: GATTValue>: Sendable {
    let declaration: DescriptorDeclaration

    /// Declares a descriptor with handlers for reads and writes.
    ///
    /// Centrals can read the descriptor if it contains a ``Read``. Centrals can write the descriptor if it
    /// contains a ``Write``.
    ///
    /// - Parameters:
    ///   - uuid: The UUID that identifies the type of the descriptor.
    ///   - security: The link security that is required for reads and writes.
    ///   - content: The handlers of the descriptor: a ``Read``, a ``Write`` or both.
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
    ///   - uuid: The UUID that identifies the type of the descriptor.
    ///   - value: The constant value, with an encoded length of at most 512 bytes.
    ///   - security: The link security that is required for reads.
    public init(_ uuid: BluetoothUUID, value: Value, security: AttributeSecurity = .open) {
        declaration = DescriptorDeclaration(
            uuid: uuid,
            security: security,
            access: AttributeAccess(readSources: [.value(value.gattBytes)])
        )
    }
}

/// A human-readable description of the value of a characteristic.
///
/// The text is the value of the Characteristic User Description descriptor (Core Specification, Vol 3, Part
/// G, 3.3.3.2).
public struct UserDescription: Sendable {
    let declaration: DescriptorDeclaration

    /// Describes the characteristic.
    ///
    /// - Parameter text: The description, with a length of at most 512 bytes in UTF-8.
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
