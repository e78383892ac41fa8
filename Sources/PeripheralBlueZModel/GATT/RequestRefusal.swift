package import PeripheralCore

/// The D-Bus error that makes bluetoothd send an ATT error to the central.
///
/// The error follows `dbus_error_to_att_ecode` in BlueZ's gatt-database.c. A few ATT errors have a D-Bus
/// name. The application errors 0x80 to 0x9F are the text of `Failed`. Every other error becomes "unlikely
/// error".
package struct RequestRefusal: Sendable {
    package enum Operation: Sendable {
        case read, write
    }

    /// The name of the D-Bus error for bluetoothd.
    package let name: String
    package let message: String

    /// The error that the central receives.
    package let received: ATTError

    package init(_ error: ATTError, operation: Operation, version: BlueZVersion) {
        switch error {
        case .requestNotSupported: self.init("org.bluez.Error.NotSupported", error)
        case .insufficientAuthorization: self.init("org.bluez.Error.NotAuthorized", error)
        case .invalidAttributeValueLength: self.init("org.bluez.Error.InvalidValueLength", error)
        case .invalidOffset: self.init("org.bluez.Error.InvalidOffset", error)
        case .readNotPermitted where operation == .read: self.init("org.bluez.Error.NotPermitted", error)
        case .writeNotPermitted where operation == .write: self.init("org.bluez.Error.NotPermitted", error)
        case .procedureAlreadyInProgress: self.init("org.bluez.Error.InProgress", error)
        case .clientCharacteristicConfigurationImproperlyConfigured:
            // Before 5.76, bluetoothd does not know this name.
            let received = version >= BlueZVersion(major: 5, minor: 76) ? error : .unlikelyError
            self.init("org.bluez.Error.ImproperlyConfigured", received)
        case _ where error.isApplicationError:
            self.init("org.bluez.Error.Failed", error, message: "0x" + String(error.rawValue, radix: 16))
        default:
            self.init("org.bluez.Error.Failed", .unlikelyError, message: "0x0e")
        }
    }

    private init(_ name: String, _ received: ATTError, message: String? = nil) {
        self.name = name
        self.message = message ?? received.description
        self.received = received
    }
}
