public import PeripheralCore

/// The differences between a declaration and the attributes of an earlier publication.
///
/// An earlier element and a declared element are equivalent if they have the same type and the same position
/// among the elements of this type. For a service, the position is the index of the service in the
/// peripheral. For a characteristic or a descriptor, the position is the index in the service or
/// characteristic that contains it.
public struct DeclarationChanges: Hashable, Sendable {
    /// A service, a characteristic or a descriptor.
    public struct Element: Hashable, Sendable, CustomStringConvertible {
        /// The type of the service.
        ///
        /// The element is this service, or this service contains the element.
        public let service: BluetoothUUID

        /// The type of the characteristic, or `nil` if the element is a service.
        public let characteristic: BluetoothUUID?

        /// The type of the descriptor, or `nil` if the element is a service or a characteristic.
        public let descriptor: BluetoothUUID?

        init(
            service: BluetoothUUID,
            characteristic: BluetoothUUID? = nil,
            descriptor: BluetoothUUID? = nil
        ) {
            self.service = service
            self.characteristic = characteristic
            self.descriptor = descriptor
        }

        /// A description of the element, such as `characteristic 2a19 of service 180f`.
        public var description: String {
            let parts = [
                descriptor.map { "descriptor \($0)" }, characteristic.map { "characteristic \($0)" },
                "service \(service)",
            ]
            return parts.compactMap(\.self).joined(separator: " of ")
        }
    }

    /// The new elements of the declaration.
    ///
    /// If a service or characteristic is new, the array does not list the elements that it contains.
    public internal(set) var added: [Element] = []

    /// The elements of the earlier publication that are no longer declared.
    ///
    /// If a service or characteristic is missing, the array does not list the elements that it contained.
    public internal(set) var removed: [Element] = []

    /// The elements whose properties, security, constant value or included services have changed.
    public internal(set) var changed: [Element] = []

    /// The services and characteristics with changed or unknown handles.
    ///
    /// A new service or characteristic does not move other elements if enough handles are free after the
    /// service. Usually, 32 handles are free after a service. If another program uses the handles of a
    /// service, the Bluetooth stack refuses the handles, and the service moves.
    /// ``SessionEvent/handlesChanged`` reports that a service has moved.
    public internal(set) var moved: [Element] = []

    /// Whether centrals must discover the services again.
    ///
    /// The value is `true` if a handle or a declaration has changed, because the Database Hash and the
    /// attribute caches of centrals are then outdated. The value is also `true` if the framework could not
    /// restore anything, or if the Bluetooth stack does not report handles.
    ///
    /// The Bluetooth stack sends Service Changed to connected centrals immediately, and to bonded centrals
    /// after they reconnect.
    public internal(set) var invalidatesCaches = false

    /// Whether the declaration has no known differences from the earlier publication.
    public var isEmpty: Bool { added.isEmpty && removed.isEmpty && changed.isEmpty && moved.isEmpty }

    /// The changes when the earlier declaration is not known.
    static var unknown: DeclarationChanges {
        var changes = DeclarationChanges()
        changes.invalidatesCaches = true
        return changes
    }
}
