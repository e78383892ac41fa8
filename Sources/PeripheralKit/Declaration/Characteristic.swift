public import PeripheralCore

/// A characteristic of a peripheral, with its properties, handlers and descriptors.
///
/// ```swift
/// let power = Characteristic<Bool>("5c3a0002-7e3c-4b6e-9d29-b3f1c0a1d001", [.read, .write, .notify]) {
///     Read { await lamp.isOn }
///     Write { isOn in try await lamp.set(isOn) }
///     UserDescription("Lamp power")
/// }
/// ```
///
/// Store the characteristic in a constant, and pass the constant to methods such as
/// ``PeripheralSession/notify(_:_:)``. All copies of a `Characteristic` value represent the same
/// characteristic. Each call to an initializer creates a different characteristic, even if the UUID is the
/// same. A peripheral can contain each characteristic only once.
///
/// In a type that declares a service, the handlers often need the other properties of the type. Then declare
/// the characteristic without content, and give it the content in the service:
///
/// ```swift
/// struct LampService: GATTServiceDeclaration {
///     let power = Characteristic<Bool>("5c3a0002-7e3c-4b6e-9d29-b3f1c0a1d001", [.read, .write, .notify])
///     let lamp: Lamp
///
///     var service: GATTService {
///         GATTService("5c3a0001-7e3c-4b6e-9d29-b3f1c0a1d001") {
///             power {
///                 Read { await lamp.isOn }
///                 Write { isOn in try await lamp.set(isOn) }
///             }
///         }
///     }
/// }
/// ```
///
/// The Core Specification defines characteristics in Vol 3, Part G, 3.3.
public struct Characteristic<Value: GATTValue>: Sendable {
    // A reference, because a service stores many characteristics and copies of them take much code.
    private let storage: CharacteristicStorage

    /// This accessor yields the declaration without a copy, because a copy would retain each of its parts for
    /// every update.
    package var declaration: CharacteristicDeclaration {
        _read { yield storage.declaration }
    }

    /// The UUID that identifies the type of the characteristic.
    public var uuid: BluetoothUUID { declaration.uuid }

    /// The operations that a central can perform on the value.
    public var properties: CharacteristicProperties { declaration.properties }

    /// The link security that is required for reads, writes and subscriptions.
    public var security: AttributeSecurity { declaration.security }

    init(declaration: CharacteristicDeclaration) {
        storage = CharacteristicStorage(declaration)
    }

    /// Declares a characteristic.
    ///
    /// - Parameters:
    ///   - uuid: The UUID that identifies the type of the characteristic.
    ///   - properties: The operations that a central can perform on the value. If centrals can read the
    ///     value, declare a handler for reads. If centrals can write the value, declare a handler for writes.
    ///   - security: The link security that is required for reads, writes and subscriptions.
    ///   - length: The valid length of the value in bytes, for reads, writes and updates.
    ///   - updates: The policy for a new value while earlier values wait in the send queue.
    ///   - content: The elements of the characteristic: at most one ``Read``, one ``Write`` and one
    ///     ``Authorization``, and the descriptors in the order of their handles. A ``PersistentValue`` can
    ///     replace the ``Read`` and the ``Write``.
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

    /// Declares a characteristic with a constant value that centrals can read.
    ///
    /// - Parameters:
    ///   - uuid: The UUID that identifies the type of the characteristic.
    ///   - value: The constant value, with an encoded length of at most 512 bytes.
    ///   - security: The link security that is required for reads.
    ///   - length: The valid length of the value in bytes.
    ///   - content: The elements of the characteristic: at most one ``Authorization``, and the descriptors in
    ///     the order of their handles.
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

    /// Declares the characteristic in a service, with further handlers and descriptors.
    ///
    /// ```swift
    /// GATTService("5c3a0001-7e3c-4b6e-9d29-b3f1c0a1d001") {
    ///     power {
    ///         Read { await lamp.isOn }
    ///         UserDescription("Lamp power")
    ///     }
    /// }
    /// ```
    ///
    /// The result represents the same characteristic as `self`, so `session.notify(power, true)` notifies its
    /// subscribers.
    ///
    /// - Parameter content: The elements that follow the elements of the initializer.
    /// - Returns: The characteristic as an element of a service.
    public func callAsFunction(
        @CharacteristicBuilder<Value> _ content: () -> [CharacteristicElement<Value>]
    ) -> [ServiceElement] {
        var declaration = declaration
        declaration.add(content().map(\.part))
        return [ServiceElement(characteristic: declaration)]
    }
}

extension Characteristic: CustomStringConvertible {
    /// A text such as `characteristic 2a6e "Outside"`.
    public var description: String { declaration.name }
}

private final class CharacteristicStorage: Sendable {
    let declaration: CharacteristicDeclaration

    init(_ declaration: CharacteristicDeclaration) {
        self.declaration = declaration
    }
}

/// A declared characteristic, without the type of its value.
package struct CharacteristicDeclaration: Sendable, DescriptorHolder {
    package let identity = DeclarationIdentity()
    package let uuid: BluetoothUUID
    package let properties: CharacteristicProperties
    package let security: AttributeSecurity
    package var access = AttributeAccess()
    private(set) var persistentValues: [PersistentValueDeclaration] = []
    package var descriptors: [DescriptorDeclaration] = []
    let length: ValueLength
    let updates: UpdatePolicy
    /// The listener whose PSM is the value; `nil` for all other characteristics.
    var listener: DeclarationIdentity?
    /// The earlier place of a restored characteristic.
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
        add(parts)
    }

    /// Adds handlers and descriptors.
    mutating func add(_ parts: [CharacteristicPart]) {
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
    }

    /// The persistent value, or `nil` if the characteristic has no persistent value.
    var persistentValue: PersistentValueDeclaration? { persistentValues.first }
}
