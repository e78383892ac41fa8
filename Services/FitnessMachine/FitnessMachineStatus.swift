public import PeripheralKit

/// A change in the status of a machine.
///
/// This type represents the value of the Fitness Machine Status characteristic, 0x2ADA (Fitness Machine
/// Service 1.0, section 4.17).
///
/// When a request from a central changes the machine, the service automatically sends the status. When the
/// user operates the machine, the program must send the status:
///
/// ```swift
/// try await bike.notify(.pausedByUser, in: session)
/// try await bike.notify(.changed(.targetPower(watts: 180)), in: session)
/// ```
public struct FitnessMachineStatus: Equatable, Sendable {
    /// The encoded op code of the status.
    public var opCode: UInt8

    /// The encoded parameter of the status.
    public var parameter: [UInt8]

    /// Creates a status from an op code and a parameter.
    ///
    /// The initializer accepts op codes that the Fitness Machine Service specification does not define.
    public init(opCode: UInt8, parameter: [UInt8] = []) {
        self.opCode = opCode
        self.parameter = parameter
    }

    /// The machine has been reset.
    public static var reset: FitnessMachineStatus { .init(opCode: 0x01) }
    /// The user has stopped the workout.
    public static var stoppedByUser: FitnessMachineStatus { .init(opCode: 0x02, parameter: [1]) }
    /// The user has paused the workout.
    public static var pausedByUser: FitnessMachineStatus { .init(opCode: 0x02, parameter: [2]) }
    /// The safety key has stopped the machine.
    public static var stoppedBySafetyKey: FitnessMachineStatus { .init(opCode: 0x03) }
    /// The user has started or resumed the workout.
    public static var startedOrResumedByUser: FitnessMachineStatus { .init(opCode: 0x04) }
    /// The machine requests a spin-down.
    public static var spinDownRequested: FitnessMachineStatus { .init(opCode: 0x14, parameter: [1]) }
    /// A spin-down has succeeded.
    public static var spinDownSucceeded: FitnessMachineStatus { .init(opCode: 0x14, parameter: [2]) }
    /// A spin-down has failed.
    public static var spinDownFailed: FitnessMachineStatus { .init(opCode: 0x14, parameter: [3]) }
    /// The rider must stop pedaling to let the wheel spin down.
    public static var stopPedaling: FitnessMachineStatus { .init(opCode: 0x14, parameter: [4]) }
    /// The notified central no longer controls the machine.
    public static var controlPermissionLost: FitnessMachineStatus { .init(opCode: 0xFF) }

    /// Returns the status for a setting that has changed to the requested value.
    ///
    /// For a `.reset`, `.startOrResume`, `.stop` or `.pause` request, the method returns the status that
    /// reports the action. For a `.requestControl` request or a spin-down request, the method returns a
    /// status with the op code 0. The service does not send a status with the op code 0.
    ///
    /// In the status, a resistance level has two bytes, as in Fitness Machine Service 1.0.1 (Table 4.26,
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
    /// Reads the op code, and reads the remaining bytes as the parameter.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        opCode = try reader.read()
        parameter = reader.readRemaining()
    }

    /// Appends the op code and the parameter.
    public func encode(into writer: inout ByteWriter) {
        writer.write([opCode] + parameter)
    }
}
