internal import PeripheralCore
internal import PeripheralKit
internal import PeripheralVirtualServer

extension VirtualGATTServer {
    /// Opens the listeners of a peripheral.
    ///
    /// - Returns: The PSMs of the listeners.
    /// - Throws: ``PeripheralError`` with the code `rejected` if a PSM is taken.
    func listen(
        _ listeners: [BackendListener],
        for host: any PeripheralHost
    ) throws(PeripheralError) -> [UInt16] {
        var psms: [Int: UInt16] = [:]
        // The requested numbers come first, so that no other listener receives them.
        let order =
            listeners.indices.filter { listeners[$0].psm.number != nil }
            + listeners.indices.filter { listeners[$0].psm.number == nil }
        for index in order {
            let listener = listeners[index]
            let open: @Sendable (VirtualChannel, DeviceAddress) -> Void = { channel, address in
                host.open(channel, of: Central.ID(address: address), through: index)
            }
            var psm = listen(listener, at: listener.psm.number, open)
            if psm == nil, listener.psm.canMove { psm = listen(listener, at: nil, open) }
            guard let psm else {
                for psm in psms.values { stopListening(psm) }
                throw PeripheralError(
                    code: .rejected,
                    message: "Another peripheral has the PSM \(listener.psm) of L2CAP listener \(index + 1)."
                )
            }
            psms[index] = psm
        }
        return listeners.indices.compactMap { psms[$0] }
    }
}
