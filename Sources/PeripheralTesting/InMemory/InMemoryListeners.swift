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
        let requested = Set(listeners.compactMap(\.psm.number))
        var psms: [Int: UInt16] = [:]
        func listen(_ index: Int, _ psm: UInt16?) {
            psms[index] = self.listen(listeners[index], at: psm) { channel, address in
                host.open(channel, of: Central.ID(address: address), through: index)
            }
        }
        // The known numbers come first, so that no other listener receives them.
        for index in listeners.indices where listeners[index].psm.number != nil {
            listen(index, listeners[index].psm.number)
        }
        for index in listeners.indices where listeners[index].psm.number == nil {
            guard former.indices.contains(index), !requested.contains(former[index]) else { continue }
            listen(index, former[index])
        }
        for index in listeners.indices where psms[index] == nil {
            if listeners[index].psm.canMove { listen(index, nil) }
            guard psms[index] == nil else { continue }
            for psm in psms.values { stopListening(psm) }
            throw PeripheralError(
                code: .rejected,
                message:
                    "Another peripheral has the PSM \(listeners[index].psm) of L2CAP listener \(index + 1)."
            )
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
