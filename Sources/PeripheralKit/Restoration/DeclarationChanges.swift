public import PeripheralCore

/// The differences between a declaration and what was published before the program ended.
///
/// An element is the same as before if it has the same type and the same position among the elements of that
/// type. For a service, that is its position in the peripheral; for other elements, in the element that
/// contains them.
public struct DeclarationChanges: Hashable, Sendable {
    /// A service, characteristic or descriptor.
    public struct Element: Hashable, Sendable, CustomStringConvertible {
        /// The type of the service that the element is, or belongs to.
        public let service: BluetoothUUID

        /// The type of the characteristic that the element is, or belongs to; `nil` for a service.
        public let characteristic: BluetoothUUID?

        /// The type of the descriptor that the element is; `nil` for a service or characteristic.
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

    /// The elements that are new, without the elements inside them.
    public internal(set) var added: [Element] = []

    /// The elements that no longer exist, without the elements inside them.
    public internal(set) var removed: [Element] = []

    /// The elements whose properties, security, constant value or included services have changed.
    public internal(set) var changed: [Element] = []

    /// The services and characteristics that moved to other handles, or whose handles are not known.
    ///
    /// A new service or characteristic moves nothing as long as there is room behind the service, usually 32
    /// handles. If another program has taken the handles of a service meanwhile, the Bluetooth stack refuses
    /// them and the service moves. ``SessionEvent/handlesChanged`` reports that.
    public internal(set) var moved: [Element] = []

    /// Whether centrals must discover the services again, because their caches are wrong.
    ///
    /// It is `true` when a handle or a declaration has changed, and with it the Database Hash. It is also
    /// `true` when that is not known: when nothing could be restored, or when the Bluetooth stack does not
    /// report handles. The Bluetooth stack sends Service Changed to connected centrals at once, and to bonded
    /// centrals when they return.
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
