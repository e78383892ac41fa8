/// An event of a controller about one of its links.
///
/// The controller's handle identifies the link.
package enum LinkEvent: Equatable, Sendable {
    /// The link has ended for a reason of the Core Specification, Vol 1, Part F.
    case ended(connection: UInt16, reason: UInt8)
}

extension LinkEvent {
    /// Reads a packet of the kernel (Core Specification, Vol 4, Part A and Part E, 7.7).
    ///
    /// The result is `nil` if the packet is too short, or is about nothing else than a link.
    init?(_ packet: ArraySlice<UInt8>) {
        // The type of the packet, the code of the event, the length of the parameters, the parameters.
        guard packet.byte(at: 0) == 0x04, let code = packet.byte(at: 1) else { return nil }
        let parameters = packet.dropFirst(3)
        switch code {
        case 0x05:
            guard parameters.byte(at: 0) == 0, let connection = parameters.littleEndian(at: 1),
                let reason = parameters.byte(at: 3)
            else { return nil }
            self = .ended(connection: connection & 0x0FFF, reason: reason)
        default: return nil
        }
    }
}
