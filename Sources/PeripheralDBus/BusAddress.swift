internal import CPeripheralGLib

/// The address of a message bus.
package enum BusAddress: Sendable, Equatable {
    /// The D-Bus system bus.
    ///
    /// The address is the value of the environment variable `DBUS_SYSTEM_BUS_ADDRESS`, or the standard socket
    /// of the system bus.
    ///
    /// A program can have more privileges than its caller, for example after `setcap cap_net_raw+ep`. Such a
    /// program ignores `DBUS_SYSTEM_BUS_ADDRESS`. Therefore the caller cannot choose the bus.
    case system
    /// A server address in D-Bus notation, such as `unix:path=/run/dbus/system_bus_socket`.
    case address(String)

    /// The standard socket of the system bus.
    private static let standard = "unix:path=/var/run/dbus/system_bus_socket"

    /// Whether this is the system bus at its standard socket.
    ///
    /// The programs on another bus can use other files than those of this machine.
    package var isStandard: Bool { text == Self.standard }

    package var text: String {
        switch self {
        case .address(let text): return text
        case .system:
            guard let value = unsafe secure_getenv("DBUS_SYSTEM_BUS_ADDRESS"), unsafe value.pointee != 0
            else {
                return Self.standard
            }
            return unsafe String(cString: value)
        }
    }
}
