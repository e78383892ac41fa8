public import PeripheralKit

/// What has become of a machine: the value of the Fitness Machine Status, 0x2ADA (Fitness Machine Service 1.0, section
/// 4.17).
///
/// The service tells by itself what the control point has done. A program tells what the user does at the machine:
///
/// ```swift
/// try await bike.notify(.pausedByUser, in: session)
/// try await bike.notify(.changed(.targetPower(watts: 180)), in: session)
/// ```
public struct FitnessMachineStatus: Equatable, Sendable {
    /// The op code as it is on the air.
    public var opCode: UInt8

    /// What follows it.
    public var parameter: [UInt8]

    /// Makes a status of its parts, known to the specification or not.
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
    /// The training has been started, or goes on.
    public static var startedOrResumedByUser: FitnessMachineStatus { .init(opCode: 0x04) }
    /// The machine asks for a spin down.
    public static var spinDownRequested: FitnessMachineStatus { .init(opCode: 0x14, parameter: [1]) }
    /// A spin down has been done.
    public static var spinDownSucceeded: FitnessMachineStatus { .init(opCode: 0x14, parameter: [2]) }
    /// A spin down has failed.
    public static var spinDownFailed: FitnessMachineStatus { .init(opCode: 0x14, parameter: [3]) }
    /// The rider has to stop pedaling, for the wheel to spin down.
    public static var stopPedaling: FitnessMachineStatus { .init(opCode: 0x14, parameter: [4]) }
    /// The central has no control of the machine any more.
    public static var controlPermissionLost: FitnessMachineStatus { .init(opCode: 0xFF) }

    /// What can be set has been set as by a request; `.reset`, `.startOrResume`, `.stop` and `.pause` stand for the status of
    /// theirs.
    ///
    /// A resistance level has two bytes here, as in Fitness Machine Service 1.0.1 (Table 4.26, erratum 10194). There is no status
    /// after requests for control, and after those for a spin down: these are not sent.
    public static func changed(_ request: FitnessMachineRequest) -> FitnessMachineStatus {
        let (opCode, parameter) = (request.opCode, request.parameter)
        switch opCode {
        case 0x01: return .reset
        case 0x04:
            // A level may have one byte in the request, and has two in the status: since 1.0.1, Table 4.26.
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
    /// Reads an op code; the parameter takes up all bytes that are left.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        opCode = try reader.read()
        parameter = reader.readRemaining()
    }

    /// Appends an op code and the parameter.
    public func encode(into writer: inout ByteWriter) {
        writer.write([opCode] + parameter)
    }
}
