public import PeripheralCore

/// A characteristic of a peripheral: its type, its properties, and how its value is read and written.
///
/// ```swift
/// let power = Characteristic<Bool>("5c3a0002-7e3c-4b6e-9d29-b3f1c0a1d001", [.read, .write, .notify]) {
///     Read { await lamp.isOn }
///     Write { isOn in try await lamp.set(isOn) }
///     UserDescription("Lamp power")
/// }
/// ```
///
/// Keep the characteristic in a constant to refer to it later, as in ``PeripheralSession/notify(_:_:)``.
/// Copies are the same characteristic; one that is made anew is another, also with the same UUID. A
/// characteristic can be declared once in a peripheral.
///
/// See Core Specification, Vol 3, Part G, 3.3.
public struct Characteristic<Value: GATTValue>: Sendable {
    // One reference: services keep many characteristics, and the code that copies them is as large as what they hold.
    private let storage: CharacteristicStorage

    /// Lent, and not copied: each of its many parts would be retained for every update.
    package var declaration: CharacteristicDeclaration {
        _read { yield storage.declaration }
    }

    /// The type of the characteristic.
    public var uuid: BluetoothUUID { declaration.uuid }

    /// What centrals may do with the value.
    public var properties: CharacteristicProperties { declaration.properties }

    /// The security that reading, writing and subscribing demand of the link.
    public var security: AttributeSecurity { declaration.security }

    init(declaration: CharacteristicDeclaration) {
        storage = CharacteristicStorage(declaration)
    }

    /// Declares a characteristic.
    ///
    /// - Parameters:
    ///   - uuid: The type of the characteristic.
    ///   - properties: What centrals may do with the value. Each of read and write demands its handler.
    ///   - security: The security that reading, writing and subscribing demand of the link.
    ///   - length: How many bytes the value may have when it is read, written or sent.
    ///   - updates: What becomes of a new value while those before it wait to be sent.
    ///   - content: At most one ``Read``, ``Write`` and ``Authorization`` each, or a ``PersistentValue`` in place of the
    ///     first two, and the descriptors in their order.
    public init(
        _ uuid: BluetoothUUID,
        _ properties: CharacteristicProperties,
        security: AttributeSecurity = .open,
        length: ValueLength = .any,
        updates: UpdatePolicy = .reject,
        @CharacteristicBuilder<Value> _ content: () -> [CharacteristicElement<Value>] = { [] }
    ) {
        let declaration = CharacteristicDeclaration(
            uuid: uuid,
            properties: properties,
            security: security,
            length: length,
            updates: updates,
            parts: content().map(\.part)
        )
        self.init(declaration: declaration)
    }

    /// Declares a characteristic with a value that never changes, and that centrals may read.
    ///
    /// - Parameters:
    ///   - uuid: The type of the characteristic.
    ///   - value: The value; at most 512 bytes when encoded.
    ///   - security: The security that reading demands of the link.
    ///   - length: How many bytes the value may have.
    ///   - content: At most one ``Authorization``, and the descriptors in their order.
    public init(
        _ uuid: BluetoothUUID,
        value: Value,
        security: AttributeSecurity = .open,
        length: ValueLength = .any,
        @CharacteristicBuilder<Value> _ content: () -> [CharacteristicElement<Value>] = { [] }
    ) {
        let declaration = CharacteristicDeclaration(
            uuid: uuid,
            properties: .read,
            security: security,
            length: length,
            parts: [.read(.value(value.gattBytes))] + content().map(\.part)
        )
        self.init(declaration: declaration)
    }
}

private final class CharacteristicStorage: Sendable {
    let declaration: CharacteristicDeclaration

    init(_ declaration: CharacteristicDeclaration) {
        self.declaration = declaration
    }
}

/// A declared characteristic without its value's type.
package struct CharacteristicDeclaration: Sendable {
    package let identity = DeclarationIdentity()
    package let uuid: BluetoothUUID
    package let properties: CharacteristicProperties
    package let security: AttributeSecurity
    package var access = AttributeAccess()
    let persistentValues: [PersistentValueDeclaration]
    package var descriptors: [DescriptorDeclaration] = []
    let length: ValueLength
    let updates: UpdatePolicy
    /// Where it stood before, of one that was made to stand there again.
    var place: PreservedPlace?

    init(
        uuid: BluetoothUUID,
        properties: CharacteristicProperties,
        security: AttributeSecurity,
        length: ValueLength,
        updates: UpdatePolicy = .reject,
        parts: [CharacteristicPart]
    ) {
        self.length = length
        self.updates = updates
        self.uuid = uuid
        self.properties = properties
        self.security = security
        var persistentValues: [PersistentValueDeclaration] = []
        for part in parts {
            switch part {
            case .persistent(let value):
                persistentValues.append(value)
                if properties.contains(.read) { access.readSources.append(.persistent) }
                if properties.canWrite { access.writeTargets.append(.persistent) }
            case .read(let source): access.readSources.append(source)
            case .write(let target): access.writeTargets.append(target)
            case .authorization(let handler): access.authorizationHandlers.append(handler)
            case .descriptor(let descriptor): descriptors.append(descriptor)
            }
        }
        self.persistentValues = persistentValues
    }

    /// The value that is kept; `nil` when none is.
    var persistentValue: PersistentValueDeclaration? { persistentValues.first }
}
