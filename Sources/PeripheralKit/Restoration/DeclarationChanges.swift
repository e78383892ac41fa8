public import PeripheralCore

/// How a declaration differs from what was published before the program ended.
///
/// An element is the same as before if it has the same type and the same place among those of that type, in the peripheral
/// or in what it belongs to.
public struct DeclarationChanges: Hashable, Sendable {
    /// A service, characteristic or descriptor.
    public struct Element: Hashable, Sendable, CustomStringConvertible {
        /// The type of the service that it is, or belongs to.
        public let service: BluetoothUUID

        /// The type of the characteristic that it is, or belongs to; `nil` for a service.
        public let characteristic: BluetoothUUID?

        /// The type of the descriptor that it is; `nil` for a service or characteristic.
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

        /// Such as `characteristic 2a19 of service 180f`.
        public var description: String {
            let parts = [
                descriptor.map { "descriptor \($0)" }, characteristic.map { "characteristic \($0)" },
                "service \(service)",
            ]
            return parts.compactMap(\.self).joined(separator: " of ")
        }
    }

    /// What was not there before, without what belongs to it.
    public internal(set) var added: [Element] = []

    /// What is not there any more, without what belonged to it.
    public internal(set) var removed: [Element] = []

    /// What is there as before, but for its properties, security, constant value or included services.
    public internal(set) var changed: [Element] = []

    /// The services and characteristics that are there as before, but at other handles, or at handles that are not known.
    ///
    /// Nothing moves because a service or a characteristic is added, as long as there is room behind the service: 32 handles as a
    /// rule. Where the Bluetooth stack refuses the handles of before, which it has given to another program meanwhile, the service
    /// goes elsewhere; ``SessionEvent/handlesChanged`` tells.
    public internal(set) var moved: [Element] = []

    /// Whether what centrals have kept of the services is wrong now, so that they have to discover anew.
    ///
    /// It is so when a handle or a declaration has changed, and with it the Database Hash, and where nobody knows: when nothing
    /// could be restored, or the Bluetooth stack does not tell handles. The Bluetooth stack tells
    /// centrals by Service Changed: those that are connected at once, bonded ones when they return.
    public internal(set) var invalidatesCaches = false

    /// Whether no difference is known.
    public var isEmpty: Bool { added.isEmpty && removed.isEmpty && changed.isEmpty && moved.isEmpty }

    /// What is told when nothing is known of what was published before.
    static var unknown: DeclarationChanges {
        var changes = DeclarationChanges()
        changes.invalidatesCaches = true
        return changes
    }
}
