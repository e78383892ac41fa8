internal import PeripheralCore
internal import PeripheralKit
internal import PeripheralVirtualServer

extension VirtualGATTServer {
    /// Opens the listeners of a peripheral, with their PSMs of the last run if possible.
    ///
    /// - Returns: The PSMs of the listeners.
    /// - Throws: ``PeripheralError`` with the code `rejected` if a PSM is taken.
    func listen(
        _ listeners: [BackendListener],
        preferring former: [UInt16],
        for host: any PeripheralHost
    ) throws(PeripheralError) -> [UInt16] {
        var psms: [Int: UInt16] = [:]
        let requested = Set(listeners.compactMap(\.psm.number))
        // The requested numbers come first, so that no other listener receives them.
        let order =
            listeners.indices.filter { listeners[$0].psm.number != nil }
            + listeners.indices.filter { listeners[$0].psm.number == nil }
        for index in order {
            let listener = listeners[index]
            let open: @Sendable (VirtualChannel, DeviceAddress) -> Void = { channel, address in
                host.open(channel, of: Central.ID(address: address), through: index)
            }
            let preserved = former.indices.contains(index) ? former[index] : nil
            let wish = listener.psm.number ?? preserved.flatMap { requested.contains($0) ? nil : $0 }
            var psm = listen(listener, at: wish, open)
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

/// The PSMs of the listeners as the text that the in-memory stack preserves.
struct PreservedListeners {
    private static let prefix = "psm"
    let psms: [UInt16]
    let text: String

    init(_ psms: [UInt16]) {
        self.psms = psms
        text = ([Self.prefix] + psms.map { "\($0)" }).joined(separator: " ")
    }

    /// Reads the text of the last run; no PSM if the text is of another kind.
    init(decoding text: String) {
        let words = text.split(separator: " ")
        self.init(words.first == Self.prefix[...] ? words.dropFirst().compactMap { UInt16($0) } : [])
    }
}
