internal import PeripheralKit

/// The links of the connected centrals: their parameters, and why they have ended.
///
/// The table is a pure value. The controller identifies a link by a handle, and bluetoothd by its central.
struct LinkTable {
    private var centrals: [UInt16: Central.ID] = [:]
    private var parameters: [UInt16: ConnectionParameters] = [:]
    /// The reasons that the controller has reported.
    private var codes: [Central.ID: UInt8] = [:]
    /// The reasons that bluetoothd has reported.
    private var causes: [Central.ID: DisconnectionReason.Cause] = [:]

    /// Records the links of the centrals that have connected.
    mutating func learn(_ links: [(connection: UInt16, central: Central.ID)]) {
        for (connection, central) in links { centrals[connection] = central }
    }

    /// Returns the link of a central; of several, the one whose parameters are known.
    func connection(of central: Central.ID) -> UInt16? {
        let connections = centrals.filter { $0.value == central }.keys
        return connections.first { parameters[$0] != nil } ?? connections.first
    }

    /// Returns the parameters of a central's link, if the controller has reported them.
    func parameters(of central: Central.ID) -> ConnectionParameters? {
        connection(of: central).flatMap { parameters[$0] }
    }

    /// Records that a central has connected.
    mutating func connected(_ central: Central.ID) {
        (codes[central], causes[central]) = (nil, nil)
    }

    /// Records an event of the controller.
    ///
    /// - Returns: The central whose parameters have changed, if it is known.
    mutating func take(_ event: LinkEvent) -> Central.ID? {
        switch event {
        case .began(let connection, let inUse):
            // The handle may have belonged to another link.
            (centrals[connection], parameters[connection]) = (nil, inUse)
        case .changed(let connection, 0, let inUse):
            parameters[connection] = inUse
            return centrals[connection]
        case .ended(let connection, let reason):
            parameters[connection] = nil
            if let central = centrals.removeValue(forKey: connection) { codes[central] = reason }
        case .changed, .begun, .measured: break
        }
        return nil
    }

    /// Records bluetoothd's reason for the end of a connected central's links.
    mutating func take(_ cause: DisconnectionReason.Cause, of central: Central.ID) {
        causes[central] = cause
    }

    /// Records that bluetoothd has reported the end of a connection.
    ///
    /// If the authentication fails, Linux itself ends the link. Only bluetoothd then knows the cause.
    ///
    /// - Parameters:
    ///   - central: The central.
    ///   - isFollowed: Whether the controller reports the end of each link. bluetoothd reports an end before
    ///     the controller only if this device disconnects.
    /// - Returns: The reason.
    mutating func disconnected(_ central: Central.ID, isFollowed: Bool = false) -> DisconnectionReason {
        let isEarly = isFollowed && connection(of: central) != nil
        let (code, cause) = (codes.removeValue(forKey: central), causes.removeValue(forKey: central))
        centrals = centrals.filter { $0.value != central }
        guard let code else { return DisconnectionReason(cause ?? (isEarly ? .device : .unknown)) }
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
