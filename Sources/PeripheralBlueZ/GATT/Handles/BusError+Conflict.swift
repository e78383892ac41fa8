internal import PeripheralDBus

extension BusError {
    /// Whether bluetoothd refuses to put services where they are requested.
    ///
    /// It says the same of a declaration that is wrong. Any other error says nothing about the handles:
    /// bluetoothd could not read the services, or has just died.
    var isConflict: Bool {
        guard case .remote("org.bluez.Error.Failed", "Failed to create entry in database") = self else {
            return false
        }
        return true
    }
}
