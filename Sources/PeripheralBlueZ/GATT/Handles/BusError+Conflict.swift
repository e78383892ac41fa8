internal import PeripheralDBus

extension BusError {
    /// Whether bluetoothd refuses services at the requested handles.
    ///
    /// bluetoothd returns the same error for a wrong declaration. Other errors do not concern the handles.
    /// With such an error, bluetoothd could not read the services or has just ended.
    var isConflict: Bool {
        guard case .remote("org.bluez.Error.Failed", "Failed to create entry in database") = self else {
            return false
        }
        return true
    }
}
