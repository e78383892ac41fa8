public import PeripheralCore

/// The differences between a declaration and the attributes of an earlier publication.
///
/// The framework compares each declared element with an earlier element of the same type. If several elements
/// have the same type, the framework compares the first declared element with the first earlier element, the
/// second with the second, and so on. The framework compares characteristics only within the same service,
/// and descriptors only within the same characteristic.
public struct DeclarationChanges: Hashable, Sendable {
    /// A service, a characteristic or a descriptor.
    public struct Element: Hashable, Sendable, CustomStringConvertible {
        /// The type of the service.
        ///
        /// If the element is a service, the property contains the type of the element. For a characteristic,
        /// the property contains the type of the characteristic's service. For a descriptor, the property
        /// contains the type of the descriptor's service.
        public let service: BluetoothUUID

        /// The type of the characteristic, or `nil` if the element is a service.
        public let characteristic: BluetoothUUID?

        /// The type of the descriptor.
        ///
        /// The value is `nil` if the element is a service or a characteristic.
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
    /// If a service is new, the array contains the service, but not its characteristics. If a characteristic
    /// is new, the array contains the characteristic, but not its descriptors.
    public internal(set) var added: [Element] = []

    /// The elements of the earlier publication that are no longer declared.
    ///
    /// If a service is no longer declared, the array contains the service, but not its characteristics. If a
    /// characteristic is no longer declared, the array contains the characteristic, but not its descriptors.
    public internal(set) var removed: [Element] = []

    /// The elements whose properties, security, constant value or included services have changed.
    public internal(set) var changed: [Element] = []

    /// The services and characteristics with changed or unknown handles.
    ///
    /// If enough handles are free after a service, a new service or characteristic does not change the
    /// handles of other elements. Usually, 32 handles are free after a service. If another program uses the
    /// handles of a service, the Bluetooth stack refuses the handles, and the service receives other handles.
    /// ``SessionEvent/handlesChanged`` reports that the handles of a service have changed.
    public internal(set) var moved: [Element] = []

    /// Whether centrals must discover the services again.
    ///
    /// The value is `true` if a handle or a declaration has changed. A changed handle or declaration changes
    /// the Database Hash, and makes the attribute caches of centrals outdated. The value is also `true` if
    /// the framework could not restore anything, or if the Bluetooth stack does not report handles.
    ///
    /// The Bluetooth stack immediately sends a Service Changed indication to each connected central. A
    /// disconnected bonded central receives the indication after it reconnects.
    public internal(set) var invalidatesCaches = false

    /// Whether ``added``, ``removed``, ``changed`` and ``moved`` are all empty.
    ///
    /// The value is also `true` if the earlier declaration is not known.
    public var isEmpty: Bool { added.isEmpty && removed.isEmpty && changed.isEmpty && moved.isEmpty }

    /// The changes when the earlier declaration is not known.
    static var unknown: DeclarationChanges {
        var changes = DeclarationChanges()
        changes.invalidatesCaches = true
        return changes
    }
}

extension DeclarationChanges: CustomStringConvertible {
    /// The changes, with one line for each element, such as `added characteristic 2a19 of service 180f`.
    public var description: String {
        var lines: [String] = []
        for (change, elements) in [
            ("added", added), ("removed", removed), ("changed", changed), ("moved", moved),
        ] {
            lines += elements.map { "\(change) \($0)" }
        }
        if lines.isEmpty { lines.append(invalidatesCaches ? "changes are not known" : "no changes") }
        if invalidatesCaches { lines.append("centrals must discover the services again") }
        return lines.joined(separator: "\n")
    }
}
