internal import PeripheralCore
package import PeripheralKit

/// An event of a controller about one of its links, or an answer of the controller.
///
/// The controller's handle identifies the link.
package enum LinkEvent: Equatable, Sendable {
    /// The link has begun.
    case began(connection: UInt16, ConnectionParameters)
    /// The parameters of the link have changed, unless the status is not 0.
    case changed(connection: UInt16, status: UInt8, ConnectionParameters)
    /// The link has ended for a reason of the Core Specification, Vol 1, Part F.
    case ended(connection: UInt16, reason: UInt8)
    /// The controller has begun a command, or has refused it if the status is not 0.
    case begun(opcode: UInt16, status: UInt8)
    /// The signal strength of the link in dBm, unless the status is not 0.
    case measured(connection: UInt16, status: UInt8, Int8)
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
        case 0x0E:
            guard parameters.littleEndian(at: 1) == LinkCommand.readSignalStrengthOpcode,
                let status = parameters.byte(at: 3), let connection = parameters.littleEndian(at: 4),
                let strength = parameters.byte(at: 6)
            else { return nil }
            let measured = Int8(bitPattern: strength)
            self = .measured(connection: connection & 0x0FFF, status: status, measured)
        case 0x0F:
            guard let status = parameters.byte(at: 0), let opcode = parameters.littleEndian(at: 2) else {
                return nil
            }
            self = .begun(opcode: opcode, status: status)
        case 0x3E: self.init(ofLE: parameters)
        default: return nil
        }
    }

    /// Reads an event with a subevent code, a status, a connection, and more (7.7.65).
    private init?(ofLE parameters: ArraySlice<UInt8>) {
        let subevent = parameters.byte(at: 0)
        // In a complete connection, the role, the address and possibly two more addresses come first.
        let offset: Int
        switch subevent {
        case 0x01: offset = 12
        case 0x03: offset = 4
        case 0x0A, 0x29: offset = 24
        default: return nil
        }
        guard let status = parameters.byte(at: 1), let connection = parameters.littleEndian(at: 2),
            let interval = parameters.littleEndian(at: offset),
            let latency = parameters.littleEndian(at: offset + 2),
            let timeout = parameters.littleEndian(at: offset + 4)
        else { return nil }
        let inUse = ConnectionParameters(
            interval: .microseconds(1250) * Int(interval),
            latency: Int(latency),
            supervisionTimeout: .milliseconds(10) * Int(timeout)
        )
        if subevent == 0x03 {
            self = .changed(connection: connection & 0x0FFF, status: status, inUse)
        } else {
            guard status == 0 else { return nil }
            self = .began(connection: connection & 0x0FFF, inUse)
        }
    }
}

/// A command to a controller about one of its links.
package enum LinkCommand: Equatable, Sendable {
    /// Read RSSI (Core Specification, Vol 4, Part E, 7.5.4).
    static let readSignalStrengthOpcode: UInt16 = 0x1405
    /// LE Connection Update (Core Specification, Vol 4, Part E, 7.8.18).
    static let updateOpcode: UInt16 = 0x2013

    case readSignalStrength(connection: UInt16)
    case update(connection: UInt16, ConnectionPreference.Units)

    var connection: UInt16 {
        switch self {
        case .readSignalStrength(let connection), .update(let connection, _): connection
        }
    }

    var opcode: UInt16 {
        switch self {
        case .readSignalStrength: Self.readSignalStrengthOpcode
        case .update: Self.updateOpcode
        }
    }

    /// The packet for the kernel.
    var packet: [UInt8] {
        var numbers = [connection]
        if case .update(_, let units) = self {
            numbers += [units.interval.lowerBound, units.interval.upperBound, units.latency]
            // The last two numbers are the length of a meeting, which the controller chooses.
            numbers += [units.supervisionTimeout, 0, 0]
        }
        return [0x01] + opcode.gattBytes + [UInt8(numbers.count * 2)] + numbers.flatMap(\.gattBytes)
    }
}
