public import PeripheralKit

/// A change in the status of a machine.
///
/// This type represents the value of the Fitness Machine Status characteristic, 0x2ADA (Fitness Machine
/// Service 1.0, section 4.17).
///
/// The service automatically notifies the changes made through the control point. The program notifies
/// actions of the user at the machine:
///
/// ```swift
/// try await bike.notify(.pausedByUser, in: session)
/// try await bike.notify(.changed(.targetPower(watts: 180)), in: session)
/// ```
public struct FitnessMachineStatus: Equatable, Sendable {
    /// The encoded op code.
    public var opCode: UInt8

    /// The parameter after the op code.
    public var parameter: [UInt8]

    /// Creates a status from its parts.
    ///
    /// Status values that the specification does not define are allowed.
    public init(opCode: UInt8, parameter: [UInt8] = []) {
        self.opCode = opCode
        self.parameter = parameter
    }

    /// The machine has been reset.
    public static var reset: FitnessMachineStatus { .init(opCode: 0x01) }
    /// The training has been stopped.
    public static var stoppedByUser: FitnessMachineStatus { .init(opCode: 0x02, parameter: [1]) }
    /// The training has been paused.
    public static var pausedByUser: FitnessMachineStatus { .init(opCode: 0x02, parameter: [2]) }
    /// The machine has been stopped by the safety key.
    public static var stoppedBySafetyKey: FitnessMachineStatus { .init(opCode: 0x03) }
    /// The training has been started or resumed.
    public static var startedOrResumedByUser: FitnessMachineStatus { .init(opCode: 0x04) }
    /// The machine requests a spin down.
    public static var spinDownRequested: FitnessMachineStatus { .init(opCode: 0x14, parameter: [1]) }
    /// A spin down has succeeded.
    public static var spinDownSucceeded: FitnessMachineStatus { .init(opCode: 0x14, parameter: [2]) }
    /// A spin down has failed.
    public static var spinDownFailed: FitnessMachineStatus { .init(opCode: 0x14, parameter: [3]) }
    /// The rider must stop pedaling to let the wheel spin down.
    public static var stopPedaling: FitnessMachineStatus { .init(opCode: 0x14, parameter: [4]) }
    /// The central no longer controls the machine.
    public static var controlPermissionLost: FitnessMachineStatus { .init(opCode: 0xFF) }

    /// A setting has changed to the value of a request.
    ///
    /// A `.reset`, `.startOrResume`, `.stop` or `.pause` request creates the status of that action. Requests
    /// for control or for a spin down have no status, and nothing is sent for such requests.
    ///
    /// A resistance level has two bytes in the status, as in Fitness Machine Service 1.0.1 (Table 4.26,
    /// erratum 10194).
    public static func changed(_ request: FitnessMachineRequest) -> FitnessMachineStatus {
        let (opCode, parameter) = (request.opCode, request.parameter)
        switch opCode {
        case 0x01: return .reset
        case 0x04:
            // A level may have one byte in the request, but has two in the status (1.0.1, Table 4.26).
            guard case .targetResistanceLevel(let level) = request else { break }
            return .init(opCode: 0x07, parameter: FitnessMachineFormat.signedTenths16.bytes(of: level))
        case 0x02...0x06: return .init(opCode: opCode + 3, parameter: parameter)
        case 0x07: return .startedOrResumedByUser
        case 0x08: return .init(opCode: 0x02, parameter: parameter)
        case 0x09...0x12, 0x14: return .init(opCode: opCode + 1, parameter: parameter)
        default: break
        }
        return .init(opCode: 0x00)
    }
}

extension FitnessMachineStatus: GATTValue {
    /// Reads an op code, and uses the remaining bytes as the parameter.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        opCode = try reader.read()
        parameter = reader.readRemaining()
    }

    /// Appends the op code and the parameter.
    public func encode(into writer: inout ByteWriter) {
        writer.write([opCode] + parameter)
    }
}
