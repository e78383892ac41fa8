public import PeripheralCore

/// The differences between a declaration and the attributes that were published earlier.
///
/// An earlier element and a declared element are the same if both have the same type and the same position
/// among the elements of that type. The position of a service is its position in the peripheral. The position
/// of any other element is its position in the element that contains it.
public struct DeclarationChanges: Hashable, Sendable {
    /// A service, characteristic or descriptor.
    public struct Element: Hashable, Sendable, CustomStringConvertible {
        /// The type of the service: the element itself, or the service that contains the element.
        public let service: BluetoothUUID

        /// The type of the characteristic; `nil` for a service.
        public let characteristic: BluetoothUUID?

        /// The type of the descriptor; `nil` for a service or a characteristic.
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

        /// A text such as `characteristic 2a19 of service 180f`.
        public var description: String {
            let parts = [
                descriptor.map { "descriptor \($0)" }, characteristic.map { "characteristic \($0)" },
                "service \(service)",
            ]
            return parts.compactMap(\.self).joined(separator: " of ")
        }
    }

    /// The elements that are new, without the elements that they contain.
    public internal(set) var added: [Element] = []

    /// The elements that no longer exist, without the elements that they contained.
    public internal(set) var removed: [Element] = []

    /// The elements whose properties, security, constant value or included services have changed.
    public internal(set) var changed: [Element] = []

    /// The services and characteristics that moved to other handles, or whose handles are not known.
    ///
    /// A new service or characteristic moves no other element as long as there is room behind the service,
    /// usually for 32 handles. If another program uses the handles of a service, the Bluetooth stack refuses
    /// these handles and the service moves. ``SessionEvent/handlesChanged`` reports the move.
    public internal(set) var moved: [Element] = []

    /// Whether centrals must discover the services again.
    ///
    /// The value is `true` when a handle or a declaration has changed, because the Database Hash and the
    /// caches of centrals are then wrong. The value is also `true` when nothing could be restored, or when
    /// the Bluetooth stack does not report handles.
    ///
    /// The Bluetooth stack sends Service Changed to connected centrals at once, and to bonded centrals when
    /// they return.
    public internal(set) var invalidatesCaches = false

    /// Whether there are no known differences.
    public var isEmpty: Bool { added.isEmpty && removed.isEmpty && changed.isEmpty && moved.isEmpty }

    /// The changes when the earlier declaration is not known.
    static var unknown: DeclarationChanges {
        var changes = DeclarationChanges()
        changes.invalidatesCaches = true
        return changes
    }
}
