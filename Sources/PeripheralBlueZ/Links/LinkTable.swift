internal import PeripheralKit

/// The links of the connected centrals, and why they have ended.
///
/// The table is a pure value. The controller identifies a link by a handle, and bluetoothd by its central.
struct LinkTable {
    private var centrals: [UInt16: Central.ID] = [:]
    /// The reasons that the controller has reported.
    private var codes: [Central.ID: UInt8] = [:]
    /// The reasons that bluetoothd has reported.
    private var causes: [Central.ID: DisconnectionReason.Cause] = [:]

    /// Records the links of the centrals that have connected.
    mutating func learn(_ links: [(connection: UInt16, central: Central.ID)]) {
        for (connection, central) in links { centrals[connection] = central }
    }

    /// Records that a central has connected.
    mutating func connected(_ central: Central.ID) {
        (codes[central], causes[central]) = (nil, nil)
    }

    /// Records an event of the controller.
    mutating func take(_ event: LinkEvent) {
        switch event {
        case .ended(let connection, let reason):
            if let central = centrals.removeValue(forKey: connection) { codes[central] = reason }
        }
    }

    /// Records bluetoothd's reason for the end of a connected central's links.
    mutating func take(_ cause: DisconnectionReason.Cause, of central: Central.ID) {
        causes[central] = cause
    }

    /// Records that bluetoothd has reported the end of a connection, and returns its reason.
    ///
    /// If the authentication fails, Linux itself ends the link. Only bluetoothd then knows the cause.
    mutating func disconnected(_ central: Central.ID) -> DisconnectionReason {
        let (code, cause) = (codes.removeValue(forKey: central), causes.removeValue(forKey: central))
        centrals = centrals.filter { $0.value != central }
        guard let code else { return DisconnectionReason(cause ?? .unknown) }
        return cause == .security
            ? DisconnectionReason(.security, code: code) : DisconnectionReason(code: code)
    }
}

extension DisconnectionReason.Cause {
    /// The cause in a signal `Disconnected` of bluetoothd (BlueZ, doc/org.bluez.Device.rst).
    init(reason: String) {
        self =
            switch reason {
            case "org.bluez.Reason.Timeout": .timeout
            case "org.bluez.Reason.Remote": .central
            case "org.bluez.Reason.Local", "org.bluez.Reason.Suspend": .device
            case "org.bluez.Reason.Authentication": .security
            default: .unknown
            }
    }
}
